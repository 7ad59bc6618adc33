package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"usertrail/internal/run/pipe"
	"usertrail/internal/store/dfs"
)

// lockEvery is the interval of attempts to take a lock.
const lockEvery = time.Second

type lockWaitKey struct{}

// A lockWait is the time that a command waits for each lock.
type lockWait struct {
	most time.Duration
	say  func(text string)
}

// patient sets how long the command waits for locks, and limits its waits for HDFS by
// --retry-for.
func (e *Env) patient(c *cobra.Command, most time.Duration) error {
	if most < 0 {
		return fmt.Errorf("%w: --wait-lock must not be negative", ErrUsage)
	}
	if f := c.Flags().Lookup("retry-for"); f != nil && f.Changed {
		if retryFor, err := c.Flags().GetDuration("retry-for"); err == nil && retryFor >= 0 {
			c.SetContext(dfs.WithPatience(c.Context(), retryFor))
			e.shared().setPatience(retryFor)
		}
	}
	if most == 0 {
		return nil
	}
	w := &lockWait{most: most, say: func(text string) {
		if quiet := c.Flags().Lookup("quiet"); quiet == nil || quiet.Value.String() != "true" {
			fmt.Fprintf(e.Stderr, "%s: %s\n", e.name, text)
		}
	}}
	c.SetContext(context.WithValue(c.Context(), lockWaitKey{}, w))
	return nil
}

// waitingFiles is a file system whose Lock waits for the time of --wait-lock.
type waitingFiles struct{ *dfs.Mux }

// Lock implements dfs.FS.
func (f waitingFiles) Lock(ctx context.Context, name string) (dfs.Lock, error) {
	return waitFor(ctx, func() (dfs.Lock, error) { return f.Mux.Lock(ctx, name) })
}

// waitFor retries until the lock is free or the time of --wait-lock has passed.
func waitFor(ctx context.Context, take func() (dfs.Lock, error)) (dfs.Lock, error) {
	l, err := take()
	w, ok := ctx.Value(lockWaitKey{}).(*lockWait)
	if !ok || !errors.Is(err, dfs.ErrLocked) {
		return l, err
	}
	w.say(fmt.Sprintf("waiting, for %s at the most: %v", w.most, err))
	for until := time.Now().Add(w.most); errors.Is(err, dfs.ErrLocked); {
		left := time.Until(until)
		if left <= 0 {
			break
		}
		if ended := pipe.Sleep(ctx, min(lockEvery, left)); ended != nil {
			return nil, ended
		}
		l, err = take()
	}
	return l, err
}
