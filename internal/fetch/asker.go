package fetch

import (
	"context"
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

	// Most and MostOfOne are how many bytes the trails of several users may have that are
	// read together, and of one; 0 is as many as a batch holds.
	Most, MostOfOne int
}

// Trails are the trails of a lot's users: Batch.Events in order, each with the
// index of its user's key in Keys. They may be held by several owners; when the
// last has called Release their memory is used again.
type Trails struct {
	Keys  *Keys
	Batch *trail.Batch

	holders atomic.Int32
	swapped bool
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
	}
}

// mostKept is how large a batch may be whose memory is used again, in bytes. That of one
// very busy user is not.
const mostKept = 32 << 20

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
}

var batches = sync.Pool{New: func() any { return new(trail.Batch) }}

// An Asker asks for users' trails. It is for one goroutine.
type Asker struct {
	table   Reader
	where   *Where
	decoder layout.Decoder
	most    int
	ofOne   int
}

// NewAsker returns what asks t.
func NewAsker(t Reader, cfg Config) (*Asker, error) {
	where, err := NewWhere(cfg.Layout, cfg.Schema, cfg.Want, cfg.Plan)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	return &Asker{table: t, where: where, decoder: cfg.Layout.Decoder(cfg.Schema, cfg.Want), most: cfg.Most, ofOne: cfg.MostOfOne}, nil
}

// Trails brings the trails of some users together. It fails with trail.ErrFull where they
// are more than may be read together.
func (a *Asker) Trails(ctx context.Context, keys *Keys) (*Trails, error) {
	b := batches.Get().(*trail.Batch)
	b.Reset()
	if b.Most = a.most; keys.Len() == 1 {
		b.Most = a.ofOne
	}
	t := &Trails{Keys: keys, Batch: b}
	t.holders.Store(1)
	if keys.Len() == 0 {
		return t, nil
	}
	find := finder{keys: keys}
	a.decoder.Into(b, find.find)
	err := a.table.Read(ctx, a.where.Query(keys.All()), a.decoder.Add)
	if err == nil {
		err = a.decoder.Flush()
	}
	if err != nil {
		t.Release()
		return nil, fmt.Errorf("fetch: %d users from %q: %w", keys.Len(), keys.At(0), err)
	}
	b.Sort(keys.Len())
	breakpoint.Reach(breakpoint.Fetch)
	return t, nil
}
