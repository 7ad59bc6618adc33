package main

import (
	"context"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/command"
	"usertrail/internal/behaviour"
	"usertrail/internal/upkeep"
)

func newDrop(env *command.Env) *cobra.Command {
	o := &keeping{options: options{env: env}}
	c := &cobra.Command{
		Use:   "drop --before DATE",
		Short: "Remove the days before a date",
		Long: `Drop removes the days before --before from a table of files, all at once: files of nothing else go,
those that hold later days too are written anew without them, and so are rolls. It does not ask;
--dry-run says what would go. That every day goes must be said by --all. The ledgers stay. The table remembers the date: records of earlier days
that a later load reads are skipped, so no day is there by half.

It holds the table's lock, so no load runs meanwhile. Extracts may run: files that were replaced stay
for --keep-for, and the first load, compact or drop after that removes them. Until then
"bulkload undrop" brings the days back.

In HBase behaviours go by their age: "table: {ttl: 400d}" in the job of create-table.

Status 99 says that these days were dropped before.`,
		Example: `  bulkload drop --before 2013-09-01 --table ./trails --dry-run
  bulkload drop --before 2013-09-01 --table hdfs://nn:8020/trails`,
		Args: command.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := o.drop(c.Context())
			return o.env.Report(r, err)
		},
	}
	env.Reports(c, dropResult{})
	o.add(c)
	c.Flags().StringVar(&o.before, "before", "", "the first date that stays, YYYY-MM-DD")
	c.Flags().BoolVar(&o.all, "all", false, "also if every day of the table goes")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "say what would go, and change nothing")
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
		return out, fmt.Errorf("%w: --before is missing: write --before YYYY-MM-DD, the first date that stays", command.ErrUsage)
	}
	before, err := behaviour.ParseDate(o.before)
	if err != nil {
		return out, fmt.Errorf("%w: --before: %w", command.ErrUsage, err)
	}
	cfg, err := o.config(ctx, `behaviours go there by their age: create-table takes "table: {ttl: 400d}" of the job, and alter in HBase's shell sets TTL of a table that is there`)
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
	fmt.Fprintf(w, "%-11s %s behaviours in %s rows of %d days before %s, of %s\n",
		verb, humanize.Comma(d.Behaviours), humanize.Comma(d.Rows), d.Days, d.Before, address)
	fmt.Fprintf(w, "%-11s %d go, %d are written anew; %s less\n", "files", d.Files, d.Rewritten, humanize.IBytes(uint64(max(d.Bytes, 0))))
}
