package bulkload

import (
	"bytes"
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/tally"
)

// A gathered collects one region's sorted records row by row, and counts them. It drops
// duplicates and the records of files that are not to be loaded.
type gathered struct {
	*batch
	region   int
	loaded   []int64 // by input
	repeated []int64
	records  int64
	days     *days
	count    tally.Counter
	at       *progress.Worker

	unique *unique
	there  *present
	rows   *segment.RowEncoder
	teller layout.Teller // nil where a row is of one day and behaviour
	row    []byte
	did    segment.Counts // of the row
	whose  dayKey         // of the cells that came last
	before tally.Tally
}

// A rowSink takes the cells of rows, in order.
type rowSink interface {
	cell(c *cell.Cell) error
	// endRow ends a row after its cells. did counts the records of the row.
	endRow(row []byte, did *segment.Counts) error
}

func (b *batch) newGathered(ctx context.Context, region int) *gathered {
	g := &gathered{
		batch: b, region: region, loaded: make([]int64, len(b.inputs)), repeated: make([]int64, len(b.inputs)), days: newDays(),
		unique: newUnique(ctx, b), there: newPresent(ctx, b),
	}
	g.rows = segment.NewRowEncoder(ctx, b.layout.Encoder(b.schema, b.target.Info().Family), shuffle.Config{
		FS: b.cfg.FS, Dir: dfs.Join(b.cfg.Temp, fmt.Sprintf("rows-%05d", region)), Memory: b.cfg.rowMemory(),
	})
	if !b.layout.Traits().Told {
		g.teller = b.layout.Teller(b.schema)
	}
	return g
}

// gather passes the rows to a sink, in order.
func (g *gathered) gather(ctx context.Context, from *shuffle.Iterator, to rowSink) error {
	it := g.sorted(from)
	var r behaviour.Record
	for n := 0; it.Next(); n++ {
		if n&0xfff == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			g.at.At("region %d, from its record %d on", g.region, n)
		}
		if !bytes.Equal(it.Row(), g.row) {
			if err := g.endRow(to); err != nil {
				return err
			}
			g.row = append(g.row[:0], it.Row()...)
		}
		if err := g.take(it, &r); err != nil {
			return err
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	return g.endRow(to)
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
	g.records++
	g.did.Add(r.Date, r.Kind)
	return g.rows.Add(g.row, r)
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

// endRow passes the cells of the collected row to the sink.
func (g *gathered) endRow(to rowSink) error {
	did := g.did.List()
	if len(did) == 0 {
		return nil
	}
	g.whose = dayKey{did[0].Date, did[0].Kind}
	err := g.rows.End(g.row, func(c *cell.Cell) error {
		if g.teller != nil {
			if err := g.tell(c); err != nil {
				return err
			}
		}
		g.count.Add(c)
		return to.cell(c)
	})
	if err != nil {
		return err
	}
	g.endCells()
	for _, c := range did {
		g.days.at(dayKey{c.Date, c.Kind}).Records += c.Records
	}
	err = to.endRow(g.row, &g.did)
	g.did.Reset()
	return err
}

// tell notes the day and behaviour of the next cell.
func (g *gathered) tell(c *cell.Cell) error {
	told, ok := g.teller.Tell(c)
	if !ok {
		return fmt.Errorf("row %.64q, column %.64q: the layout %s does not know what it wrote", c.Row, c.Qualifier, g.layout.Name())
	}
	if day := (dayKey{told.Date, told.Kind}); day != g.whose {
		g.endCells()
		g.whose = day
	}
	return nil
}

// endCells adds the cells since the previous call to the tallies of their day and behaviour, and
// of the region.
func (g *gathered) endCells() {
	added := g.count.Since(g.before)
	g.before = g.count.Tally
	g.days.at(g.whose).Tally.Add(added)
	g.days.addRegion(g.region, added)
}

// close removes the spilled rows.
func (g *gathered) close() { _ = g.rows.Close() } // the runs are swept with what else was begun

// settle adds the region's tallies to all, and its counts to the inputs of the batch.
func (g *gathered) settle(all *days) {
	all.add(g.days)
	for i, in := range g.inputs {
		in.counts.Loaded += g.loaded[i]
		in.counts.Duplicate += g.repeated[i]
	}
}
