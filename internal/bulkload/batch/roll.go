package batch

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
)

// A load of puts leaves one roll. It writes the roll between the two passes over its files, so
// that every user with a cell in the table is in a roll. In the first pass, the sorter gets for
// each record
//
//	row user key | seq date, kind | payload input
//
// in a part of its own, before the parts of the regions.
const rollPart = 0

// addToRoll adds the user, date and kind of a record to the roll.
func (p *parser) addToRoll(r *behaviour.Record) error {
	p.row = p.to.Layout.AppendUserKey(p.row[:0], r.User)
	p.packed = binary.BigEndian.AppendUint32(p.packed[:0], uint32(p.in.index))
	return p.sorter.shard.Add(p.ctx, rollPart, p.row, segment.DaySeq(r.Date, r.Kind), p.packed)
}

// writeRoll writes the roll of the records that will be put. It returns nil if there are none.
// The same files make the same roll with the same name. A load that runs again after it was
// killed therefore finds its own roll.
func (b *Batch) writeRoll(ctx context.Context) (*manifest.File, error) {
	it, err := b.sorter.Part(ctx, rollPart)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	w := &rollWriter{
		to: b.cfg.To.Putter, inputs: b.inputs, kinds: b.cfg.To.Schema.IDs(), dates: b.dates,
		file: manifest.File{Roll: b.owner.RollName(b.id()), Load: b.owner.Number(), Span: behaviour.NoDays},
	}
	defer w.abort()
	for n := 0; it.Next(); n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := w.add(ctx, it); err != nil {
			return nil, fmt.Errorf("write %s: %w", w.file.Roll, err)
		}
	}
	if err := it.Err(); err != nil {
		return nil, err
	}
	return w.finish()
}

// id returns a number that differs between batches of different records.
func (b *Batch) id() uint64 {
	h := sha256.New() // its writes do not fail
	fmt.Fprintln(h, b.cfg.Job.Digest())
	for _, in := range b.inputs {
		if !in.dropped() {
			e := b.entry(in)
			fmt.Fprintln(h, ledger.Identity(&e))
		}
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// A rollWriter writes the roll of a load of puts. It creates the file when the first record
// comes.
type rollWriter struct {
	to     table.Putter
	inputs []*Input
	kinds  []uint16
	dates  behaviour.Span // of all records
	file   manifest.File
	out    *segment.Output // nil before the first record
	roll   *roll.Writer
}

// add adds the current record of it, unless its file is not loaded.
func (w *rollWriter) add(ctx context.Context, it *shuffle.Iterator) error {
	if w.inputs[binary.BigEndian.Uint32(it.Payload())].dropped() {
		return nil
	}
	if w.out == nil {
		var err error
		if w.out, err = segment.NewOutput(ctx, w.to, w.file.Roll); err != nil {
			return err
		}
		w.roll = roll.NewWriter(w.out, w.kinds, w.dates)
	}
	date, kind := segment.ParseDaySeq(it.Seq())
	w.file.Records++
	w.file.Span.AddDay(date)
	return w.roll.Add(it.Row(), date, kind, 1)
}

func (w *rollWriter) finish() (*manifest.File, error) {
	if w.out == nil {
		return nil, nil
	}
	meta, err := w.roll.Close()
	if err == nil {
		err = w.out.Commit()
	}
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", w.file.Roll, err)
	}
	f := &w.file
	f.First, f.Last, f.Users, f.RollSum, f.RollSize = meta.First, meta.Last, meta.Users, w.out.Sum(), w.out.Size()
	return f, nil
}

func (w *rollWriter) abort() {
	if w.out != nil {
		w.out.Abort()
	}
}
