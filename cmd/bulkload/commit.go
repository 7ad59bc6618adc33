package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

func newCommit(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	var from string
	c := &cobra.Command{
		Use:   "commit",
		Short: "Add the finished pieces of a load to the table",
		Long: `Commit reads all lines that bulkload plan printed, and adds the output of their pieces to the table in
one step. If it is killed, the same command continues.

Status 75 says that pieces are not done yet, or that the output of a piece is damaged, and names them.
Status 64 says that the plan is out of date because another load has loaded one of its files: run
plan again. Status 99 says that the plan was committed before.`,
		Example: `  bulkload commit --pieces pieces
  bulkload commit <pieces`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.commit(c.Context(), from) },
	}
	env.Reports(c, commitResult{})
	c.Flags().StringVar(&from, "pieces", "", "file with the lines that plan printed (default standard input)")
	c.Flags().BoolVar(&o.flags.Quiet, "quiet", false, "do not report progress")
	c.Flags().BoolVar(&o.flags.Verbose, "verbose", false, "log more details")
	o.flags.Waits.Add(c)
	return c
}

// A commitResult is the last line of commit.
type commitResult struct {
	Plan   string `json:"plan,omitempty"`
	Pieces int    `json:"pieces"`
	bulkload.Result
}

func (o *options) commit(ctx context.Context, from string) error {
	var r commitResult
	err := o.publish(ctx, from, &r)
	return o.env.Report(r, err)
}

func (o *options) publish(ctx context.Context, from string, r *commitResult) error {
	cfg := load.Config{FS: cli.Files(), Log: o.flags.Log(o.env), Progress: o.flags.Progress(o.env)}
	lines, err := o.planned(ctx, cfg, from)
	if err != nil {
		return err
	}
	first := &lines[0]
	r.Plan, r.Pieces = first.Plan, first.Of
	o.flags.Bounds.Log = cfg.Log
	if cfg.Store, err = o.storeOf(ctx, cfg.FS, first); err != nil {
		return err
	}
	defer cfg.Store.Close()
	pieces, err := load.WholePlan(ctx, cfg.FS, cfg.Store, lines)
	if err != nil {
		return err
	}
	if j, err := pieces[0].ParseJob(); err == nil {
		cli.About(ctx, cfg.FS, cfg.Store, j)
	}
	r.Result, err = load.Commit(ctx, cfg, pieces)
	printResult(o.env.Stdout, cfg, r.Result)
	return err
}

// storeOf returns the store of the table that a line names.
func (o *options) storeOf(ctx context.Context, fs dfs.FS, l *load.Line) (table.Store, error) {
	j, err := l.Job()
	if err != nil {
		return nil, err
	}
	return cli.Store(ctx, fs, l.Table, j, o.flags.Waits)
}

// planned returns the lines of a file, or of standard input.
func (o *options) planned(ctx context.Context, cfg load.Config, name string) ([]load.Line, error) {
	var in io.Reader = o.env.Stdin
	what := "standard input"
	if name != "" {
		f, err := cfg.FS.Open(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("%w: --pieces: %w", job.ErrNoInput, err)
		}
		defer f.Close()
		in, what = f, name
	}
	return readLines(in, what)
}
