package reread

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/progress"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/tally"
)

// A sink takes the new cells of a place, in order.
type sink interface {
	add(c *cell.Cell) error
	// finish returns the entry of the new HFile, or an empty entry if there is none. replaced are the cells of the table that have the
	// keys of new cells.
	finish(replaced tally.Tally) (manifest.File, error)
	// close removes what is not finished.
	close() error
}

// recordCopies is about the number of copies of a record that a join holds: in the sorter, the encoders, and the blocks of the old
// and the new HFile.
const recordCopies = 12

// join joins the records and the values of all places that are read, several at the same time. sinkOf returns the sink of a
// place. doing names the work in the progress report.
func (x *reread) join(ctx context.Context, doing string, sinkOf func(ctx context.Context, p *place) sink) ([]*adder, error) {
	var size int64
	var done []*adder
	for _, p := range x.places {
		if p.reads {
			size += p.file.Size
			done = append(done, x.newAdder(p))
		}
	}
	x.progress.Step(doing, progress.Bytes, size)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(x.cfg.Fitting(recordCopies * x.largest.Load()))
	for _, a := range done {
		g.Go(func() error {
			a.out = sinkOf(ctx, a.place)
			if err := a.run(ctx); err != nil {
				return fmt.Errorf("add values to %s: %w", a.place, table.Corrupt(err))
			}
			x.progress.Add(a.place.file.Size)
			return nil
		})
	}
	return done, g.Wait()
}

// settle adds the counts of a join to the inputs. It fails the inputs whose records the table does not have, and leaves out fields without a value.
func (x *reread) settle(done []*adder) {
	for _, a := range done {
		for in, n := range a.counts {
			x.inputs[in].counts.join(n)
		}
	}
	for _, in := range x.inputs {
		if err := in.unmatched(); err != nil {
			in.Fail(err)
		}
	}
	x.leaveOut()
}

// An adder joins the records and the values of one place.
type adder struct {
	*reread
	place   *place
	enc     *encoder
	out     sink
	counts  map[int]*joined // by input
	tallies *segment.Tallies
	made    manifest.File // without a name if no cell was added

	row    []byte
	record item   // of the table, the last one; its column ID is -1 before the first record of the row
	packed []byte // record
	met    bool   // the file has the record
	values item
}

func (x *reread) newAdder(p *place) *adder {
	a := &adder{reread: x, place: p, counts: map[int]*joined{}}
	a.record.ID = -1
	return a
}

func (a *adder) run(ctx context.Context) (err error) {
	defer a.release()
	at := a.progress.Worker("writing")
	defer at.End()
	at.At("%s", a.place)
	it, err := a.sorter.Part(ctx, a.place.part)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	a.enc = a.newEncoder(ctx, a.place)
	a.tallies = a.enc.tallies
	defer a.enc.close()
	defer func() { err = errors.Join(err, a.out.close()) }()
	for n := 0; it.Next(); n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := a.take(it); err != nil {
			return err
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	if err := a.endRow(); err != nil {
		return err
	}
	a.made, err = a.out.finish(a.enc.removed.Tally)
	return err
}

// release drops everything that is not needed after run: a table may have thousands of places.
func (a *adder) release() {
	a.enc, a.out, a.row, a.packed, a.record, a.values = nil, nil, nil, nil, item{}, item{}
}

// take takes the current item of it.
func (a *adder) take(it *shuffle.Iterator) error {
	if !bytes.Equal(it.Row(), a.row) {
		if err := a.endRow(); err != nil {
			return err
		}
		a.row = append(a.row[:0], it.Row()...)
	}
	id := int64(it.Seq())
	if isRecord(it.Payload()) {
		return a.setRecord(id, it.Payload())
	}
	if err := a.values.unpack(it.Payload()); err != nil {
		return err
	}
	a.values.ID = id
	if !a.adds() {
		return nil
	}
	return a.enc.add(a.row, &a.record.Record, &a.values.Record)
}

// setRecord makes b the record that the next values may belong to.
func (a *adder) setRecord(id int64, b []byte) error {
	a.leave()
	a.packed, a.met, a.record.ID = append(a.packed[:0], b...), false, id
	return a.record.unpack(a.packed)
}

// leave ends the current record of the table. It counts the record if a file should give it a value, and does not have it.
func (a *adder) leave() {
	if a.record.ID < 0 || a.met {
		return
	}
	number, offset := column.Place(a.record.ID)
	i, ok := a.byNumber[number]
	if !ok || a.inputs[i].Failed() || !a.inputs[i].wants(&a.record.Record, offset, a.to.Schema) {
		return
	}
	a.countsOf(i).again.Missed++
}

// wants reports whether in is read again for a value that a record of the table at an offset of the file lacks.
func (in *input) wants(r *behaviour.Record, offset int64, s *behaviour.Schema) bool {
	if _, replayed := slices.BinarySearch(in.replayed, offset); replayed {
		return false
	}
	if p := in.Part; p != nil && (p.Span != nil && !p.Span.Has(r.Date) || p.Behaviours != nil && !slices.Contains(p.Behaviours, s.Kinds[r.Kind].Name)) {
		return false
	}
	for f, days := range in.fields[r.Kind] {
		if r.Values[f] == nil && behaviour.HasDay(days, r.Date) {
			return true
		}
	}
	return false
}

// adds reports whether the record of the table gets one of the values. It removes the values that the record has.
func (a *adder) adds() bool {
	v, r := &a.values, &a.record
	if a.inputs[v.input].Failed() || v.ID != r.ID || r.Kind != v.Kind || r.Date != v.Date || r.Time != v.Time {
		return false
	}
	n := a.countsOf(v.input)
	n.met++
	n.day(v.Kind).add(v.Date)
	a.met = true
	valued, some := false, false
	for i := range v.Values {
		if v.Values[i] != nil {
			valued = true
			n.value(v.Kind, i, len(v.Values)).add(v.Date)
		}
		if r.Values[i] != nil && !a.inputs[v.input].begun {
			v.Values[i] = nil
		}
		some = some || v.Values[i] != nil
	}
	switch {
	case some:
		n.again.Records++
	case valued:
		n.again.HadValues++
	}
	return some
}

func (a *adder) countsOf(input int) *joined {
	if a.counts[input] == nil {
		a.counts[input] = new(joined)
	}
	return a.counts[input]
}

// endRow adds the new cells of the row.
func (a *adder) endRow() error {
	a.leave()
	a.record.ID = -1
	return a.enc.end(a.row, a.out.add)
}
