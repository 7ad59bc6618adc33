package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/format/job"
	"usertrail/internal/run/piece"
	"usertrail/internal/run/progress"
	"usertrail/internal/run/quantity"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
)

// newRunPiece returns the command that runs pieces.
func newRunPiece(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	var line string
	c := &cobra.Command{
		Use:   "run-piece",
		Short: "Run one piece of a planned extract",
		Long: `Run-piece runs pieces that extract plan printed: the piece of --piece, or the pieces on standard input,
one per line. A line may start with the offset and the tab that Hadoop's NLineInputFormat adds. The
line has everything that run-piece needs.

For a piece that is finished, run-piece does nothing and ends with 0. If another worker runs the piece,
run-piece waits for it, up to --retry-for. After a kill, a piece continues after its last complete
part.

Status 64 means that the table has changed since the plan, or while it was read: run plan again.
Status 75 means that a load was still being added to the table after --retry-for.`,
		Example: `  extract run-piece <pieces
  extract run-piece --piece "$(sed -n 3p pieces)" --memory 4GiB --workers 4`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.runPieces(c.Context(), line) },
	}
	env.Reports(c, pieces.Result{})
	f := c.Flags()
	f.StringVar(&line, "piece", "", "line of the piece (default the lines on standard input)")
	o.flags.AddMemory(c, memory.Least)
	f.IntVar(&o.flags.Workers, "workers", 1, "number of concurrent workers")
	o.flags.AddQuiet(c)
	f.BoolVar(&o.flags.Verbose, "verbose", false, "log when HBase becomes busy or is no longer busy")
	o.flags.Waits.Add(c)
	return c
}

func (o *options) runPieces(ctx context.Context, line string) error {
	r, err := o.eachPiece(ctx, line)
	if err == nil {
		count(o.env.Stderr, r)
	}
	return o.env.Report(r, err)
}

// count reports the counts to Hadoop if the process is a task of Hadoop.
func count(stderr io.Writer, r pieces.Result) {
	for name, n := range map[string]int64{
		"found": r.Found, "active": r.Active, "kept": r.Kept, "events": r.Events, "files": int64(r.Files), "bytes": r.Bytes,
	} {
		progress.Count(stderr, name, n)
	}
}

func (o *options) eachPiece(ctx context.Context, line string) (sum pieces.Result, err error) {
	debug.SetGCPercent(gcPercent)
	in, name := o.env.Stdin, "standard input"
	if line != "" {
		in, name = strings.NewReader(line), "--piece"
	}
	lines, err := readPieces(in, name)
	if err != nil {
		return sum, err
	}
	o.flags.Bounds.Log = o.flags.Log(o.env)
	w := pieces.Worker{FS: cli.Files(), Workers: o.flags.Workers, Patience: o.flags.RetryFor, Progress: o.flags.Progress(o.env)}
	w.Open = func(ctx context.Context, p *pieces.Piece) (table.Table, func() error, error) {
		return o.openFor(ctx, &w, p)
	}
	if w.Memory, err = o.flags.Limits(memory.Least); err != nil {
		return sum, err
	}
	for i := range lines {
		r, err := pieces.Run(ctx, w, &lines[i])
		if err != nil {
			return sum, err
		}
		o.printPiece(&lines[i], r)
		sum.Add(r)
	}
	return sum, nil
}

// readPieces reads the lines that plan printed. There must be at least one. Connections have the protection that the
// lines demand.
func readPieces(in io.Reader, name string) ([]pieces.Piece, error) {
	var all []pieces.Piece
	err := piece.Each(in, name, pieces.Name, piece.Version, func(_ piece.Header, line []byte) error {
		var p pieces.Piece
		if err := piece.Decode(line, &p); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := cli.Demand(p.Protection); err != nil {
			return fmt.Errorf("%s: %w: %w", name, piece.ErrPiece, err)
		}
		all = append(all, p)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%w: %s is empty: pass the lines that extract plan printed", cli.ErrUsage, name)
	}
	return all, err
}

func (o *options) printPiece(p *pieces.Piece, r pieces.Result) {
	if r.Already {
		fmt.Fprintf(o.env.Stdout, "piece %-5d of %d was done before\n", p.Piece, p.Of)
		return
	}
	fmt.Fprintf(o.env.Stdout, "piece %-5d of %d: found %s, active %s, kept %s: %s in %s\n", p.Piece, p.Of,
		quantity.Of(r.Found, "user"), humanize.Comma(r.Active), humanize.Comma(r.Kept), quantity.Of(r.Events, "event"), quantity.Of(r.Files, "file"))
}

// openFor opens the table of a piece. The function closes it.
func (o *options) openFor(ctx context.Context, w *pieces.Worker, p *pieces.Piece) (_ table.Table, _ func() error, err error) {
	var ends []func() error
	end := func() error {
		var errs []error
		for _, f := range slices.Backward(ends) {
			errs = append(errs, f())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, end())
		}
	}()
	tableJob := &job.Job{Schema: p.Schema, Layout: p.Layout, Table: job.Table{Catalog: p.Catalog, Family: p.Family, Root: p.Root, Others: p.Others}}
	store, err := cli.Store(ctx, w.FS, p.Table, tableJob, o.flags.Waits)
	if err != nil {
		return nil, nil, err
	}
	ends = append(ends, store.Close)
	if p.Schema == nil {
		tableJob = nil // the table has the schema
	}
	loader, err := openAt(ctx, store, tableJob, p.Snapshot)
	if err != nil {
		return nil, nil, err
	}
	ends = append(ends, loader.Close)
	t := table.Table(loader)
	if l, ok := store.(*live.Store); ok && p.Snapshot != "" {
		if t, err = l.Snapshot(ctx, loader, p.Snapshot); err != nil {
			return nil, nil, err
		}
		ends = append(ends, t.Close)
	}
	if p.Unrolled {
		t = table.Unrolled(t)
	}
	return t, end, nil
}
