package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/run/progress"
	"usertrail/internal/run/quantity"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
)

func newRunPiece(env *cli.Env) *cobra.Command {
	o := &options{env: env}
	var piece string
	c := &cobra.Command{
		Use:   "run-piece",
		Short: "Run one piece of a planned load",
		Long: `Run-piece runs pieces that bulkload plan printed: the piece of --piece, or the pieces on standard input,
one per line. A line may start with the offset and the tab that Hadoop's NLineInputFormat adds. The
piece names the plan's folder, which has everything else that run-piece needs.

For a piece that is finished, run-piece does nothing and ends with 0. If another worker runs the piece,
run-piece waits for it, up to --retry-for. A file with too many bad records does not fail its piece:
bulkload commit reports it.

Status 64 means that the line is not a piece, or that its plan is out of date: run plan again. Status
75 means that another worker still ran the piece after --retry-for, or that a server cannot be reached.`,
		Example: `  bulkload run-piece <pieces
  bulkload run-piece --piece "$(sed -n 3p pieces)" --memory 4GiB --workers 4`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.runPieces(c.Context(), piece) },
	}
	env.Reports(c, piecesResult{})
	f := c.Flags()
	f.StringVar(&piece, "piece", "", "line of the piece (default the lines on standard input)")
	o.flags.AddMemory(c, bulkload.MinMemory)
	f.IntVar(&o.flags.Workers, "workers", 1, "number of concurrent workers")
	f.StringVar(&o.temp, "temp", "", "local directory for sorted runs, and for files until they are uploaded to HDFS (default $TMPDIR)")
	o.flags.AddQuiet(c)
	f.BoolVar(&o.flags.Verbose, "verbose", false, "log each loaded batch")
	o.flags.Waits.Add(c)
	return c
}

// A piecesResult is the last line of run-piece: the sum of all pieces, and the number of the
// last piece.
type piecesResult struct {
	pieces.Result
	Pieces int `json:"pieces"` // that are done
}

func (r *piecesResult) add(p pieces.Result) {
	sum := r.Result
	r.Result = p
	r.Counts.Add(sum.Counts)
	r.Unmapped.Merge(&sum.Unmapped)
	r.Cells += sum.Cells
	r.Files += sum.Files
	r.Bytes += sum.Bytes
	r.HFiles += sum.HFiles
	r.Held.Add(sum.Held)
	r.Failed = append(sum.Failed, p.Failed...)
	r.Already = p.Already && (r.Pieces == 0 || sum.Already)
}

// count reports the counts to Hadoop if the process is a task of Hadoop.
func (r *piecesResult) count(stderr io.Writer) {
	for name, n := range map[string]int64{
		"read": r.Read, "loaded": r.Loaded, "quarantined": r.Quarantined, "duplicate": r.Duplicate, "skipped": r.Skipped, "cells": r.Cells,
	} {
		progress.Count(stderr, name, n)
	}
}

func (o *options) runPieces(ctx context.Context, line string) error {
	var sum piecesResult
	err := o.eachPiece(ctx, line, &sum)
	if err == nil {
		sum.count(o.env.Stderr)
	}
	return o.env.Report(sum, err)
}

// noTable is the address for tempFor if sorted runs are not written into the table. The
// worker of a piece does not hold the table's lock.
const noTable = live.Scheme + "://"

func (o *options) eachPiece(ctx context.Context, line string, sum *piecesResult) error {
	lines, err := o.given(line)
	if err != nil {
		return err
	}
	with := o.resources()
	if with.Memory, err = o.flags.Limits(bulkload.MinMemory); err != nil {
		return err
	}
	if with.Temp, err = o.tempFor(noTable); err != nil {
		return err
	}
	remove, err := o.private(&with.Temp, noTable, with.Log)
	if err != nil {
		return err
	}
	defer remove()
	for i := range lines {
		r, err := o.runPiece(ctx, with, &lines[i])
		sum.add(r)
		if err != nil {
			return err
		}
		sum.Pieces++
	}
	return nil
}

// given returns the pieces of --piece, or else of standard input.
func (o *options) given(line string) ([]pieces.Line, error) {
	in, what := o.env.Stdin, "standard input"
	if line != "" {
		in, what = strings.NewReader(line), "--piece"
	}
	return readLines(in, what)
}

func readLines(in io.Reader, what string) ([]pieces.Line, error) {
	lines, err := pieces.ReadLines(in, what)
	if err == nil && len(lines) == 0 {
		err = fmt.Errorf("%w: %s is empty: pass the lines that bulkload plan printed", cli.ErrUsage, what)
	}
	return lines, err
}

func (o *options) runPiece(ctx context.Context, with bulkload.Resources, l *pieces.Line) (pieces.Result, error) {
	nothing := pieces.Result{Plan: l.Plan, Piece: l.Piece}
	o.flags.Bounds.Log = with.Log
	var err error
	if with.Store, err = o.storeOf(ctx, with.FS, l); err != nil {
		return nothing, err
	}
	defer with.Store.Close()
	all, err := pieces.Open(ctx, with.FS, with.Store, []pieces.Line{*l})
	if err != nil {
		return nothing, err
	}
	p := &all[0]
	r, err := pieces.Run(ctx, with, p, o.flags.Waits.RetryFor)
	r.Held = table.StoreHeld(with.Store)
	if err == nil {
		o.printPiece(p, r)
	}
	return r, err
}

func (o *options) printPiece(p *pieces.Piece, r pieces.Result) {
	if r.Already {
		fmt.Fprintf(o.env.Stdout, "piece %-5d of %d was done before\n", p.Piece, p.Of)
		return
	}
	from := quantity.Of(r.Files, "file")
	switch in := &p.Inputs[0]; {
	case in.Cuts != nil:
		from = fmt.Sprintf("%s, of which it computes the digests", in.Path)
	case in.Range != nil:
		from = fmt.Sprintf("%s, bytes %d to %d", in.Path, in.Range.From, in.Range.To)
	}
	fmt.Fprintf(o.env.Stdout, "piece %-5d of %d: %s of %s from %s, %s\n",
		p.Piece, p.Of, humanize.Comma(r.Loaded), quantity.Of(r.Read, "record"), from, quantity.Of(r.Cells, "cell"))
	for _, f := range r.Failed {
		fmt.Fprintf(o.env.Stdout, "not loaded  %s\n", f.Error)
	}
}
