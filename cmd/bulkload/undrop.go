package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/run/quantity"
)

func newUndrop(env *cli.Env) *cobra.Command {
	o := &keeping{options: options{env: env}}
	c := &cobra.Command{
		Use:   "undrop",
		Short: "Restore the days that were dropped last",
		Long: `Undrop reverts the last drop of a table of files in one step. Undrop needs the replaced files, which
exist for the --keep-for of the drop. Later loads are kept. If later loads skipped records of
the dropped days, run these loads again to load the records. Earlier drops are not reverted.

Undrop holds the table's lock, so no load runs at the same time.

Status 64 means that the drop can no longer be undone: load the days from their logs into a new table.
Status 99 means that no days were dropped.`,
		Example: `  bulkload undrop --table ./trails
  bulkload undrop --job usertrail.yaml`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := o.undrop(c.Context())
			return o.env.Report(r, err)
		},
	}
	env.Reports(c, undropResult{})
	o.add(c)
	cli.Unlist(c.Flags(), "verbose") // earlier releases listed it
	return c
}

// An undropResult is the last line of undrop.
type undropResult struct {
	Date string `json:"before,omitempty"` // of the drop
	upkeep.Undropped
}

func (o *keeping) undrop(ctx context.Context) (undropResult, error) {
	cfg, err := o.config(ctx, "expired events cannot be restored there")
	if err != nil {
		return undropResult{}, err
	}
	defer cfg.Store.Close()
	var out undropResult
	if out.Undropped, err = upkeep.Undrop(ctx, cfg); err != nil {
		return out, err
	}
	out.Date = out.Before.String()
	what := quantity.Of(out.Behaviours, "record") + " of " + quantity.Of(out.Days, "day")
	if out.Behaviours == 0 {
		what = "no record, because the drop removed none,"
	}
	fmt.Fprintf(o.env.Stdout, "restored    %s before %s in %s; if a load since the drop skipped records of these days, run it again\n",
		what, out.Before, cfg.Store.Address())
	return out, nil
}
