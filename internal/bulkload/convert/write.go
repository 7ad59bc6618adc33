package convert

import (
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
)

// A writer writes the records of a group and region in the new layout.
type writer struct {
	*run
	ctx  context.Context
	g    *group
	name string // file name without its ending
	rows *segment.Collector
	rec  behaviour.Record
}

// written is what is in the files of one region. It outlives the writer, and keeps none of its buffers.
type written struct {
	file    manifest.File
	tallies *segment.Tallies
}

// writeRegion writes the files of a region, if the region has records.
func (r *run) writeRegion(ctx context.Context, g *group, region int, s *shuffle.Sorter) (*written, error) {
	it, err := s.Part(ctx, region)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	w := &writer{run: r, ctx: ctx, g: g, name: r.to.FileName(g.load, region)}
	out := segment.New(ctx, r.to, segment.Config{
		Name: w.name, Layout: r.new, Schema: r.m.Schema, Span: g.span, Spill: r.rollSpill(w.name),
	})
	defer out.Abort()
	w.rows = w.collector(out, region)
	defer w.rows.Close() // the conversion removes leftover files
	at := r.progress.Worker("writing")
	defer at.End()
	at.At("%s", w.name)
	if err := w.gather(it); err != nil {
		return nil, fmt.Errorf("write %s: %w", w.name, err)
	}
	if w.rows.Records() > 0 {
		at.At("%s: completing it and reading it back", w.name)
	}
	file, err := w.rows.Finish(out)
	return &written{file, w.rows.Tallies()}, err
}

// collector returns the Collector of the region.
func (w *writer) collector(to segment.Sink, region int) *segment.Collector {
	cfg := segment.CollectorConfig{
		Layout: w.new, Schema: w.m.Schema, Family: w.to.Info().Family, Region: region, Load: w.g.load, Spill: w.rowSpill(w.name),
	}
	if w.g.merged {
		cfg.Origin = w.loadOf
	}
	return segment.NewCollector(w.ctx, to, cfg)
}

// gather collects all records of the region.
func (w *writer) gather(it *shuffle.Iterator) error {
	half := w.progress.Share(w.g.size-w.g.size/2, w.g.records)
	records := w.progress.Counter("records")
	n := int64(0)
	for ; it.Next(); n++ {
		if n&0xfff == 0 {
			if w.ctx.Err() != nil {
				return context.Cause(w.ctx)
			}
			half.UpTo(n)
		}
		if err := w.rows.Row(it.Row()); err != nil {
			return err
		}
		if err := w.rec.Unpack(w.rows.Keep(it.Payload())); err != nil {
			return err
		}
		w.rec.ID = int64(it.Seq())
		if err := w.rows.Add(&w.rec); err != nil {
			return err
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	half.UpTo(n)
	records.Add(n)
	return w.rows.End()
}

// loadOf returns the number of the load that added a record.
func (w *writer) loadOf(id int64, date behaviour.Date, kind int) (int, error) {
	load, ok := w.origins.Load(id, date, w.m.Schema.Kinds[kind].Name)
	if !ok {
		return 0, fmt.Errorf("%w: no ledger lists the record with the column ID %d", ErrDamaged, id)
	}
	return load, nil
}
