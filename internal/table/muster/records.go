package muster

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

// Records decodes the cells of one row after the other in bounded memory; it is the
// inverse of Rows. It holds the records of a row. If they are too many, it decodes the
// row in several runs of cells. Where the cells of a record are far apart, each run makes
// a record of those it has, and shuffle brings these together:
//
//	row date, kind | seq column ID | payload behaviour.AppendPacked
//
// Records is for one goroutine.
type Records struct {
	ctx     context.Context
	schema  *behaviour.Schema
	decoder layout.Decoder
	cfg     shuffle.Config
	events  trail.Batch
	rec     behaviour.Record
	part    behaviour.Record

	sorter  *shuffle.Sorter // nil until a row is too large
	shard   *shuffle.Shard
	spilled bool // records of the row are in sorter
	key     []byte
	packed  []byte
	parts   []byte // of the record that is being put together
	ends    []int  // of each part in parts
}

// NewRecords returns Records that decode what want asks for of a layout's cells. They take
// cfg.Memory bytes and spill to cfg.Dir, which no other sorter uses. What ends ctx ends
// the sorting.
func NewRecords(ctx context.Context, l layout.Layout, s *behaviour.Schema, want layout.Want, cfg shuffle.Config) *Records {
	cfg.Memory = max(cfg.Memory, MinRows)
	cfg.Parts, cfg.Shards, cfg.Readers = 1, 1, 1
	d := &Records{ctx: ctx, schema: s, decoder: l.Decoder(s, want), cfg: cfg}
	d.decoder.Into(&d.events, func([]byte) (uint32, bool) { return 0, true })
	return d
}

// Add adds the next cell of a row. It keeps no reference to c's bytes.
func (d *Records) Add(c *cell.Cell) error {
	if err := d.decoder.Add(c); err != nil {
		return err
	}
	const perEvent = 48 // of a decoder that remembers which records it has met
	if int64(d.events.Used()+perEvent*len(d.events.Events)) < d.cfg.Memory/4 {
		return nil
	}
	return d.spill()
}

// spill gives the records that are held to the sorter. The decoder begins the row again:
// it makes further records of the cells that follow.
func (d *Records) spill() (err error) {
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
		d.key = append(binary.BigEndian.AppendUint32(d.key[:0], uint32(r.Date)), byte(r.Kind))
		d.packed = behaviour.AppendPacked(d.packed[:0], r)
		if err := d.shard.Add(d.ctx, 0, d.key, uint64(r.ID), d.packed); err != nil {
			return err
		}
	}
	d.events.Reset()
	return nil
}

// record is an event as a record, valid until the next one.
func (d *Records) record(e *trail.Event) *behaviour.Record {
	r := &d.rec
	r.Kind, r.Time, r.Date, r.ID = int(e.Kind), e.Time, behaviour.Date(e.Date), e.ID
	r.Values = r.Values[:0]
	for i := range d.schema.Kinds[r.Kind].Fields {
		r.Values = append(r.Values, d.events.Value(d.events.Refs[int(e.Refs)+i]))
	}
	return r
}

// End gives the records of the row whose cells were added, without their user and in any
// order, and forgets them. A record is valid until emit returns.
func (d *Records) End(emit func(*behaviour.Record) error) error {
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

func (d *Records) endSpilled(emit func(*behaviour.Record) error) error {
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

// merge gives the records that were sorted.
func (d *Records) merge(emit func(*behaviour.Record) error) (err error) {
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
			if err := d.whole(id, emit); err != nil {
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
	return d.whole(id, emit)
}

// whole gives the record whose parts are together. Its time is the latest of theirs: only
// the cell that has the microseconds knows them.
func (d *Records) whole(id uint64, emit func(*behaviour.Record) error) error {
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

// Close removes what was spilled. It does no harm when called twice.
func (d *Records) Close() error {
	if d.sorter == nil {
		return nil
	}
	s := d.sorter
	d.sorter = nil
	return s.Close(d.ctx)
}
