package segment

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/table/shuffle"
)

// A RowEncoder encodes records as cells, row by row, in bounded memory. It holds the records
// of a row and encodes them together. If a row has too many records, the encoder encodes them
// in several groups, and shuffle sorts the cells of all groups:
//
//	row qualifier | seq time, latest first | payload value
//
// The cells are the same either way, because a layout makes the same cells of a record
// whatever other records the row has. One goroutine uses a RowEncoder.
type RowEncoder struct {
	ctx context.Context
	enc layout.Encoder
	cfg shuffle.Config

	packed []byte // bytes of the records that enc holds
	last   int    // offset in packed of the last record
	held   int64  // estimate of the memory of these records and of enc, in bytes

	sorter  *shuffle.Sorter // nil until a row is too large
	shard   *shuffle.Shard
	spilled bool // cells of the row are in sorter
	family  []byte
}

// minRowMemory is the smallest memory of a RowEncoder or RowDecoder, in bytes.
const minRowMemory = 2 * shuffle.MinMemory

// NewRowEncoder returns a RowEncoder that uses enc and cfg.Memory bytes. It spills to cfg.Dir,
// which no other sorter uses. The sorting stops when ctx ends.
func NewRowEncoder(ctx context.Context, enc layout.Encoder, cfg shuffle.Config) *RowEncoder {
	cfg.Memory = max(cfg.Memory, minRowMemory)
	cfg.Parts, cfg.Shards, cfg.Readers = 1, 1, 1
	return &RowEncoder{ctx: ctx, enc: enc, cfg: cfg}
}

// Keep returns a copy of a record's bytes. The copy is valid until Add, Forget or End is
// called.
func (w *RowEncoder) Keep(b []byte) []byte {
	w.last = len(w.packed)
	w.packed = append(w.packed, b...)
	return w.packed[w.last:]
}

// Forget removes the bytes of the last Keep. The caller does not add the record.
func (w *RowEncoder) Forget() { w.packed = w.packed[:w.last] }

// Add adds a record to a row. The record's values are bytes that Keep returned. The caller
// adds the records of a row in order of column ID.
func (w *RowEncoder) Add(row []byte, r *behaviour.Record) error {
	const perRecord, perValue = 128, 48 // in an encoder whose slices have grown
	w.enc.Add(r)
	w.held += int64(2*(len(w.packed)-w.last) + perRecord + perValue*len(r.Values))
	if w.held < w.cfg.Memory/4 {
		return nil
	}
	return w.spill(row)
}

// spill encodes the records that are held and adds the cells to the sorter.
func (w *RowEncoder) spill(row []byte) (err error) {
	if w.sorter == nil {
		cfg := w.cfg
		cfg.Memory /= 2
		if w.sorter, err = shuffle.New(cfg); err != nil {
			return err
		}
		w.shard = w.sorter.Shard(0)
	}
	w.spilled = true
	err = w.enc.Cells(row, func(c *cell.Cell) error {
		if !bytes.Equal(w.family, c.Family) {
			w.family = bytes.Clone(c.Family)
		}
		return w.shard.Add(w.ctx, 0, c.Qualifier, latestFirst(c.Time), c.Value)
	})
	w.packed, w.last, w.held = w.packed[:0], 0, 0
	return err
}

// latestFirst returns a number that is smaller for a later time. It is its own inverse.
func latestFirst(millis int64) uint64 { return ^(uint64(millis) ^ 1<<63) }

// End ends the row. It calls emit for the cells of the row, in order. A cell is valid until
// emit returns.
func (w *RowEncoder) End(row []byte, emit func(*cell.Cell) error) error {
	if !w.spilled {
		w.packed, w.last, w.held = w.packed[:0], 0, 0
		return w.enc.Cells(row, emit)
	}
	if err := w.spill(row); err != nil {
		return err
	}
	w.spilled = false
	if err := w.sorter.Finish(w.ctx); err != nil {
		return fmt.Errorf("sort the cells of row %.64q: %w", row, err)
	}
	if err := w.merge(row, emit); err != nil {
		return err
	}
	return w.sorter.Reset(w.ctx)
}

// merge calls emit for the sorted cells.
func (w *RowEncoder) merge(row []byte, emit func(*cell.Cell) error) (err error) {
	it, err := w.sorter.Part(w.ctx, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	c := cell.Cell{Row: row, Family: w.family, Type: cell.Put}
	for n := 0; it.Next(); n++ {
		if n&0xfff == 0 && w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		c.Qualifier, c.Value = it.Row(), it.Payload()
		c.Time = int64(latestFirst(int64(it.Seq())))
		if err := emit(&c); err != nil {
			return err
		}
	}
	return it.Err()
}

// Close removes spilled cells. A second call does nothing.
func (w *RowEncoder) Close() error {
	if w.sorter == nil {
		return nil
	}
	s := w.sorter
	w.sorter = nil
	return s.Close(w.ctx)
}
