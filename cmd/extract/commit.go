package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"usertrail/cmd/internal/command"
	"usertrail/internal/extract"
	"usertrail/internal/job"
)

// newCommit is the command that makes an answer of pieces.
func newCommit(env *command.Env) *cobra.Command {
	o := &options{env: env}
	var from string
	c := &cobra.Command{
		Use:   "commit",
		Short: "Make the answer of the pieces of an extract",
		Long: `Commit takes all lines that extract plan printed, and makes the directory of their --out, all at once,
of what the pieces wrote. Status 75 says that some have not been done yet, or that what one wrote was
damaged since, and which. Killed, it goes on when it is called again; what is committed already is 99. It does not ask the table: the answer is that of
the table as it was planned, of which each piece has made sure.`,
		Example: `  extract commit --pieces pieces
  extract commit <pieces`,
		Args: command.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.commit(c.Context(), from) },
	}
	env.Reports(c, commitResult{})
	c.Flags().StringVar(&from, "pieces", "", "file with the lines that plan printed (default standard input)")
	c.Flags().BoolVar(&o.flags.Quiet, "quiet", false, "no progress")
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
	fs := command.Files()
	in, name := o.env.Stdin, "standard input"
	if from != "" {
		f, err := fs.Open(ctx, from)
		if err != nil {
			return r, fmt.Errorf("%w: --pieces: %w", job.ErrNoInput, err)
		}
		defer f.Close()
		in, name = io.Reader(f), from
	}
	pieces, err := readPieces(in, name)
	if err != nil {
		return r, err
	}
	first := &pieces[0]
	r.Plan, r.Pieces = first.Plan, first.Of
	command.AboutTable(ctx, fs, first.Table, cmp.Or(first.Catalog, first.Table))
	if r.Result, err = extract.Commit(ctx, fs, pieces); err != nil {
		return r, err
	}
	r.Notes = append(r.Notes, (&output{partition: first.Question.PartitionBy}).notes(r.Result)...)
	for _, note := range r.Notes {
		fmt.Fprintln(o.env.Stderr, "extract:", note)
	}
	return r, nil
}
