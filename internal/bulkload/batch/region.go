package batch

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/bulkload/target"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table/segment"
)

// write writes the files of all regions, several at the same time, and adds their contents to all.
func (b *Batch) write(ctx context.Context, regions int, all *segment.Tallies) ([]manifest.File, error) {
	written := make([]manifest.File, regions)
	var settling sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(b.cfg.Writers())
	for r := range regions {
		g.Go(func() error {
			counts, f, err := b.writeRegion(ctx, r)
			if err != nil {
				return err
			}
			settling.Lock()
			defer settling.Unlock()
			counts.settle(all)
			written[r] = f
			return b.fitsDays(all.Len())
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var files []manifest.File
	for _, f := range written {
		if f.Records > 0 {
			files = append(files, f)
		}
	}
	return files, nil
}

// spansOfDay is the number of spans of days in a ledger that take the memory of a day of a behaviour.
const spansOfDay = 8

// fitsDays returns an error if the days of the behaviours in the batch, and the days of its files, do not fit into memory. Puts go on:
// HBase has some of them already.
func (b *Batch) fitsDays(days int) error {
	if b.puts() {
		return nil
	}
	return b.cfg.FitDays(days+b.spans/spansOfDay, len(b.inputs))
}

// writeRegion writes one region's records, if the region has any, and reads them back. The file has no
// records if there is none.
func (b *Batch) writeRegion(ctx context.Context, region int) (*gathered, manifest.File, error) {
	it, err := b.sorter.Part(ctx, b.part(region))
	if err != nil {
		return nil, manifest.File{}, err
	}
	defer it.Close()
	w := target.NewSegment(ctx, b.cfg.To.Stager, &b.cfg.Resources, b.owner.FileName(region), b.dates)
	defer w.Abort()
	at := b.progress.Worker("writing")
	defer at.End()
	g := b.newGatherer(ctx, region, w, at)
	defer g.close()
	if err := g.gather(ctx, it); err != nil {
		return nil, manifest.File{}, fmt.Errorf("write region %d: %w", region, err)
	}
	if g.rows.Records() > 0 {
		at.At("region %d: completing its files and reading them back", region)
	}
	f, err := g.rows.Finish(w)
	return g.gathered, f, err
}
