package dfs

import (
	"context"
	"time"
)

type patienceKey struct{}

// WithPatience returns a context that limits a file system with servers: the file system
// repeats requests for at most the duration most, and waits no longer than most for one response.
// A file system whose own limit is lower keeps its own limit.
func WithPatience(ctx context.Context, most time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, most)
}

// Patience returns the lower of otherwise and the duration set by WithPatience.
func Patience(ctx context.Context, otherwise time.Duration) time.Duration {
	if most, ok := ctx.Value(patienceKey{}).(time.Duration); ok {
		return min(most, otherwise)
	}
	return otherwise
}
