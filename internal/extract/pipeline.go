package extract

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/extract/judge"
	"usertrail/internal/extract/output"
	"usertrail/internal/extract/place"
	"usertrail/internal/run/progress"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
)

// Write writes the parts of some pieces that out does not have yet, and returns the counts of the
// users in their ranges. whole reports whether the pieces are all of the result. All data is of the
// state with which the table was opened.
func (x *Extract) Write(ctx context.Context, out output.Sink, pieces []split.Region, whole bool) (judge.Counts, error) {
	regions, err := table.UserRegions(ctx, x.Table)
	if err != nil {
		return judge.Counts{}, err
	}
	parts := make(chan *output.Part)
	cutter := output.NewCutter(x.Query, x.Sizes, x.Found, parts)
	var after []byte // key of the last user of an earlier run
	done := out.All()
	for i := range done {
		after = done[i].Last
		if err := cutter.Resume(&done[i]); err != nil {
			return judge.Counts{}, fmt.Errorf("%s: %w", place.DoneName(done[i].Number), err)
		}
	}
	if err := CheckForeign(x.Strict, cutter.Counts().Foreign); err != nil {
		return judge.Counts{}, err
	}
	p := progress.Start(x.Progress)
	defer p.Done()
	p.Step("reading trails", progress.Events, 0)
	var settled judge.Counts
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(parts)
		users := judge.Candidates{Query: x.Query, Table: x.Table, Memory: x.Shares, Found: x.Found, Census: &x.Census, Sizes: &x.sizes}
		begin := func() (fetch.Work[*judge.Batch], error) { return x.readers.Begin(p.Worker("reading")) }
		take := func(b *judge.Batch) error { return x.take(gctx, cutter, b, p) }
		if err := fetch.Each(gctx, users.Batches(gctx, pieces, regions, after, &settled), x.Shares.Workers, begin, take); err != nil {
			return err
		}
		return cutter.Finish(gctx, whole)
	})
	x.startWriters(gctx, g, out, parts, p)
	if err := g.Wait(); err != nil {
		return judge.Counts{}, err
	}
	if err := table.SameState(ctx, x.Table); err != nil {
		return judge.Counts{}, err
	}
	settled.Add(cutter.Counts())
	return settled, nil
}

// take passes a batch to the cutter.
func (x *Extract) take(ctx context.Context, cutter *output.Cutter, b *judge.Batch, p *progress.Progress) error {
	if err := cutter.Take(ctx, b); err != nil {
		return err
	}
	x.sizes.Add(b)
	p.Add(int64(b.Events))
	return CheckForeign(x.Strict, cutter.Counts().Foreign)
}

// startWriters starts the goroutines that write parts to out.
func (x *Extract) startWriters(ctx context.Context, g *errgroup.Group, out output.Sink, parts <-chan *output.Part, p *progress.Progress) {
	switch to := out.(type) {
	case *output.Stream:
		at := func() *progress.Worker { return p.Worker("writing") }
		g.Go(func() error { return to.WriteParts(ctx, x.Sizes, parts, x.Shares.Workers, at) })
		return
	case *place.Staging:
		if x.Query.Output.Partition == "" {
			break
		}
		cfg := &output.Partitions{Query: x.Query, Sink: to, Number: len(to.All()), FS: to.FS, Dir: to.SortDir(), Memory: x.Shares, Sizes: x.Sizes}
		g.Go(func() error { return output.Partition(ctx, cfg, parts, p.Worker("writing")) })
		return
	}
	for range x.Shares.Workers {
		g.Go(func() error { return output.Write(ctx, x.Query, x.Sizes, out, parts, p.Worker("writing")) })
	}
}
