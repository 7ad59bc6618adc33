package bulkload

import (
	"bytes"
	"context"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/layout"
	"usertrail/internal/progress"
	"usertrail/internal/shuffle"
	"usertrail/internal/tally"
)

// A gathered is what becomes of one region's sorted records: they are brought
// together row by row, without those of files that are not to be loaded and those
// that repeat, and counted.
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
	enc    layout.Encoder
	row    []byte
	packed []byte           // the row's records, which enc refers to
	first  behaviour.Record // of the row
	inRow  int64
}

// A rowSink takes the cells of rows, in order.
type rowSink interface {
	cell(c *cell.Cell) error
	// endRow says that a row's cells have come, of how many records, and which the
	// first was.
	endRow(row []byte, first *behaviour.Record, records int64) error
}

func (b *batch) newGathered(ctx context.Context, region int) *gathered {
	return &gathered{
		batch: b, region: region, loaded: make([]int64, len(b.inputs)), repeated: make([]int64, len(b.inputs)), days: newDays(),
		unique: newUnique(ctx, b), enc: b.layout.Encoder(b.schema, b.target.Info().Family),
	}
}

// gather gives row after row to a sink.
func (g *gathered) gather(ctx context.Context, it *shuffle.Iterator, to rowSink) error {
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
			g.packed = g.packed[:0]
		}
		at := len(g.packed)
		g.packed = append(g.packed, it.Payload()...)
		in, err := unpack(g.packed[at:], &r)
		if err != nil {
			return err
		}
		if g.inputs[in].dropped() {
			continue
		}
		r.ID = int64(it.Seq())
		repeats, err := g.unique.repeats(g.row, &r)
		if err != nil {
			return err
		}
		if repeats {
			g.repeated[in]++
			continue
		}
		if g.inRow == 0 {
			g.first = behaviour.Record{Kind: r.Kind, Date: r.Date}
		}
		g.loaded[in]++
		g.inRow++
		g.enc.Add(&r)
	}
	if err := it.Err(); err != nil {
		return err
	}
	return g.endRow(to)
}

// endRow gives the cells of the row whose records are together.
func (g *gathered) endRow(to rowSink) error {
	if g.inRow == 0 {
		return nil
	}
	before := g.count.Tally
	err := g.enc.Cells(g.row, func(c *cell.Cell) error {
		g.count.Add(c)
		return to.cell(c)
	})
	if err != nil {
		return err
	}
	g.days.row(g.region, g.first.Date, g.first.Kind, g.inRow, before, g.count.Tally)
	g.records += g.inRow
	err = to.endRow(g.row, &g.first, g.inRow)
	g.inRow = 0
	return err
}

// settle adds what came to what has come of the batch.
func (g *gathered) settle(all *days) {
	all.add(g.days)
	for i, in := range g.inputs {
		in.counts.Loaded += g.loaded[i]
		in.counts.Duplicate += g.repeated[i]
	}
}
