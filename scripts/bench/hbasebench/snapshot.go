package main

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/table"
	"usertrail/internal/table/snapshot"
)

// readSnapshot reads a snapshot: all its columns, or the columns with the given prefixes. It
// reads as many regions at once as the machine has cores.
func readSnapshot(ctx context.Context, root, name, of string, prefixes [][]byte) (d digest, err error) {
	files := dfs.NewMux(map[string]dfs.FS{hdfs.Scheme: hdfs.New(hdfs.Config{})})
	t, err := snapshot.Open(ctx, snapshot.Config{
		FS: files, Root: root, Name: name, Table: of, Info: table.Info{Family: string(family), Layout: layout.Reversed{}}, Now: time.Now(),
	})
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	regions, err := t.Regions(ctx)
	if err != nil {
		return d, err
	}
	digests := make([]digest, len(regions))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, r := range regions {
		g.Go(func() error {
			var one digest // of its own, so that cores share no cache line
			err := t.Read(ctx, table.Query{Ranges: only(r), Span: ever, Columns: layout.Columns{Prefixes: prefixes}, Hints: table.Hints{Bounds: r}}, one.take)
			digests[i] = one
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return d, err
	}
	for _, one := range digests {
		d.cells += one.cells
		d.sum += one.sum
	}
	return d, nil
}

// ever holds every date that a row can have.
var ever = behaviour.AllDays

func only(r split.Region) iter.Seq[split.Region] { return slices.Values([]split.Region{r}) }
