package main

import (
	"context"
	"fmt"
	"io"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/reread"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/run/quantity"
	"usertrail/internal/table"
)

// rereadUsage describes --reread.
const rereadUsage = "load no record, but read loaded files again, and add the values of fields that they were loaded without to their records"

// rereads reads the loaded files of a span again.
func (o *options) rereads(ctx context.Context, cfg load.Config, span behaviour.Span) error {
	remove, err := o.private(&cfg.Temp, cfg.Store.Address(), cfg.Log)
	if err != nil {
		return o.env.Report(bulkload.Result{}, err)
	}
	defer remove()
	r, err := reread.Run(ctx, reread.Config{Resources: cfg.Resources, Job: cfg.Job, Span: span, Types: cfg.Types, KeepFor: upkeep.DefaultKeepFor})
	o.env.Outcome("reread of "+span.String()+" into "+cfg.Store.Address(), err)
	printReread(o.env.Stdout, cfg.Store, r)
	return o.env.Report(r, err)
}

// alone returns an error if --reread is combined with a flag that is only for loads.
func (o *options) alone() error {
	for _, other := range []struct {
		name string
		set  bool
	}{{"--dry-run", o.dryRun}, {"--each-day", o.each}, {"--wait", o.patience.asked}, {"--settle", o.patience.settles}, {"--mode", o.mode != ""}} {
		if other.set {
			return fmt.Errorf("%w: --reread cannot be combined with %s: leave one of them out", cli.ErrUsage, other.name)
		}
	}
	return nil
}

// printReread prints the result of a reread.
func printReread(w io.Writer, store table.Store, r bulkload.Result) {
	printFailed(w, r.Failed)
	n := r.Reread
	if n == nil {
		return
	}
	if r.Files > 0 {
		fmt.Fprintf(w, "read again  %s of %s; %s of %s got values\n", quantity.Of(r.Read, "record"), quantity.Of(r.Files, "file"), quantity.Of(n.Records, "record"), store.Address())
	}
	for _, other := range []struct {
		records int64
		why     string
	}{
		{n.WithoutValue, "without a value of the fields"}, {n.HadValues, "with values that the table had"}, {n.NotThere, "that the table does not have"},
		{n.Replayed, "that a replay added"}, {n.Bad, "with errors"}, {n.Missed, "of the table that the job does not read"},
	} {
		if other.records > 0 {
			fmt.Fprintf(w, "unchanged   %s %s\n", quantity.Of(other.records, "record"), other.why)
		}
	}
	what := quantity.Of(r.Cells, "new cell")
	if r.Cells == 0 && n.Records > 0 { // the layout has one cell for all fields of a record
		what = "the cells of " + quantity.Of(n.Records, "record") + " again"
	}
	switch {
	case r.Files == 0:
	case r.Mode == bulkload.Put:
		fmt.Fprintf(w, "put         %s\n", what)
	default:
		fmt.Fprintf(w, "written     %s in %s\n", what, quantity.Of(r.HFiles, "HFile"))
	}
}
