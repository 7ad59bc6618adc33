// Package fetch reads many users' rows from a table. A Batch is a batch of users. Workers
// read many batches at once, and results are emitted in the order of the batches.
//
//	batches ──▶ Workers: Asker (layout's keys ─ Read ─ Decoder ─ Sort) ──▶ emit, in order
//
// A user's rows are read in one of two ways: by gets, one for each day and behaviour, or by one
// range. Both return the same trails. Plan chooses the way.
//
// Memory: at most 2 × Workers batches are held at once, each with its users and events. If a
// batch has several results, at most two of them are held.
package fetch

import (
	"context"
	"iter"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/run/pipe"
)

// A Batch is a batch of users of one region, which are read together.
type Batch struct {
	Keys  *Keys
	Piece int // the piece of the whole work that they belong to; the caller of Each sets it
	// Records is the approximate number of their records, 0 if it is unknown.
	Records int64

	turn chan struct{} // closed when the results of all batches before it are emitted; nil if there are none
}

// Half returns a batch with the first or the second half of p's users.
func (p *Batch) Half(second bool) *Batch {
	from, to := 0, p.Keys.Len()/2
	if second {
		from, to = to, p.Keys.Len()
	}
	return &Batch{Keys: p.Keys.Part(from, to), Piece: p.Piece, Records: p.Records / 2, turn: p.turn}
}

// Turn waits until the results of all batches before p are emitted.
func (p *Batch) Turn(ctx context.Context) error {
	if p.turn == nil {
		return nil
	}
	pipe.Receive(ctx, p.turn)
	return context.Cause(ctx)
}

// A Work processes batches one after the other. For each batch it calls emit at least once. It
// is for one goroutine.
type Work[T any] func(ctx context.Context, p *Batch, emit func(T) error) error

// Each processes batches with the given number of workers, and calls emit with the results,
// one after the other, in the order of the batches. It calls begin once for each worker.
// It returns the first error. When Each returns, all its goroutines have ended.
func Each[T any](ctx context.Context, batches iter.Seq2[*Batch, error], workers int, begin func() (Work[T], error), emit func(T) error) error {
	workers = max(workers, 1)
	g, ctx := errgroup.WithContext(ctx)
	todo := make(chan assignment[T])
	queue := make(chan assignment[T], 2*workers)
	g.Go(func() error { return distribute(ctx, batches, todo, queue) })
	for range workers {
		g.Go(func() error {
			work, err := begin()
			if err != nil {
				return err
			}
			for o := range todo {
				err := work(ctx, o.batch, func(t T) error { return pipe.Send(ctx, o.results, t) })
				if err != nil {
					return err
				}
				close(o.results)
			}
			return nil
		})
	}
	g.Go(func() error { return collect(ctx, queue, emit) })
	return g.Wait()
}

// An assignment is a batch and the channel of its results. The worker closes the channel after the
// last result.
type assignment[T any] struct {
	batch   *Batch
	results chan T
}

// distribute sends every batch to a free worker, and to the queue of the collector. The length of
// the queue limits the number of batches that are held at once.
func distribute[T any](ctx context.Context, batches iter.Seq2[*Batch, error], todo, queue chan<- assignment[T]) error {
	defer close(todo)
	defer close(queue)
	for p, err := range batches {
		if err != nil {
			return err
		}
		p.turn = make(chan struct{})
		o := assignment[T]{p, make(chan T, 1)}
		if err := pipe.Send(ctx, queue, o); err != nil {
			return err
		}
		if err := pipe.Send(ctx, todo, o); err != nil {
			return err
		}
	}
	return nil
}

// collect emits the results of the batches in the queue, in order.
func collect[T any](ctx context.Context, queue <-chan assignment[T], emit func(T) error) error {
	for o := range queue {
		close(o.batch.turn)
		for {
			t, ok := pipe.Receive(ctx, o.results)
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
