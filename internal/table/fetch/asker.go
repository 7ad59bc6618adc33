package fetch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/quantity"
	"usertrail/internal/table"
	"usertrail/internal/trail"
)

// A Reader reads the cells of rows. Every table.Table is a Reader.
type Reader interface {
	Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error
}

// Config selects what an Asker reads of each user.
type Config struct {
	Schema *behaviour.Schema
	Layout layout.Layout
	Want   layout.Want
	Plan   Plan

	// Most is the maximum number of bytes of the trails that one call of Asker.Trails reads; 0
	// is the capacity of a trail.Batch.
	Most int
}

// Trails holds the trails of a batch's users: Batch.Events in order, each with the
// index of its user's key in Keys. Several owners may hold it. When the last owner has
// called Release, its memory is reused.
type Trails struct {
	Keys  *Keys
	Batch *trail.Batch

	Foreign layout.Foreign // cells that were read and skipped

	holders atomic.Int32
	swapped bool
	freed   func() // of WhenFreed; nil after it was called
}

// Hold adds an owner. The caller who received t is the first owner.
func (t *Trails) Hold() { t.holders.Add(1) }

// Release removes one owner.
func (t *Trails) Release() {
	if t.holders.Add(-1) == 0 {
		if !t.swapped {
			keep(t.Batch)
		}
		t.Batch = nil
		t.Settle()
	}
}

// WhenFreed sets a function that is called once: when no owner holds the batch any more, or
// at Settle. t must have one owner.
func (t *Trails) WhenFreed(f func()) { t.freed = f }

// Settle calls the function of WhenFreed, if it was not called yet. Only one owner may
// call Settle.
func (t *Trails) Settle() {
	if f := t.freed; f != nil {
		t.freed = nil
		f()
	}
}

// mostKept is the size of the largest batch whose memory is reused, in bytes. The batch of
// one very busy user is larger, and is not reused.
const mostKept = 16 << 20

func keep(b *trail.Batch) {
	if b.Size() <= mostKept {
		batches.Put(b)
	}
}

// Swap replaces the batch of t by b. t must have one owner. The memory of the old batch is
// reused; the memory of b is not.
func (t *Trails) Swap(b *trail.Batch) {
	keep(t.Batch)
	t.Batch, t.swapped = b, true
	t.Settle()
}

var batches = sync.Pool{New: func() any { return new(trail.Batch) }}

// An Asker reads users' trails. It is for one goroutine.
type Asker struct {
	table   Reader
	where   *Where
	decoder layout.Decoder
	most    int
}

// NewAsker returns an Asker that reads from t.
func NewAsker(t Reader, cfg Config) (*Asker, error) {
	where, err := NewWhere(cfg.Layout, cfg.Schema, cfg.Want, cfg.Plan)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	return &Asker{table: t, where: where, decoder: cfg.Layout.Decoder(cfg.Schema, cfg.Want), most: cfg.Most}, nil
}

// Trails reads the trails of some users. It fails with trail.ErrFull if they exceed
// Config.Most.
func (a *Asker) Trails(ctx context.Context, keys *Keys) (*Trails, error) {
	b := batches.Get().(*trail.Batch)
	b.Reset()
	b.Most = a.most
	return a.trails(ctx, keys, b)
}

// Weighed reads the trails of users that are too large for Trails, up to most bytes. It
// reads them twice: the first pass counts the bytes of their values, so that memory is
// allocated once. If they are larger than most, it fails with a TooMuch and holds none of
// the values.
func (a *Asker) Weighed(ctx context.Context, keys *Keys, most int) (*Trails, error) {
	b := new(trail.Batch)
	b.Reset()
	b.Most, b.Weighs = most, true
	if err := a.read(ctx, keys, b, new(layout.Foreign)); err != nil {
		if errors.Is(err, trail.ErrFull) {
			err = &TooMuch{Bytes: b.Used() + b.Weight, More: true, err: err}
		}
		return nil, err
	}
	if n := b.Used() + b.Weight; n > most || b.Weight >= trail.MaxData {
		return nil, &TooMuch{Bytes: n, err: trail.ErrFull}
	}
	weight := b.Weight
	b.Reset()
	b.Reserve(weight)
	return a.trails(ctx, keys, b)
}

// A TooMuch is the error for trails that are larger than the limit. It wraps
// trail.ErrFull.
type TooMuch struct {
	Bytes int  // the size of the trails
	More  bool // the trails are larger than Bytes: not everything was read
	err   error
}

func (e *TooMuch) Error() string { return e.err.Error() }
func (e *TooMuch) Unwrap() error { return e.err }

// trails reads the trails of some users into b.
func (a *Asker) trails(ctx context.Context, keys *Keys, b *trail.Batch) (*Trails, error) {
	t := &Trails{Keys: keys, Batch: b}
	t.holders.Store(1)
	if keys.Len() == 0 {
		return t, nil
	}
	if err := a.read(ctx, keys, b, &t.Foreign); err != nil {
		t.Release()
		return nil, err
	}
	b.Sort(keys.Len())
	breakpoint.Reach(breakpoint.Fetch)
	return t, nil
}

// read reads the rows of some users into b, and counts the foreign cells that it skips.
func (a *Asker) read(ctx context.Context, keys *Keys, b *trail.Batch, skipped *layout.Foreign) error {
	find := finder{keys: keys}
	a.decoder.Into(b, find.find)
	*skipped = layout.Foreign{}
	err := a.table.Read(ctx, a.where.Query(keys.All()), func(c *cell.Cell) error {
		if err := a.decoder.Add(c); err != nil {
			return skipped.Skip(err)
		}
		return nil
	})
	if err == nil {
		err = a.decoder.Flush()
	}
	if err != nil {
		return fmt.Errorf("fetch: %s from %q: %w", quantity.Of(keys.Len(), "user"), keys.At(0), err)
	}
	return nil
}
