package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/format/job"
	"usertrail/internal/run/piece"
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

Status 75 means that pieces are not finished, or that the output of a piece is damaged, and names them.
Status 64 means that the plan is out of date because another load has loaded one of its files: run
plan again. Status 99 means that the plan was committed before.`,
		Example: `  bulkload commit --pieces pieces
  bulkload commit <pieces`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.commit(c.Context(), from) },
	}
	env.Reports(c, commitResult{})
	c.Flags().StringVar(&from, "pieces", "", "file with the lines that plan printed (default standard input)")
	c.Flags().BoolVar(&o.flags.Quiet, "quiet", false, "do not report progress")
	c.Flags().BoolVar(&o.flags.Verbose, "verbose", false, "log when HBase becomes busy or is no longer busy")
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
	with := o.resources()
	lines, err := o.planned(ctx, with.FS, from)
	if err != nil {
		return err
	}
	first := &lines[0]
	r.Plan, r.Pieces = first.Plan, first.Of
	o.flags.Bounds.Log = with.Log
	if with.Store, err = o.storeOf(ctx, with.FS, first); err != nil {
		return err
	}
	defer with.Store.Close()
	all, err := pieces.OpenAll(ctx, with.FS, with.Store, lines)
	if err != nil {
		return err
	}
	if j, err := all[0].ParseJob(); err == nil {
		cli.About(ctx, with.FS, with.Store, j)
	}
	r.Result, err = pieces.Commit(ctx, with, all)
	printResult(o.env.Stdout, with.Store, r.Result)
	return err
}

// storeOf returns the store of the table that a line names. Connections have the protection that the line demands.
func (o *options) storeOf(ctx context.Context, fs dfs.FS, l *pieces.Line) (table.Store, error) {
	j, err := l.Job()
	if err != nil {
		return nil, err
	}
	if err := cli.Demand(j.Kerberos.Protection); err != nil {
		return nil, fmt.Errorf("%w: %w", piece.ErrPiece, err)
	}
	return cli.Store(ctx, fs, l.Table, j, o.flags.Waits)
}

// planned returns the lines of a file, or of standard input.
func (o *options) planned(ctx context.Context, fs dfs.FS, name string) ([]pieces.Line, error) {
	var in io.Reader = o.env.Stdin
	what := "standard input"
	if name != "" {
		f, err := fs.Open(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("%w: --pieces: %w", job.ErrNoInput, err)
		}
		defer f.Close()
		in, what = f, name
	}
	return readLines(in, what)
}
