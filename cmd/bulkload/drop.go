package main

import (
	"context"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/run/quantity"
)

func newDrop(env *cli.Env) *cobra.Command {
	o := &keeping{options: options{env: env}}
	c := &cobra.Command{
		Use:   "drop --before DATE",
		Short: "Remove the days before a date from a table of files",
		Long: `Drop removes the days before --before from a table of files in one step. It removes files that have
only such days, and rewrites files that also have later days, with their rolls. It does not ask for
confirmation; --dry-run prints what would be removed. To remove every day of the table, --all is
required. The ledgers are kept. The table records the date, and later loads skip records of earlier
days, so no day is present in part.

Drop holds the table's lock, so no load runs at the same time. Extracts can run: replaced files are
kept for --keep-for, and the first load, compact or drop after that removes them. Until then
"bulkload undrop" restores the days.

In HBase, events expire by age instead: set "table: {ttl: 400d}" in the job of create-table.

Status 99 means that these days were dropped before.`,
		Example: `  bulkload drop --before 2013-09-01 --table ./trails --dry-run
  bulkload drop --before 2013-09-01 --table hdfs://nn:8020/trails`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := o.drop(c.Context())
			return o.env.Report(r, err)
		},
	}
	env.Reports(c, dropResult{})
	o.add(c)
	cli.Unlist(c.Flags(), "verbose") // earlier releases listed it
	c.Flags().StringVar(&o.before, "before", "", "first date to keep, YYYY-MM-DD")
	c.Flags().BoolVar(&o.all, "all", false, "allow the removal of every day of the table")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "print what would be removed, and change nothing")
	return c
}

// A dropResult is the last line of drop.
type dropResult struct {
	Date string `json:"before"`
	upkeep.Dropped
}

func (o *keeping) drop(ctx context.Context) (dropResult, error) {
	out := dropResult{Date: o.before}
	if o.before == "" {
		return out, fmt.Errorf("%w: --before is missing: write --before YYYY-MM-DD, the first date that stays", cli.ErrUsage)
	}
	before, err := behaviour.ParseDate(o.before)
	if err != nil {
		return out, fmt.Errorf("%w: --before: %w", cli.ErrUsage, err)
	}
	cfg, err := o.config(ctx, `events expire there by age: set "table: {ttl: 400d}" in the job of create-table, or change the TTL of a table with alter in HBase's shell`)
	if err != nil {
		return out, err
	}
	defer cfg.Store.Close()
	cfg.All = o.all
	do, verb := upkeep.Drop, "dropped"
	if o.dryRun {
		do, verb = upkeep.WouldDrop, "would drop"
	}
	out.Dropped, err = do(ctx, cfg, before)
	if err == nil {
		printDropped(o.env.Stdout, out.Dropped, verb, cfg.Store.Address())
	}
	return out, err
}

func printDropped(w io.Writer, d upkeep.Dropped, verb, address string) {
	if d.Rows == 0 && d.Files+d.Rewritten == 0 {
		fmt.Fprintf(w, "%-11s no record: %s has none before %s; later loads skip records of these days\n", verb, address, d.Before)
		return
	}
	fmt.Fprintf(w, "%-11s %s in %s of %s before %s, of %s\n",
		verb, quantity.Of(d.Behaviours, "record"), quantity.Of(d.Rows, "row"), quantity.Of(d.Days, "day"), d.Before, address)
	fmt.Fprintf(w, "%-11s %d removed, %d rewritten; %s less\n", "files", d.Files, d.Rewritten, humanize.IBytes(uint64(max(d.Bytes, 0))))
}
