package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/command"
	"usertrail/internal/upkeep"
)

func newUndrop(env *command.Env) *cobra.Command {
	o := &keeping{options: options{env: env}}
	c := &cobra.Command{
		Use:   "undrop",
		Short: "Bring the days back that were dropped last",
		Long: `Undrop undoes the last drop of a table of files, all at once, as long as the files stay that the drop
replaced: for its --keep-for. Loads that came meanwhile stay. Records that they skipped, because their
days were dropped, come when the same loads run again. An earlier drop stays as it was.

It holds the table's lock, so no load runs meanwhile.

Status 64 says that the drop cannot be undone any more: load the days from their logs into a new table.
Status 99 says that no days were dropped.`,
		Example: `  bulkload undrop --table ./trails
  bulkload undrop --job usertrail.yaml`,
		Args: command.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := o.undrop(c.Context())
			return o.env.Report(r, err)
		},
	}
	env.Reports(c, undropResult{})
	o.add(c)
	return c
}

// An undropResult is the last line of undrop.
type undropResult struct {
	Date string `json:"before,omitempty"` // of the drop
	upkeep.Undropped
}

func (o *keeping) undrop(ctx context.Context) (undropResult, error) {
	cfg, err := o.config(ctx, "behaviours that have expired there are gone")
	if err != nil {
		return undropResult{}, err
	}
	defer cfg.Store.Close()
	var out undropResult
	if out.Undropped, err = upkeep.Undrop(ctx, cfg); err != nil {
		return out, err
	}
	out.Date = out.Before.String()
	fmt.Fprintf(o.env.Stdout, "brought back %s behaviours of %d days before %s into %s; run the loads again that skipped records\n",
		humanize.Comma(out.Behaviours), out.Days, out.Before, cfg.Store.Address())
	return out, nil
}
