package clustertest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// claimLimit is how long a test waits for those of other processes.
const claimLimit = time.Hour

// A claim is this process's part in the cluster that all processes' tests share. The
// kernel takes it back when the process ends.
//
// Who wants the cluster locks the gate first and holds it while it waits, so that those
// who come later let one pass who wants it alone.
type claim struct {
	gate, use *flock.Flock
	tests     int // of this process that have it
	alone     bool
}

func claimOn(dir string) claim {
	return claim{gate: flock.New(filepath.Join(dir, "gate.lock")), use: flock.New(filepath.Join(dir, "test.lock"))}
}

var errShared = errors.New("a test that shares it by Get cannot have it by Alone")

// take lets one more test of this process use the cluster. The first of them waits for
// other processes, and asks ready whether all is up; where it is not, ready is asked
// again when no other process uses the cluster.
func (c *claim) take(alone bool, ready func(alone bool) (bool, error)) error {
	if c.tests > 0 {
		if alone && !c.alone {
			return errShared
		}
		c.tests++
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), claimLimit)
	defer cancel()
	if err := lock(ctx, c.gate.TryLockContext); err != nil {
		return err
	}
	err := c.enter(ctx, alone, ready)
	if err != nil {
		err = errors.Join(err, c.use.Unlock())
	} else {
		c.tests, c.alone = 1, alone
	}
	return errors.Join(err, c.gate.Unlock())
}

// enter is done with the gate held.
func (c *claim) enter(ctx context.Context, alone bool, ready func(alone bool) (bool, error)) error {
	if !alone {
		if err := lock(ctx, c.use.TryRLockContext); err != nil {
			return err
		}
		if up, err := ready(false); up || err != nil {
			return err
		}
		if err := c.use.Unlock(); err != nil {
			return err
		}
	}
	if err := lock(ctx, c.use.TryLockContext); err != nil {
		return err
	}
	if _, err := ready(true); err != nil || alone {
		return err
	}
	if err := c.use.Unlock(); err != nil {
		return err
	}
	return lock(ctx, c.use.TryRLockContext)
}

// lock tries until it has what it tries for.
func lock(ctx context.Context, try func(context.Context, time.Duration) (bool, error)) error {
	if _, err := try(ctx, 100*time.Millisecond); err != nil {
		return fmt.Errorf("wait for other tests to be done with the cluster: %w", err)
	}
	return nil
}

// giveBack ends the use of one test.
func (c *claim) giveBack() error {
	if c.tests--; c.tests > 0 {
		return nil
	}
	return c.use.Unlock()
}
