package dfs_test

import (
	"context"
	"errors"
	"testing"

	"usertrail/internal/store/dfs"
)

// A checked is a lock whose check returns err. If drop is set, its holder drops it during the check.
type checked struct {
	err  error
	drop func()
}

func (c *checked) Check(context.Context) error {
	if c.drop != nil {
		c.drop()
	}
	return c.err
}

// Held passes over a lock that was dropped during its check, and still finds a lost lock behind it.
func TestLocksHeld(t *testing.T) {
	var ls dfs.Locks[*checked]
	dropped := &checked{err: errors.New("its file is no longer there")}
	dropped.drop = func() {
		if !ls.Remove(dropped) {
			t.Error("Remove did not find the lock")
		}
	}
	ls.Add(dropped)
	if err := ls.Held(t.Context()); err != nil {
		t.Errorf("a lock that is dropped during its check: %v", err)
	}
	if ls.Remove(dropped) {
		t.Error("Remove found the lock twice")
	}
	lost := &checked{err: errors.New("the lock was lost")}
	ls.Add(dropped)
	ls.Add(&checked{})
	ls.Add(lost)
	if err := ls.Held(t.Context()); !errors.Is(err, lost.err) {
		t.Errorf("Held gave %v, want %v", err, lost.err)
	}
	ls.Remove(lost)
	if err := ls.Held(t.Context()); err != nil {
		t.Errorf("the lost lock was removed: %v", err)
	}
}
