package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// A Private is a new directory for the data that one process spills. Only its user can
// read it. It contains a lock file, which shows whether the process is alive.
type Private struct {
	name string
	lock *flock.Flock
}

const (
	privatePrefix = "usertrail-spill-"
	privateLock   = "lock"
	// privateTries is the number of attempts to make a directory, because another process may
	// remove it before it is locked.
	privateTries = 100
)

// MakePrivate makes a directory in dir. It fails with fs.ErrNotExist if dir does not exist. It
// also removes the directories that dead processes of the same user left in dir. Processes of
// several containers or machines may share dir.
func MakePrivate(dir string) (*Private, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("make a directory to spill into: %w", err)
	}
	sweepPrivate(dir)
	for range privateTries {
		p, err := makePrivate(dir)
		if p != nil || err != nil {
			return p, err
		}
	}
	return nil, fmt.Errorf("make a directory to spill into: %s: each was removed by another process at once", dir)
}

// makePrivate returns nil if another process removed the directory before it was locked.
func makePrivate(dir string) (*Private, error) {
	name, err := os.MkdirTemp(dir, privatePrefix) // 0700
	if err != nil {
		return nil, fmt.Errorf("make a directory to spill into: %w", err)
	}
	p := &Private{name: name, lock: flock.New(filepath.Join(name, privateLock), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))}
	taken, err := p.lock.TryLock()
	there := false
	if taken {
		there, _ = current(p.lock) // if it cannot be checked, it counts as removed
	}
	switch {
	case there:
		return p, nil
	case taken || err == nil || errors.Is(err, fs.ErrNotExist):
		return nil, errors.Join(p.lock.Unlock(), os.RemoveAll(name))
	}
	return nil, errors.Join(fmt.Errorf("lock a directory to spill into: %w", err), os.RemoveAll(name))
}

// Name returns the directory's name.
func (p *Private) Name() string { return p.name }

// Remove removes the directory with everything in it.
func (p *Private) Remove() error {
	return errors.Join(os.RemoveAll(p.name), p.lock.Unlock())
}

// sweepPrivate removes the directories that dead processes left in dir. It keeps directories
// that it may not or cannot remove.
func sweepPrivate(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), privatePrefix) {
			removeDead(filepath.Join(dir, e.Name()))
		}
	}
}

// removeDead removes a directory if no process holds its lock. If a directory has no lock file,
// removeDead removes it only if it is empty: its process died before it could lock the
// directory, or is about to lock it. Otherwise the directory is not ours.
func removeDead(name string) {
	fi, err := os.Lstat(name)
	if err != nil || !ownedByMe(fi) {
		return
	}
	l := flock.New(filepath.Join(name, privateLock), flock.SetFlag(os.O_RDWR))
	free, err := l.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		os.Remove(name) // fails unless it is empty
		return
	}
	if err != nil || !free {
		return
	}
	os.RemoveAll(name)
	l.Unlock()
}
