package load

import (
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
)

// A gathered collects one region's sorted records. It drops duplicates and the records of files
// that are not to be loaded.
type gathered struct {
	*batch
	region   int
	loaded   []int64 // by input
	repeated []int64
	rows     *segment.Collector
	at       *progress.Worker

	unique *unique
	there  *present
}

// newGathered returns a gathered that passes the cells of a region's rows to a sink.
func (b *batch) newGathered(ctx context.Context, region int, to segment.Sink) *gathered {
	return &gathered{
		batch: b, region: region, loaded: make([]int64, len(b.inputs)), repeated: make([]int64, len(b.inputs)),
		rows: segment.NewCollector(ctx, to, segment.CollectorConfig{
			Layout: b.layout, Schema: b.schema, Family: b.target.Info().Family, Region: region, Load: b.number(),
			Spill: shuffle.Config{
				FS: b.cfg.FS, Dir: dfs.Join(b.cfg.Temp, fmt.Sprintf("rows-%05d", region)), Memory: b.cfg.rowMemory(),
			},
		}),
		unique: newUnique(ctx, b), there: newPresent(ctx, b),
	}
}

// gather collects all records of the region.
func (g *gathered) gather(ctx context.Context, from *shuffle.Iterator) error {
	it := g.sorted(from)
	var r behaviour.Record
	for n := 0; it.Next(); n++ {
		if n&0xfff == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			g.at.At("region %d, from its record %d on", g.region, n)
		}
		if err := g.rows.Row(it.Row()); err != nil {
			return err
		}
		if err := g.take(it, &r); err != nil {
			return err
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	return g.rows.End()
}

// take adds the iterator's current record to the row, unless the record is not to be loaded.
func (g *gathered) take(it sorted, r *behaviour.Record) error {
	in, err := unpack(g.rows.Keep(it.Payload()), r)
	if err != nil {
		return err
	}
	if g.inputs[in].dropped() {
		g.rows.Forget()
		return nil
	}
	r.ID = int64(it.Seq())
	repeats, err := g.repeats(it, g.inputs[in], r)
	if err != nil {
		return err
	}
	if repeats {
		g.repeated[in]++
		g.rows.Forget()
		return nil
	}
	g.loaded[in]++
	return g.rows.Add(r)
}

// repeats reports whether the iterator's current record is a duplicate.
func (g *gathered) repeats(it sorted, in *input, r *behaviour.Record) (bool, error) {
	repeats := it.Repeats() || g.copied(in, r.Date, r.Kind)
	if in.replay == nil {
		return repeats, nil
	}
	if !repeats {
		there, err := g.there.has(in, it.Row(), r)
		if there || err != nil {
			return there, err
		}
	}
	in.replayedOne(r.ID)
	return repeats, nil
}

// close removes the spilled rows.
func (g *gathered) close() { _ = g.rows.Close() } // the load sweeps files that could not be removed

// settle adds the region's tallies to all, and its counts to the inputs of the batch.
func (g *gathered) settle(all *segment.Tallies) {
	all.Merge(g.rows.Tallies())
	for i, in := range g.inputs {
		in.counts.Loaded += g.loaded[i]
		in.counts.Duplicate += g.repeated[i]
	}
}
