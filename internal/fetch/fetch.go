// Package fetch asks a table for many users' rows, many lots at once, and gives
// what becomes of them back in the order in which the lots were asked for.
//
//	lots ──▶ Workers: Asker (layout's keys ─ Read ─ Decoder ─ Sort) ──▶ emit, in order
//
// A user's rows are asked for in one of two ways, which give the same trails: as
// gets, one for each day and behaviour, or as one range. Plan says which.
//
// Memory: at most 2 × Workers lots are in flight, each with the users and
// events that its maker put into it. Of a lot that is answered piece by piece
// two answers are held.
package fetch

import (
	"context"
	"iter"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/pipe"
)

// A Lot is some users of one region.
type Lot struct {
	Keys  *Keys
	Piece int // of the whole work, that they belong to; whoever hands lots out says
	// Records is about how many they have, 0 if that is not known.
	Records int64

	turn chan struct{} // closed once all lots before it are taken; nil where there are none
}

// Half returns the first or the second half of a lot's users.
func (p *Lot) Half(second bool) *Lot {
	from, to := 0, p.Keys.Len()/2
	if second {
		from, to = to, p.Keys.Len()
	}
	return &Lot{Keys: p.Keys.Part(from, to), Piece: p.Piece, Records: p.Records / 2, turn: p.turn}
}

// Turn waits until emit was given what became of all lots before p.
func (p *Lot) Turn(ctx context.Context) error {
	if p.turn == nil {
		return nil
	}
	pipe.Receive(ctx, p.turn)
	return context.Cause(ctx)
}

// A Work answers one lot after the other, each by one call of emit or more. It is for
// one goroutine.
type Work[T any] func(ctx context.Context, p *Lot, emit func(T) error) error

// Each has workers work on lots, and gives what they make of them to emit, one
// after the other in the order of the lots. begin is called once for each worker.
// The first error ends it; when Each returns, nothing of it is running.
func Each[T any](ctx context.Context, lots iter.Seq2[*Lot, error], workers int, begin func() (Work[T], error), emit func(T) error) error {
	workers = max(workers, 1)
	g, ctx := errgroup.WithContext(ctx)
	todo := make(chan order[T])
	queue := make(chan order[T], 2*workers)
	g.Go(func() error { return hand(ctx, lots, todo, queue) })
	for range workers {
		g.Go(func() error {
			work, err := begin()
			if err != nil {
				return err
			}
			for o := range todo {
				err := work(ctx, o.lot, func(t T) error { return pipe.Send(ctx, o.answers, t) })
				if err != nil {
					return err
				}
				close(o.answers)
			}
			return nil
		})
	}
	g.Go(func() error { return collect(ctx, queue, emit) })
	return g.Wait()
}

// An order is a lot and the place where its answers will be put, which is closed behind
// the last.
type order[T any] struct {
	lot     *Lot
	answers chan T
}

// hand gives every lot to whichever worker is free, and its place in the queue
// to the collector. The queue's length bounds what is in flight.
func hand[T any](ctx context.Context, lots iter.Seq2[*Lot, error], todo, queue chan<- order[T]) error {
	defer close(todo)
	defer close(queue)
	for p, err := range lots {
		if err != nil {
			return err
		}
		p.turn = make(chan struct{})
		o := order[T]{p, make(chan T, 1)}
		if err := pipe.Send(ctx, queue, o); err != nil {
			return err
		}
		if err := pipe.Send(ctx, todo, o); err != nil {
			return err
		}
	}
	return nil
}

func collect[T any](ctx context.Context, queue <-chan order[T], emit func(T) error) error {
	for o := range queue {
		close(o.lot.turn)
		for {
			t, ok := pipe.Receive(ctx, o.answers)
			if !ok {
				break
			}
			if err := emit(t); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}
