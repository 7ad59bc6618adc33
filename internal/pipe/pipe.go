// Package pipe passes values between goroutines. Both ends give up when the
// context does, so no stage waits for one that has gone.
package pipe

import "context"

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
