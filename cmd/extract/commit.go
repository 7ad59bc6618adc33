package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/extract"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/format/job"
)

// newCommit returns the command that publishes the result of pieces.
func newCommit(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	var from string
	c := &cobra.Command{
		Use:   "commit",
		Short: "Publish the result of finished pieces",
		Long: `Commit reads all lines that extract plan printed, and publishes the output of their pieces as the
directory of their --out in one step. If the plan had --append, it adds the output to the result there.
If it is killed, the same command continues. Commit does not read the table: each piece has checked that
the table was as planned.

Status 75 means that pieces are not finished, or that the output of a piece is damaged, and names them.
Status 99 means that the plan was committed before.`,
		Example: `  extract commit --pieces pieces
  extract commit <pieces`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.commit(c.Context(), from) },
	}
	env.Reports(c, commitResult{})
	c.Flags().StringVar(&from, "pieces", "", "file with the lines that plan printed (default standard input)")
	c.Flags().BoolVar(&o.flags.Quiet, "quiet", false, "do not report progress")
	return c
}

// A commitResult is the last line of commit.
type commitResult struct {
	Plan   string `json:"plan"`
	Pieces int    `json:"pieces"`
	extract.Result
}

func (o *options) commit(ctx context.Context, from string) error {
	r, err := o.publish(ctx, from)
	if err == nil {
		fmt.Fprintln(o.env.Stdout, summary(r.Result))
	}
	return o.env.Report(r, err)
}

func (o *options) publish(ctx context.Context, from string) (r commitResult, err error) {
	fs := cli.Files()
	in, name := o.env.Stdin, "standard input"
	if from != "" {
		f, err := fs.Open(ctx, from)
		if err != nil {
			return r, fmt.Errorf("%w: --pieces: %w", job.ErrNoInput, err)
		}
		defer f.Close()
		in, name = io.Reader(f), from
	}
	lines, err := readPieces(in, name)
	if err != nil {
		return r, err
	}
	first := &lines[0]
	r.Plan, r.Pieces = first.Plan, first.Of
	cli.AboutTable(ctx, fs, first.Table, cmp.Or(first.Catalog, first.Table))
	if r.Result, err = pieces.Commit(ctx, fs, lines); err != nil {
		return r, err
	}
	r.Notes = append(r.Notes, (&output{partition: first.Query.PartitionBy}).notes(r.Result, first.Append)...)
	say(o.env, r.Notes)
	return r, nil
}
