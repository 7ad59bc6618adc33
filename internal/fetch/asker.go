package fetch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"usertrail/internal/behaviour"
	"usertrail/internal/breakpoint"
	"usertrail/internal/cell"
	"usertrail/internal/layout"
	"usertrail/internal/table"
	"usertrail/internal/trail"
)

// A Reader gives the cells of rows. Every table.Table is one.
type Reader interface {
	Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error
}

// Config says what is asked of each user, and how.
type Config struct {
	Schema *behaviour.Schema
	Layout layout.Layout
	Want   layout.Want
	Plan   Plan

	// Most is how many bytes the trails of users may have that are read together; 0 is as
	// many as a batch holds.
	Most int
}

// Trails are the trails of a lot's users: Batch.Events in order, each with the
// index of its user's key in Keys. They may be held by several owners; when the
// last has called Release their memory is used again.
type Trails struct {
	Keys  *Keys
	Batch *trail.Batch

	holders atomic.Int32
	swapped bool
	freed   func() // called once the batch that was read is not held any more
}

// Hold adds an owner. Whoever is given Trails is their first.
func (t *Trails) Hold() { t.holders.Add(1) }

// Release takes one owner away.
func (t *Trails) Release() {
	if t.holders.Add(-1) == 0 {
		if !t.swapped {
			keep(t.Batch)
		}
		t.Batch = nil
		t.Settle()
	}
}

// WhenFreed has f called once, when the batch that was read is not held any more, or at
// Settle. t has one owner.
func (t *Trails) WhenFreed(f func()) { t.freed = f }

// Settle calls what WhenFreed was given, if it was not called yet. One owner alone may
// call it.
func (t *Trails) Settle() {
	if f := t.freed; f != nil {
		t.freed = nil
		f()
	}
}

// mostKept is how large a batch may be whose memory is used again, in bytes. That of one
// very busy user is not.
const mostKept = 16 << 20

func keep(b *trail.Batch) {
	if b.Size() <= mostKept {
		batches.Put(b)
	}
}

// Swap gives t, which has one owner, the batch b, which is not used again later. The
// memory of the one it had is.
func (t *Trails) Swap(b *trail.Batch) {
	keep(t.Batch)
	t.Batch, t.swapped = b, true
	t.Settle()
}

var batches = sync.Pool{New: func() any { return new(trail.Batch) }}

// An Asker asks for users' trails. It is for one goroutine.
type Asker struct {
	table   Reader
	where   *Where
	decoder layout.Decoder
	most    int
}

// NewAsker returns what asks t.
func NewAsker(t Reader, cfg Config) (*Asker, error) {
	where, err := NewWhere(cfg.Layout, cfg.Schema, cfg.Want, cfg.Plan)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	return &Asker{table: t, where: where, decoder: cfg.Layout.Decoder(cfg.Schema, cfg.Want), most: cfg.Most}, nil
}

// Trails brings the trails of some users together. It fails with trail.ErrFull where they
// are more than may be read together.
func (a *Asker) Trails(ctx context.Context, keys *Keys) (*Trails, error) {
	b := batches.Get().(*trail.Batch)
	b.Reset()
	b.Most = a.most
	return a.trails(ctx, keys, b)
}

// Weighed brings the trails of some users together that are too much for Trails: at most
// so many bytes. It reads them twice, first to count the bytes of their values. So their
// memory is allocated once. It fails with a TooMuch where they are more, when none of the
// values is held.
func (a *Asker) Weighed(ctx context.Context, keys *Keys, most int) (*Trails, error) {
	b := new(trail.Batch)
	b.Reset()
	b.Most, b.Weighs = most, true
	if err := a.read(ctx, keys, b); err != nil {
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

// A TooMuch is an error of trails that are larger than they may be. It wraps
// trail.ErrFull.
type TooMuch struct {
	Bytes int  // that they take
	More  bool // they take more: not all was read
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
	if err := a.read(ctx, keys, b); err != nil {
		t.Release()
		return nil, err
	}
	b.Sort(keys.Len())
	breakpoint.Reach(breakpoint.Fetch)
	return t, nil
}

// read reads the rows of some users into b.
func (a *Asker) read(ctx context.Context, keys *Keys, b *trail.Batch) error {
	find := finder{keys: keys}
	a.decoder.Into(b, find.find)
	err := a.table.Read(ctx, a.where.Query(keys.All()), a.decoder.Add)
	if err == nil {
		err = a.decoder.Flush()
	}
	if err != nil {
		return fmt.Errorf("fetch: %d users from %q: %w", keys.Len(), keys.At(0), err)
	}
	return nil
}
