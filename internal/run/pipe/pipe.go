// Package pipe waits until a condition or the end of a context. It passes values between
// goroutines, so that no goroutine waits for one that has ended, and it waits for time to
// pass.
package pipe

import (
	"context"
	"time"
)

// Send sends v to ch, or returns the cause of the end of ctx.
func Send[T any](ctx context.Context, ch chan<- T, v T) error {
	select {
	case ch <- v:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Receive receives a value from ch. ok is false if ch is closed or ctx has ended.
func Receive[T any](ctx context.Context, ch <-chan T) (v T, ok bool) {
	select {
	case v, ok = <-ch:
		return v, ok
	case <-ctx.Done():
		return v, false
	}
}

// Sleep waits for d, or returns the cause of the end of ctx.
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
