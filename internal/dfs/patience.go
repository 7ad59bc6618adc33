package dfs

import (
	"context"
	"time"
)

type patienceKey struct{}

// WithPatience returns a context of which a file system that speaks to servers repeats requests
// for at most so long, and waits for one answer no longer. A file system that is less patient
// by itself stays so.
func WithPatience(ctx context.Context, most time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, most)
}

// Patience is the lesser of otherwise and what WithPatience says.
func Patience(ctx context.Context, otherwise time.Duration) time.Duration {
	if most, ok := ctx.Value(patienceKey{}).(time.Duration); ok {
		return min(most, otherwise)
	}
	return otherwise
}
