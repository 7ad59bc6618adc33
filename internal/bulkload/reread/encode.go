package reread

import (
	"context"
	"errors"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/table/segment"
	"usertrail/internal/tally"
)

// An encoder makes the cells of the records of a place that get values. In a layout.Widening these are the cells of the values. In
// other layouts these are all cells of the records, with the values. A cell with the key of a cell of the table replaces it, and the
// tallies count the difference.
type encoder struct {
	layout  layout.Layout
	load    int
	region  int
	teller  layout.Teller // nil if all cells of a row are of the same day
	records *segment.RowEncoder
	old     *segment.RowEncoder // of the records without the values; nil for a layout.Widening
	tallies *segment.Tallies

	some    bool // the row has records
	day     segment.Day
	added   tally.Counter
	removed tally.Counter // the cells that are replaced

	rec    behaviour.Record // its values are not kept
	kept   behaviour.Record
	packed []byte
}

func (x *reread) newEncoder(ctx context.Context, p *place) *encoder {
	e := &encoder{layout: x.to.Layout, load: x.to.NextLoad(), region: p.region, tallies: segment.NewTallies()}
	family := x.to.Info().Family
	if x.widens != nil {
		e.records = segment.NewRowEncoder(ctx, x.widens.FieldEncoder(x.to.Schema, family), x.spill(p, "values"))
	} else {
		spill, old := x.spill(p, "values"), x.spill(p, "old")
		spill.Memory, old.Memory = spill.Memory/2, old.Memory/2
		e.records = segment.NewRowEncoder(ctx, x.to.Layout.Encoder(x.to.Schema, family), spill)
		e.old = segment.NewRowEncoder(ctx, x.to.Layout.Encoder(x.to.Schema, family), old)
	}
	if !x.to.Layout.Traits().DayRows {
		e.teller = x.to.Layout.Teller(x.to.Schema)
	}
	return e
}

// add adds a record of the table to the row, and the values that it gets. It keeps neither.
func (e *encoder) add(row []byte, r, values *behaviour.Record) error {
	e.some, e.day = true, segment.Day{Load: e.load, Date: r.Date, Kind: r.Kind}
	if e.old == nil {
		return e.keep(e.records, row, values)
	}
	e.rec = behaviour.Record{Kind: r.Kind, Time: r.Time, Date: r.Date, ID: r.ID, Values: append(e.rec.Values[:0], r.Values...)}
	for i, v := range values.Values {
		if v != nil { // after a killed reread the table may have it
			e.rec.Values[i] = nil
		}
	}
	if err := e.keep(e.old, row, &e.rec); err != nil {
		return err
	}
	for i, v := range values.Values {
		if v != nil {
			e.rec.Values[i] = v
		}
	}
	return e.keep(e.records, row, &e.rec)
}

// keep adds a copy of r to the row of an encoder.
func (e *encoder) keep(to *segment.RowEncoder, row []byte, r *behaviour.Record) error {
	e.packed = behaviour.AppendPacked(e.packed[:0], r)
	e.kept.ID = r.ID
	if err := e.kept.Unpack(to.Keep(e.packed)); err != nil {
		return err
	}
	return to.Add(row, &e.kept)
}

// end ends the row. It calls emit for its cells, in order.
func (e *encoder) end(row []byte, emit func(*cell.Cell) error) error {
	if !e.some {
		return nil
	}
	e.some = false
	if e.old != nil {
		if err := e.old.End(row, e.remove); err != nil {
			return err
		}
	}
	return e.records.End(row, func(c *cell.Cell) error {
		before := e.added.Tally
		e.added.Add(c)
		if err := e.count(c, e.added.Since(before)); err != nil {
			return err
		}
		return emit(c)
	})
}

// remove subtracts a cell that is replaced.
func (e *encoder) remove(c *cell.Cell) error {
	before := e.removed.Tally
	e.removed.Add(c)
	return e.count(c, before.Since(e.removed.Tally))
}

// count adds the difference that a cell makes to the tallies of its day.
func (e *encoder) count(c *cell.Cell, change tally.Tally) error {
	if e.teller != nil {
		rec, err := layout.TellOwn(e.layout, e.teller, c)
		if err != nil {
			return err
		}
		e.day.Date, e.day.Kind = rec.Date, rec.Kind
	}
	e.tallies.Add(e.day, 0, change)
	e.tallies.AddRegion(e.load, e.region, change)
	return nil
}

// close removes spilled cells. A later load sweeps those that remain.
func (e *encoder) close() error {
	if e.old == nil {
		return e.records.Close()
	}
	return errors.Join(e.records.Close(), e.old.Close())
}
