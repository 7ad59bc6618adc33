package verify

import (
	"context"
	"iter"
	"sync"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/cell"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// readRegions counts the table's cells, region by region.
func (r *run) readRegions(ctx context.Context) error {
	regions, err := r.table.Regions(ctx)
	if err != nil {
		return err
	}
	r.progress.Step("verifying", "regions", int64(len(regions)))
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.cfg.Workers)
	for _, region := range regions {
		g.Go(func() error {
			c := r.newCount()
			q := table.Query{Ranges: only(region), Span: r.span, Hints: table.Hints{Bounds: region, Once: true}}
			err := r.table.Read(ctx, q, func(x *cell.Cell) error {
				c.add(x)
				return nil
			})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			r.found.merge(c)
			r.progress.Add(1)
			return nil
		})
	}
	return g.Wait()
}

// readHidden counts the cells that deletes hide, if a day has fewer cells than were loaded.
func (r *run) readHidden(ctx context.Context) error {
	t, ok := table.As[table.Hiding](r.table)
	if r.hidden = r.newCount(); !ok || !r.fewer() {
		return nil
	}
	regions, err := r.table.Regions(ctx)
	if err != nil {
		return err
	}
	r.progress.Step("looking for deletes", "regions", int64(len(regions)))
	for _, region := range regions {
		err := t.Hidden(ctx, region, func(x *cell.Cell) error {
			r.hidden.add(x)
			return nil
		})
		if err != nil {
			return err
		}
		r.progress.Add(1)
	}
	r.hidden.end()
	return nil
}

// fewer reports whether a day has fewer cells than were loaded.
func (r *run) fewer() bool {
	for k, e := range r.expected {
		if r.found.days[k].Cells < e.cells.Cells {
			return true
		}
	}
	return false
}

// only yields one region.
func only(region split.Region) iter.Seq[split.Region] {
	return func(yield func(split.Region) bool) { yield(region) }
}
