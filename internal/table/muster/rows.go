package muster

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

// Rows encodes the records of one row after the other in bounded memory. It holds the
// records of a row and encodes them together. Where they are too many it encodes those
// it holds, and shuffle sorts their cells among the others of the row:
//
//	row qualifier | seq time, the latest first | payload value
//
// A layout makes the same cells of a record whatever other records the row has, so the
// row comes out the same. Rows is for one goroutine.
type Rows struct {
	ctx context.Context
	enc layout.Encoder
	cfg shuffle.Config

	packed []byte // of the records that enc holds
	last   int    // where in packed the last one begins
	held   int64  // about how many bytes these records take, with what enc has of them

	sorter  *shuffle.Sorter // nil until a row is too large
	shard   *shuffle.Shard
	spilled bool // cells of the row are in sorter
	family  []byte
}

// MinRows is the least memory of Rows, in bytes.
const MinRows = 2 * shuffle.MinMemory

// NewRows returns Rows that encode by enc. They take cfg.Memory bytes and spill to cfg.Dir,
// which no other sorter uses. What ends ctx ends the sorting.
func NewRows(ctx context.Context, enc layout.Encoder, cfg shuffle.Config) *Rows {
	cfg.Memory = max(cfg.Memory, MinRows)
	cfg.Parts, cfg.Shards, cfg.Readers = 1, 1, 1
	return &Rows{ctx: ctx, enc: enc, cfg: cfg}
}

// Keep returns a copy of a record's bytes that is valid until the row ends, or until
// Forget, or until more records are added.
func (w *Rows) Keep(b []byte) []byte {
	w.last = len(w.packed)
	w.packed = append(w.packed, b...)
	return w.packed[w.last:]
}

// Forget forgets the bytes that were kept last: the record is not added.
func (w *Rows) Forget() { w.packed = w.packed[:w.last] }

// Add adds a record to a row. Its values are bytes that were kept. Records of a row come in
// order of column ID.
func (w *Rows) Add(row []byte, r *behaviour.Record) error {
	const perRecord, perValue = 128, 48 // of an encoder whose slices have grown
	w.enc.Add(r)
	w.held += int64(2*(len(w.packed)-w.last) + perRecord + perValue*len(r.Values))
	if w.held < w.cfg.Memory/4 {
		return nil
	}
	return w.spill(row)
}

// spill gives the cells of the records that are held to the sorter.
func (w *Rows) spill(row []byte) (err error) {
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

// latestFirst is a number that is the smaller the later a time is; it is its own inverse.
func latestFirst(millis int64) uint64 { return ^(uint64(millis) ^ 1<<63) }

// End gives the cells of the row whose records were added, in order, and forgets them. A
// cell is valid until emit returns.
func (w *Rows) End(row []byte, emit func(*cell.Cell) error) error {
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

// merge gives the cells that were sorted.
func (w *Rows) merge(row []byte, emit func(*cell.Cell) error) (err error) {
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

// Close removes what was spilled. It does no harm when called twice.
func (w *Rows) Close() error {
	if w.sorter == nil {
		return nil
	}
	s := w.sorter
	w.sorter = nil
	return s.Close(w.ctx)
}
