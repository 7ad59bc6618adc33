package segment

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/trail"
)

// A RowDecoder decodes cells as records, row by row, in bounded memory. It is the inverse of
// RowEncoder. It holds the records of a row. If a row has too many records, the decoder
// decodes the cells in several groups. The cells of one record can be in different groups.
// Each of these groups makes a part of the record, and shuffle sorts the parts of all records:
//
//	row date, kind | seq column ID | payload behaviour.AppendPacked
//
// One goroutine uses a RowDecoder.
type RowDecoder struct {
	ctx     context.Context
	schema  *behaviour.Schema
	decoder layout.Decoder
	cfg     shuffle.Config
	events  trail.Batch
	rec     behaviour.Record
	part    behaviour.Record

	sorter  *shuffle.Sorter // nil until a row is too large
	shard   *shuffle.Shard
	spilled bool // the sorter has records of the row
	key     []byte
	packed  []byte
	parts   []byte // parts of the current record
	ends    []int  // end of each part in parts
}

// NewRowDecoder returns a RowDecoder for cells of layout l. It decodes the records and fields
// that want selects. It uses cfg.Memory bytes and spills to cfg.Dir, which no other sorter
// uses. The sorting stops when ctx ends.
func NewRowDecoder(ctx context.Context, l layout.Layout, s *behaviour.Schema, want layout.Want, cfg shuffle.Config) *RowDecoder {
	cfg.Memory = max(cfg.Memory, minRowMemory)
	cfg.Parts, cfg.Shards, cfg.Readers = 1, 1, 1
	d := &RowDecoder{ctx: ctx, schema: s, decoder: l.Decoder(s, want), cfg: cfg}
	d.decoder.Into(&d.events, func([]byte) (uint32, bool) { return 0, true })
	return d
}

// Add adds the next cell of a row. It keeps no reference to c's bytes.
func (d *RowDecoder) Add(c *cell.Cell) error {
	if err := d.decoder.Add(c); err != nil {
		return err
	}
	const perEvent = 48 // in a decoder that remembers the records of the row
	if int64(d.events.Used()+perEvent*len(d.events.Events)) < d.cfg.Memory/4 {
		return nil
	}
	return d.spill()
}

// spill adds the records that are held to the sorter. The decoder then starts again with an
// empty row: the next cells make new parts of records.
func (d *RowDecoder) spill() (err error) {
	if err := d.decoder.Flush(); err != nil {
		return err
	}
	if d.sorter == nil {
		cfg := d.cfg
		cfg.Memory /= 2
		if d.sorter, err = shuffle.New(cfg); err != nil {
			return err
		}
		d.shard = d.sorter.Shard(0)
	}
	d.spilled = true
	for i := range d.events.Events {
		r := d.record(&d.events.Events[i])
		for n := len(r.Values); n > 0 && r.Values[n-1] == nil; n-- {
			r.Values = r.Values[:n-1]
		}
		d.key = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(d.key[:0], uint32(r.Date)), uint16(r.Kind))
		d.packed = behaviour.AppendPacked(d.packed[:0], r)
		if err := d.shard.Add(d.ctx, 0, d.key, uint64(r.ID), d.packed); err != nil {
			return err
		}
	}
	d.events.Reset()
	return nil
}

// record returns an event as a record. The record is valid until the next call.
func (d *RowDecoder) record(e *trail.Event) *behaviour.Record {
	r := &d.rec
	r.Kind, r.Time, r.Date, r.ID = int(e.Kind), e.Time, behaviour.Date(e.Date), e.ID
	r.Values = r.Values[:0]
	for i := range d.schema.Kinds[r.Kind].Fields {
		r.Values = append(r.Values, d.events.Value(d.events.Refs[int(e.Refs)+i]))
	}
	return r
}

// End ends the row. It calls emit for each record of the row, in any order. The records have no
// user. A record is valid until emit returns.
func (d *RowDecoder) End(emit func(*behaviour.Record) error) error {
	if err := d.decoder.Flush(); err != nil {
		return err
	}
	if d.spilled {
		return d.endSpilled(emit)
	}
	for i := range d.events.Events {
		if err := emit(d.record(&d.events.Events[i])); err != nil {
			return err
		}
	}
	d.events.Reset()
	return nil
}

func (d *RowDecoder) endSpilled(emit func(*behaviour.Record) error) error {
	if err := d.spill(); err != nil {
		return err
	}
	d.spilled = false
	if err := d.sorter.Finish(d.ctx); err != nil {
		return fmt.Errorf("sort the records of a row: %w", err)
	}
	if err := d.merge(emit); err != nil {
		return err
	}
	return d.sorter.Reset(d.ctx)
}

// merge joins the sorted parts and calls emit for each record.
func (d *RowDecoder) merge(emit func(*behaviour.Record) error) (err error) {
	it, err := d.sorter.Part(d.ctx, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	d.key, d.parts, d.ends = d.key[:0], d.parts[:0], d.ends[:0]
	id := uint64(0)
	for n := 0; it.Next(); n++ {
		if n&0xfff == 0 && d.ctx.Err() != nil {
			return context.Cause(d.ctx)
		}
		if it.Seq() != id || string(it.Row()) != string(d.key) {
			if err := d.join(id, emit); err != nil {
				return err
			}
			id, d.key = it.Seq(), append(d.key[:0], it.Row()...)
		}
		d.parts = append(d.parts, it.Payload()...)
		d.ends = append(d.ends, len(d.parts))
	}
	if err := it.Err(); err != nil {
		return err
	}
	return d.join(id, emit)
}

// join calls emit for the record of the collected parts. The record's time is the latest time
// of the parts, because only one cell of a record has the microseconds.
func (d *RowDecoder) join(id uint64, emit func(*behaviour.Record) error) error {
	if len(d.ends) == 0 {
		return nil
	}
	r, from := &d.rec, 0
	r.ID, r.Time, r.Values = int64(id), math.MinInt64, r.Values[:0]
	for _, end := range d.ends {
		p := &d.part
		if err := p.Unpack(d.parts[from:end:end]); err != nil {
			return err
		}
		from = end
		if len(r.Values) == 0 {
			r.Kind, r.Date = p.Kind, p.Date
			for range d.schema.Kinds[p.Kind].Fields {
				r.Values = append(r.Values, nil)
			}
		}
		r.Time = max(r.Time, p.Time)
		for i, v := range p.Values {
			if v != nil {
				r.Values[i] = v
			}
		}
	}
	d.parts, d.ends = d.parts[:0], d.ends[:0]
	return emit(r)
}

// Close removes spilled records. A second call does nothing.
func (d *RowDecoder) Close() error {
	if d.sorter == nil {
		return nil
	}
	s := d.sorter
	d.sorter = nil
	return s.Close(d.ctx)
}
