package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/hfile"
	"usertrail/internal/layout"
	"usertrail/internal/manifest"
	"usertrail/internal/shuffle"
	"usertrail/internal/split"
	"usertrail/internal/tally"
	"usertrail/internal/trail"
)

// readAhead is how much of a file is read at once.
const readAhead = 1 << 20

var everyDate = behaviour.Span{From: behaviour.MinDate, To: behaviour.MaxDate}

// A reader makes records of the cells of one file. For each it gives the sorter
//
//	part region | row the new one | seq column ID | payload behaviour.AppendPacked
type reader struct {
	*run
	ctx    context.Context
	shard  *shuffle.Shard
	points split.Points

	row     []byte
	decoder layout.Decoder
	events  trail.Batch
	count   tally.Counter
	records int64

	rec                  behaviour.Record
	user, newRow, packed []byte
}

// readFile reads a file, which must hold what the manifest says.
func (r *run) readFile(ctx context.Context, f *manifest.File, shard *shuffle.Shard, points split.Points) error {
	at := r.progress.Worker("reading")
	defer at.End()
	at.At("%s", f.Name)
	x := &reader{run: r, ctx: ctx, shard: shard, points: points}
	x.decoder = r.old.Decoder(r.m.Schema, layout.Everything(r.m.Schema, everyDate))
	x.decoder.Into(&x.events, func([]byte) (uint32, bool) { return 0, true })
	if err := x.cells(f); err != nil {
		return fmt.Errorf("convert %s: %w", f.Name, err)
	}
	if x.count.Tally != f.Tally || x.records != f.Records {
		return fmt.Errorf("convert %s: %w: it holds %s of %d records, and the manifest says %s of %d", f.Name, ErrDamaged, x.count.Tally, x.records, f.Tally, f.Records)
	}
	return nil
}

// cells goes through all cells of a file.
func (x *reader) cells(f *manifest.File) (err error) {
	in, err := x.from.Staged(x.ctx, f.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	h, err := hfile.Open(in, in.Size())
	if err != nil {
		return err
	}
	half := x.progress.Share(f.Size/2, f.Tally.Cells)
	it := h.Iterator(hfile.IterOptions{ReadAhead: readAhead})
	for ok := it.First(); ok; ok = it.Next() {
		if x.count.Cells&0xfff == 0 {
			if x.ctx.Err() != nil {
				return context.Cause(x.ctx)
			}
			half.UpTo(x.count.Cells)
		}
		if err := x.add(it.Cell()); err != nil {
			return err
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	half.UpTo(f.Tally.Cells)
	return x.endRow()
}

func (x *reader) add(c *cell.Cell) error {
	if !bytes.Equal(c.Row, x.row) {
		if err := x.endRow(); err != nil {
			return err
		}
		x.row = append(x.row[:0], c.Row...)
	}
	x.count.Add(c)
	return x.decoder.Add(c)
}

// endRow gives the records of the row whose cells have come to the sorter.
func (x *reader) endRow() (err error) {
	if len(x.row) == 0 {
		return nil
	}
	if err := x.decoder.Flush(); err != nil {
		return err
	}
	if x.user, err = x.old.AppendUser(x.user[:0], x.old.UserKey(x.row)); err != nil {
		return fmt.Errorf("row %.64q: %w", x.row, err)
	}
	x.rec.User = x.user
	for i := range x.events.Events {
		if err := x.record(&x.events.Events[i]); err != nil {
			return err
		}
	}
	x.records += int64(len(x.events.Events))
	x.events.Reset()
	return nil
}

// record gives one record to the sorter.
func (x *reader) record(e *trail.Event) error {
	r := &x.rec
	r.Kind, r.Time, r.Date, r.ID = int(e.Kind), e.Time, behaviour.Date(e.Date), e.ID
	r.Values = r.Values[:0]
	for i := range x.m.Schema.Kinds[r.Kind].Fields {
		r.Values = append(r.Values, x.events.Value(x.events.Refs[int(e.Refs)+i]))
	}
	if err := x.fits(r); err != nil {
		return err
	}
	x.newRow = x.new.AppendRow(x.newRow[:0], x.m.Schema, r)
	x.packed = behaviour.AppendPacked(x.packed[:0], r)
	return x.shard.Add(x.ctx, x.points.Of(x.newRow), x.newRow, uint64(r.ID), x.packed)
}
