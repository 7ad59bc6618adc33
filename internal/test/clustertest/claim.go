package clustertest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// claimLimit is how long a test waits for tests of other processes.
const claimLimit = time.Hour

// A claim is this process's share of the cluster, which the tests of all processes share. The
// kernel releases it when the process ends.
//
// A process that wants the cluster locks the gate first, and holds it while it waits. A
// process that wants exclusive use is therefore not overtaken by later ones.
type claim struct {
	gate, use *flock.Flock
	tests     int // number of tests of this process that use it
	alone     bool
}

func claimOn(dir string) claim {
	return claim{gate: flock.New(filepath.Join(dir, "gate.lock")), use: flock.New(filepath.Join(dir, "test.lock"))}
}

var errShared = errors.New("a test that shares it by Get cannot have it by Alone")

// take lets one more test of this process use the cluster. The first test waits for other
// processes, and calls ready to check whether everything is up. If it is not, ready is called
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

// enter does the work of take while the gate is held.
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

// lock calls try until it succeeds.
func lock(ctx context.Context, try func(context.Context, time.Duration) (bool, error)) error {
	if _, err := try(ctx, 100*time.Millisecond); err != nil {
		return fmt.Errorf("wait for other tests to be done with the cluster: %w", err)
	}
	return nil
}

// release ends the use by one test.
func (c *claim) release() error {
	if c.tests--; c.tests > 0 {
		return nil
	}
	return c.use.Unlock()
}
