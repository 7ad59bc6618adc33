package dfs

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrNoLock is wrapped by Lock, next to fs.ErrExist, if something that is not a lock has the name of the lock.
var ErrNoLock = errors.New("it is no lock: move it away")

// ErrNotFile is wrapped when a file is expected and a directory is found.
var ErrNotFile = errors.New("a directory, and not a file")

// Locks holds the locks that an FS has taken, so that each change can check them first. Many goroutines may use it. The zero Locks
// holds none.
type Locks[L interface {
	comparable
	Check(ctx context.Context) error // an error unless the lock is still held
}] struct {
	mu  sync.Mutex
	all []L
}

// Add adds a lock.
func (ls *Locks[L]) Add(l L) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.all = append(ls.all, l)
}

// Remove removes l and reports whether l was there. Whoever releases a lock removes it first.
func (ls *Locks[L]) Remove(l L) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	n := len(ls.all)
	ls.all = slices.DeleteFunc(ls.all, func(m L) bool { return m == l })
	return len(ls.all) < n
}

// Held returns an error unless all locks are still held. A lock that is removed while Held checks it is no longer checked: its
// holder may have released it.
func (ls *Locks[L]) Held(ctx context.Context) error {
	ls.mu.Lock()
	all := slices.Clone(ls.all)
	ls.mu.Unlock()
	for _, l := range all {
		if err := l.Check(ctx); err != nil && ls.has(l) {
			return err
		}
	}
	return nil
}

func (ls *Locks[L]) has(l L) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return slices.Contains(ls.all, l)
}
