package convert

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/tally"
)

// A writer makes cells of the records of a group and region, and counts them.
type writer struct {
	*run
	ctx  context.Context
	g    *group
	name string // of the files, without an ending
	file manifest.File

	seg    *segment.Writer // nil before the first cell
	rows   *segment.RowEncoder
	teller layout.Teller
	count  tally.Counter
	days   *days

	row []byte
	did segment.Counts // of the row
	rec behaviour.Record

	whose  dayKey // of the cells that came last
	before tally.Tally
}

// writeRegion writes the files of a region, if it has records.
func (r *run) writeRegion(ctx context.Context, g *group, region int, s *shuffle.Sorter) (*writer, error) {
	it, err := s.Part(ctx, region)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	info := r.to.Info()
	w := &writer{
		run: r, ctx: ctx, g: g, name: r.to.FileName(g.load, region), days: newDays(r.m.Schema),
		rows: segment.NewRowEncoder(ctx, r.new.Encoder(r.m.Schema, info.Family), r.rowSpill(r.to.FileName(g.load, region))), teller: r.new.Teller(r.m.Schema),
	}
	defer w.abort()
	at := r.progress.Worker("writing")
	defer at.End()
	at.At("%s", w.name)
	if err := w.gather(it); err != nil {
		return nil, fmt.Errorf("write %s: %w", w.name, err)
	}
	if w.seg != nil {
		at.At("%s: completing it and reading it back", w.name)
		err = w.finish()
	}
	return w, err
}

// gather takes the records row by row.
func (w *writer) gather(it *shuffle.Iterator) error {
	half := w.progress.Share(w.g.size-w.g.size/2, w.g.records)
	records := w.progress.Counter("records")
	n := int64(0)
	for ; it.Next(); n++ {
		if n&0xfff == 0 && w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		if !bytes.Equal(it.Row(), w.row) {
			if err := w.endRow(); err != nil {
				return err
			}
			half.UpTo(n)
			w.row = append(w.row[:0], it.Row()...)
		}
		if err := w.add(it); err != nil {
			return err
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	half.UpTo(n)
	records.Add(n)
	return w.endRow()
}

// add takes the record at hand.
func (w *writer) add(it *shuffle.Iterator) error {
	if err := w.rec.Unpack(w.rows.Keep(it.Payload())); err != nil {
		return err
	}
	r := &w.rec
	r.ID = int64(it.Seq())
	load, err := w.loadOf(r.ID, r.Date, r.Kind)
	if err != nil {
		return err
	}
	w.days.at(dayKey{load, r.Date, r.Kind}).Records++
	w.file.Records++
	w.did.Add(r.Date, r.Kind)
	return w.rows.Add(w.row, r)
}

// loadOf is the load that brought a record.
func (w *writer) loadOf(id int64, date behaviour.Date, kind int) (int, error) {
	if !w.g.merged {
		return w.g.load, nil
	}
	load, ok := w.origins.Load(id, date, w.m.Schema.Kinds[kind].Name)
	if !ok {
		return 0, fmt.Errorf("row %.64q: %w: no ledger tells of its record with the column ID %d", w.row, ErrDamaged, id)
	}
	return load, nil
}

// endRow writes the cells of the row whose records are together.
func (w *writer) endRow() error {
	if len(w.did.List()) == 0 {
		return nil
	}
	if w.seg == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	if err := w.rows.End(w.row, w.cell); err != nil {
		return err
	}
	w.endCells()
	if err := w.seg.RollAll(w.row, &w.did); err != nil {
		return err
	}
	w.did.Reset()
	return nil
}

func (w *writer) begin() (err error) {
	w.seg, err = segment.New(w.ctx, w.to, segment.Config{
		Name: w.name, Layout: w.new, Schema: w.m.Schema, Span: w.g.span,
		Spill: w.rollSpill(w.name),
	})
	return err
}

// cell writes a cell, and notes whose it is.
func (w *writer) cell(c *cell.Cell) error {
	told, ok := w.teller.Tell(c)
	if !ok {
		return fmt.Errorf("row %.64q, column %.64q: the layout %s does not know what it wrote", c.Row, c.Qualifier, w.new.Name())
	}
	load, err := w.loadOf(told.ID, told.Date, told.Kind)
	if err != nil {
		return err
	}
	if k := (dayKey{load, told.Date, told.Kind}); k != w.whose {
		w.endCells()
		w.whose = k
	}
	w.count.Add(c)
	return w.seg.Add(c)
}

// endCells adds up the cells that came of one load, date and behaviour.
func (w *writer) endCells() {
	added := w.count.Since(w.before)
	w.before = w.count.Tally
	if added.Cells > 0 {
		w.days.at(w.whose).Tally.Add(added)
	}
}

// finish completes the files.
func (w *writer) finish() error {
	f, err := w.seg.Finish(w.count.Tally)
	if err != nil {
		return err
	}
	f.Records, f.Span = w.file.Records, w.days.span()
	f.Loads = w.days.numbers()
	f.Load = slices.Max(f.Loads)
	if len(f.Loads) == 1 {
		f.Loads = nil
	}
	w.file = f
	return nil
}

// abort throws away what is not finished, and what rows have spilled. What it cannot
// remove is swept with what else was begun.
func (w *writer) abort() {
	_ = w.rows.Close()
	if w.seg != nil {
		w.seg.Abort()
	}
}
