package cli

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/store/dfs"
)

type noLock struct{}

func (noLock) Unlock() error { return nil }
func (noLock) Drop() error   { return nil }

// TestALockIsWaitedFor checks that a command waits until the lock is free, and at most for
// --wait-lock.
func TestALockIsWaitedFor(t *testing.T) {
	for _, x := range []struct {
		what       string
		most, free time.Duration
		want       error
		says       int
	}{
		{"not waited for", 0, time.Hour, dfs.ErrLocked, 0},
		{"free at once", time.Minute, 0, nil, 0},
		{"free in time", time.Minute, 40 * time.Second, nil, 1},
		{"free too late", time.Minute, 2 * time.Minute, dfs.ErrLocked, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, said, began := t.Context(), 0, time.Now()
			if x.most > 0 {
				ctx = context.WithValue(ctx, lockWaitKey{}, &lockWait{x.most, func(string) { said++ }})
			}
			_, err := waitFor(ctx, func() (dfs.Lock, error) {
				if time.Since(began) < x.free {
					return nil, dfs.ErrLocked
				}
				return noLock{}, nil
			})
			if !errors.Is(err, x.want) || said != x.says || time.Since(began) > x.most {
				t.Errorf("%s: %v after %s, said %d times; want %v, %d", x.what, err, time.Since(began), said, x.want, x.says)
			}
		})
	}
}
