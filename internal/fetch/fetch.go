// Package fetch asks a table for many users' rows, many pieces at once, and gives
// their trails back in the order in which the pieces were asked for.
//
//	pieces ──▶ Workers: layout's keys ─ Read ─ Decoder ─ Sort ──▶ emit, in order
//
// A user's rows are asked for in one of two ways, which give the same trails: as
// gets, one for each day and behaviour, or as one range. Plan says which.
//
// Memory: at most 2 × Workers pieces are in flight, each with the users and
// events that its maker put into it.
package fetch

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/layout"
	"usertrail/internal/pipe"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/trail"
)

// A Reader gives the cells of rows. Every table.Table is one.
type Reader interface {
	Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error
}

// A Piece is some users of one region.
type Piece struct {
	Keys *Keys
}

// Config says what is asked of each user, and how.
type Config struct {
	Schema  *behaviour.Schema
	Layout  layout.Layout
	Kinds   []int
	Span    behaviour.Span
	Plan    Plan
	Workers int // pieces read at once; 1
}

// Trails are the trails of a piece's users: Batch.Events in order, each with the
// index of its user's key in Keys. They may be held by several owners; when the
// last has called Release their memory is used again.
type Trails struct {
	Keys  *Keys
	Batch *trail.Batch

	holders atomic.Int32
	pool    *sync.Pool
}

// Hold adds an owner. Whoever is given Trails is their first.
func (t *Trails) Hold() { t.holders.Add(1) }

// Release takes one owner away.
func (t *Trails) Release() {
	if t.holders.Add(-1) == 0 {
		t.pool.Put(t.Batch)
		t.Batch = nil
	}
}

// Each fetches pieces, cfg.Workers at a time, and gives their trails to emit, one
// after the other in the order of the pieces. The first error ends it; when Each
// returns, nothing of it is running.
func Each(ctx context.Context, t Reader, pieces iter.Seq2[*Piece, error], cfg Config, emit func(*Trails) error) error {
	cfg.Workers = max(cfg.Workers, 1)
	prefixes, err := cfg.Layout.Prefixes(cfg.Schema, cfg.Kinds)
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	e := &each{cfg: cfg, table: t, prefixes: prefixes, plan: cfg.Plan.of(len(cfg.Kinds), cfg.Span)}
	e.pool.New = func() any { return new(trail.Batch) }
	g, ctx := errgroup.WithContext(ctx)
	todo := make(chan order)
	queue := make(chan order, 2*cfg.Workers)
	g.Go(func() error { return e.hand(ctx, pieces, todo, queue) })
	for range cfg.Workers {
		g.Go(func() error { return e.work(ctx, todo) })
	}
	g.Go(func() error { return collect(ctx, queue, emit) })
	return g.Wait()
}

// each is one call of Each.
type each struct {
	cfg      Config
	table    Reader
	prefixes [][]byte
	plan     Plan
	pool     sync.Pool
}

// An order is a piece and the place where its answer will be put.
type order struct {
	piece  *Piece
	answer chan *Trails
}

// hand gives every piece to whichever worker is free, and its place in the queue
// to the collector. The queue's length bounds what is in flight.
func (e *each) hand(ctx context.Context, pieces iter.Seq2[*Piece, error], todo, queue chan<- order) error {
	defer close(todo)
	defer close(queue)
	for p, err := range pieces {
		if err != nil {
			return err
		}
		o := order{p, make(chan *Trails, 1)}
		if err := pipe.Send(ctx, queue, o); err != nil {
			return err
		}
		if err := pipe.Send(ctx, todo, o); err != nil {
			return err
		}
	}
	return nil
}

func (e *each) work(ctx context.Context, todo <-chan order) error {
	d := e.cfg.Layout.Decoder(e.cfg.Schema, e.want())
	for o := range todo {
		t, err := e.read(ctx, d, o.piece)
		if err != nil {
			return fmt.Errorf("fetch: %d users from %q: %w", o.piece.Keys.Len(), o.piece.Keys.At(0), err)
		}
		o.answer <- t
	}
	return nil
}

// read brings one piece's trails together.
func (e *each) read(ctx context.Context, d layout.Decoder, p *Piece) (*Trails, error) {
	b := e.pool.Get().(*trail.Batch)
	b.Reset()
	find := finder{keys: p.Keys}
	d.Into(b, find.find)
	if err := e.table.Read(ctx, e.query(p), d.Add); err != nil {
		return nil, err
	}
	if err := d.Flush(); err != nil {
		return nil, err
	}
	b.Sort(p.Keys.Len())
	t := &Trails{Keys: p.Keys, Batch: b, pool: &e.pool}
	t.holders.Store(1)
	return t, nil
}

func (e *each) want() layout.Want { return layout.Want{Kinds: e.cfg.Kinds, Span: e.cfg.Span} }

// query asks for each user's rows of the span, by the plan.
func (e *each) query(p *Piece) table.Query {
	l, n := e.cfg.Layout, p.Keys.Len()
	q := table.Query{
		Bounds: split.Region{
			Start: l.AppendStart(nil, p.Keys.At(0), e.cfg.Span),
			End:   l.AppendStop(nil, p.Keys.At(n-1), e.cfg.Span),
		},
		Span:     e.cfg.Span,
		Prefixes: e.prefixes,
	}
	if e.plan == Get {
		q.Rows = e.rows(p)
	} else {
		q.Ranges = e.ranges(p)
	}
	return q
}

// ranges are one for each user.
func (e *each) ranges(p *Piece) iter.Seq[split.Region] {
	l := e.cfg.Layout
	return func(yield func(split.Region) bool) {
		var r split.Region
		for i := range p.Keys.Len() {
			r.Start = l.AppendStart(r.Start[:0], p.Keys.At(i), e.cfg.Span)
			r.End = l.AppendStop(r.End[:0], p.Keys.At(i), e.cfg.Span)
			if !yield(r) {
				return
			}
		}
	}
}

// rows are each user's, one for each day and behaviour.
func (e *each) rows(p *Piece) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range p.Keys.Len() {
			if !e.cfg.Layout.Rows(e.cfg.Schema, e.want(), p.Keys.At(i), yield) {
				return
			}
		}
	}
}

func collect(ctx context.Context, queue <-chan order, emit func(*Trails) error) error {
	for o := range queue {
		select {
		case t := <-o.answer:
			if err := emit(t); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
