package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/quantity"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/runlog"
)

// A rebuiltResult is the last line of rebuild.
type rebuiltResult struct {
	Loads   int   `json:"loads"`
	Files   int   `json:"files"`
	Records int64 `json:"records"`

	Base   string `json:"base,omitempty"`     // it was made again
	GaveUp bool   `json:"given_up,omitempty"` // the replaced files were given up
}

// Counted implements outcome.Result.
func (r rebuiltResult) Counted() outcome.Counts {
	return outcome.Counts{outcome.Files: float64(r.Files), outcome.Records: float64(r.Records)}
}

func newRebuild(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	withDropped := false
	c := &cobra.Command{
		Use:   "rebuild",
		Short: "Rewrite the lost manifest of a table",
		Long: `Rebuild writes manifest.json again if it is missing, damaged, or older than the newest ledger. Each
ledger lists the files of its load. The folder base lists the files that compact or drop made of
them. Every HFile and roll must exist and have the recorded size. If a file is missing, rebuild names
it, writes no manifest and ends with status 1. The same holds if retired.json names a drop that neither
the ledgers nor base have: put the newest file of base back, or run rebuild --with-dropped to restore
the dropped days. If the manifest does not have the newest drop or undrop of the run log, rebuild warns; with
--with-dropped it does not, and neither do later commands.

If the manifest is correct, rebuild repairs two other files. It writes the copy in the folder base again if
that is damaged. If retired.json is missing, damaged or not the newest, rebuild gives up the files that
compact or drop replaced: the next load, compact or drop removes them, and undrop cannot restore them.
If the manifest and retired.json are damaged, rebuild writes the manifest, names retired.json and ends
with status 1: put a copy of retired.json back, or type rebuild again. If two of the three files have the
same number and different drops, one of them is of another copy of the table: rebuild changes nothing
and ends with status 1. If an HFile or roll is missing, rebuild names it after the repair and ends with
status 1.

Rebuild reads no HFile; run bulkload verify after it, which does. Ledgers of older releases do not list
the files of their loads. The first load, compact or drop by this release records them in base.

Rebuild needs no job file if --table names a table that knows its catalog. It holds the table's lock,
so no load runs at the same time. Status 99 means that these files are correct.`,
		Example: `  bulkload rebuild --table ./trails && bulkload verify --table ./trails
  bulkload rebuild --job usertrail.yaml`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := o.rebuild(c.Context(), withDropped)
			return env.Report(r, err)
		},
	}
	env.Reports(c, rebuiltResult{})
	o.flags.AddTable(c)
	c.Flags().BoolVar(&withDropped, "with-dropped", false, "ignore a drop that only retired.json or the run log has: its days are in the table again")
	return c
}

func (o *options) rebuild(ctx context.Context, withDropped bool) (r rebuiltResult, err error) {
	fs := cli.Files()
	store, _, err := o.flags.Store(ctx, fs)
	if err != nil {
		return r, err
	}
	defer store.Close()
	defer func() {
		if (err == nil || errors.Is(err, bulkload.ErrNothing)) && !withDropped {
			o.warnOfRuns(ctx, fs, store.Catalog())
		}
	}()
	m, err := catalog.Rebuild(ctx, fs, store.Catalog(), withDropped)
	if errors.Is(err, catalog.ErrWhole) {
		return o.mend(ctx, fs, store)
	}
	if m == nil {
		return r, err
	}
	r.Loads, r.Files = len(m.Loads), len(m.Files)
	for _, l := range m.Loads {
		r.Records += l.Records
	}
	fmt.Fprintf(o.env.Stdout, "rebuilt     the manifest of %s: %s, %s, %s; check them with bulkload verify\n",
		store.Address(), quantity.Of(r.Loads, "load"), quantity.Of(r.Files, "file"), quantity.Of(r.Records, "record"))
	return r, err
}

// warnOfRuns warns if the manifest lacks the newest drop or undrop of the run log. It is a help: an error of the run log does not
// matter. It reads the run log first, so that the manifest has every run that has ended.
func (o *options) warnOfRuns(ctx context.Context, fs dfs.FS, dir string) {
	runs, err := runlog.Rewrites(ctx, fs, dir)
	if err != nil {
		return
	}
	m, err := catalog.ReadTable(ctx, fs, dir)
	if err != nil {
		return
	}
	if lost := runlog.Lost(runs, m.Rewritten); lost != nil {
		o.flags.Log(o.env).Warn("the manifest does not have the newest drop or undrop of the run log: dropped days may be in the table again, and restored days may be absent: look at bulkload runs, and type this drop or undrop again; or, if the table is right, type bulkload rebuild --with-dropped",
			"run", strings.Join(lost.Args, " "), "ended", lost.End.At.UTC().Format(time.RFC3339))
	}
}

// mend repairs the other files of a catalog whose manifest is intact.
func (o *options) mend(ctx context.Context, fs dfs.FS, store table.Store) (r rebuiltResult, err error) {
	done, err := catalog.Mend(ctx, fs, store.Catalog())
	if err == nil && done == (catalog.Mended{}) {
		return r, fmt.Errorf("%w: the manifest of %s names all ledgers: check the table with bulkload verify", bulkload.ErrNothing, store.Address())
	}
	r.Base, r.GaveUp = done.Base, done.Retired
	if done.Base != "" {
		fmt.Fprintf(o.env.Stdout, "rebuilt     %s of %s\n", done.Base, store.Address())
	}
	if done.Retired {
		fmt.Fprintf(o.env.Stdout, "given up    the replaced files of %s without an entry in retired.json: the next load, compact or drop removes them, and bulkload undrop cannot restore them\n", store.Address())
	}
	return r, err
}
