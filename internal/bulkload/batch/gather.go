package batch

import (
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/column"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
)

// A gatherer collects the sorted records of one region. It drops duplicates and the records of files
// that are not loaded.
type gatherer struct {
	*gathered
	kinds  []behaviour.Kind // of the table
	texts  texts
	region int
	rows   *segment.Collector
	at     *progress.Worker
	order  func(*shuffle.Iterator) records
	there  *present
	fits   func(days int) error // returns an error if so many days of behaviours do not fit into memory
}

// gathered has the counts of one region. It outlives the gatherer, and keeps none of its buffers.
type gathered struct {
	inputs   []*Input
	tallies  *segment.Tallies
	loaded   []int64 // records by input
	repeated []int64
}

// newGatherer returns a gatherer that passes the cells of a region's rows to a sink. at shows its progress.
func (b *Batch) newGatherer(ctx context.Context, region int, to segment.Sink, at *progress.Worker) *gatherer {
	t, events := b.cfg.To, &lookup{ctx: ctx, to: b.cfg.To, most: b.cfg.UserMemory()}
	rows := segment.NewCollector(ctx, to, segment.CollectorConfig{
		Layout: t.Layout, Schema: t.Schema, Family: t.Info().Family, Region: region, Load: b.owner.Number(),
		Spill: shuffle.Config{
			FS: b.cfg.FS, Dir: dfs.Join(b.cfg.Temp, fmt.Sprintf("rows-%05d", region)), Memory: b.cfg.RowMemory(),
		},
	})
	return &gatherer{
		gathered: &gathered{inputs: b.inputs, tallies: rows.Tallies(), loaded: make([]int64, len(b.inputs)), repeated: make([]int64, len(b.inputs))},
		kinds:    t.Schema.Kinds, texts: b.cfg.Job.Format.Texts(), region: region, rows: rows, at: at,
		order: b.orderOf(events), fits: b.fitsDays, there: &present{layout: t.Layout, events: events, unknown: b.cfg.Unledgered, ids: map[dayKey]map[int64]bool{}},
	}
}

// gather collects all records of the region.
func (g *gatherer) gather(ctx context.Context, from *shuffle.Iterator) error {
	it := g.order(from)
	var r behaviour.Record
	for n := 0; it.Next(); n++ {
		if n&0xfff == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := g.fits(g.tallies.Len()); err != nil {
				return err
			}
			g.at.At("region %d, from its record %d on", g.region, n)
		}
		if err := g.rows.Row(it.Row()); err != nil {
			return err
		}
		if err := g.take(ctx, it, &r); err != nil {
			return err
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	return g.rows.End()
}

// take adds the current record of it to the row, unless the record is not loaded.
func (g *gatherer) take(ctx context.Context, it records, r *behaviour.Record) error {
	index, about, err := unpack(g.rows.Keep(it.Payload()), r)
	if err != nil {
		return err
	}
	in := g.inputs[index]
	if in.dropped() {
		g.rows.Forget()
		return nil
	}
	r.ID = int64(it.Seq())
	repeats := it.Repeats() || in.brought(r.ID, r.Date, g.kinds[r.Kind].Name, g.texts.of(about.text), about.marks)
	if in.corrected != nil {
		if repeats, err = g.repeatsReplayed(ctx, it, in, r, repeats); err != nil {
			return err
		}
	}
	if repeats {
		g.repeated[index]++
		g.rows.Forget()
		return nil
	}
	g.loaded[index]++
	return g.rows.Add(r)
}

// repeatsReplayed reports whether a corrected record is a duplicate. repeats means that it repeats
// another record.
func (g *gatherer) repeatsReplayed(ctx context.Context, it records, in *Input, r *behaviour.Record, repeats bool) (bool, error) {
	if !repeats {
		there, err := g.there.has(ctx, in.corrected, it.Row(), r)
		if err != nil {
			return false, err
		}
		if there {
			_, offset := column.Place(r.ID)
			in.brings(offset)
			return true, nil
		}
	}
	in.replayed(r.ID)
	return repeats, nil
}

// close removes the spilled rows.
func (g *gatherer) close() { _ = g.rows.Close() } // the load sweeps files that could not be removed

// settle adds the region's tallies to all, and its counts to the inputs. The caller must not use g again.
func (g *gathered) settle(all *segment.Tallies) {
	all.Merge(g.tallies)
	for i, in := range g.inputs {
		in.counts.Loaded += g.loaded[i]
		in.counts.Duplicate += g.repeated[i]
	}
}
