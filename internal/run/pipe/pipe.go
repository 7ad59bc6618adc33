// Package pipe is waiting that ends with the context: for a value to pass between
// goroutines, so no stage waits for one that has gone, or for time to pass.
package pipe

import (
	"context"
	"time"
)

// Send puts v into ch, or returns why ctx ended.
func Send[T any](ctx context.Context, ch chan<- T, v T) error {
	select {
	case ch <- v:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Receive takes a value from ch; ok is false if ch is closed or ctx has ended.
func Receive[T any](ctx context.Context, ch <-chan T) (v T, ok bool) {
	select {
	case v, ok = <-ch:
		return v, ok
	case <-ctx.Done():
		return v, false
	}
}

// Sleep waits for d, or returns why ctx ended.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
