//go:build breakpoints

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
)

// leaseVariable is the environment variable that names a directory. Files with hdfs:// names
// are stored in it, in place of HDFS.
const leaseVariable = "USERTRAIL_HDFS"

func init() {
	remote = func(local dfs.FS, temp string) dfs.FS {
		if root := os.Getenv(leaseVariable); root != "" {
			return &leases{FS: local, root: root}
		}
		return hdfs.New(hdfs.Config{Temp: temp, Identity: user})
	}
}

// leases is a file system in a local directory with the names and locks of HDFS. A lock is a
// lease. A process loses the lease when another process empties the lock's file. Every change
// first checks that all leases are held, as package hdfs does. A process can be stopped
// between this check and the rename of a file.
type leases struct {
	dfs.FS
	root string

	mu   sync.Mutex
	held []*lease
}

// A lease is a lock. Its file holds the process ID and a unique number.
type lease struct {
	fs         *leases
	name, text string
}

// at returns the local path of a name.
func (l *leases) at(name string) string {
	_, rest, _ := strings.Cut(name, "://")
	_, rest, _ = strings.Cut(rest, "/")
	return filepath.Join(l.root, rest)
}

// back returns the name of a local path below the directory from.
func (l *leases) back(from, path string) string {
	return from + strings.TrimPrefix(path, l.at(from))
}

// check returns an error if a lease is lost.
func (l *leases) check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.held {
		if err := h.check(); err != nil {
			return err
		}
	}
	return nil
}

func (h *lease) check() error {
	b, err := os.ReadFile(h.fs.at(h.name))
	if err == nil && string(b) != h.text {
		err = fmt.Errorf("%w: %s is held by %q", dfs.ErrLockLost, h.name, b)
	}
	return err
}

// Lock implements dfs.FS.
func (l *leases) Lock(ctx context.Context, name string) (dfs.Lock, error) {
	if err := l.FS.Mkdir(ctx, filepath.Dir(l.at(name))); err != nil {
		return nil, err
	}
	f, err := alone(l.at(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	var pid int
	if _, err := fmt.Sscan(string(b), &pid); err == nil && syscall.Kill(pid, 0) == nil {
		return nil, fmt.Errorf("lock %s: %w: process %d", name, dfs.ErrLocked, pid)
	}
	h := &lease{fs: l, name: name, text: fmt.Sprintf("%d %p\n", os.Getpid(), &b)}
	if err := os.WriteFile(l.at(name), []byte(h.text), 0o666); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, h)
	return h, nil
}

// alone opens a file, and creates it if it does not exist. It waits until no other process
// has the file open.
func alone(name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		opened, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if now, err := os.Stat(name); err == nil && os.SameFile(opened, now) {
			return f, nil
		}
		if err := f.Close(); err != nil { // it was removed before it was locked
			return nil, err
		}
	}
}

// Drop unlocks, and removes the file of the lock.
func (h *lease) Drop() error {
	if err := h.Unlock(); err != nil {
		return err
	}
	return os.Remove(h.fs.at(h.name))
}

// Unlock implements dfs.Lock.
func (h *lease) Unlock() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	for i, o := range h.fs.held {
		if o == h {
			h.fs.held = append(h.fs.held[:i], h.fs.held[i+1:]...)
			if err := h.check(); err != nil {
				return err
			}
			return os.WriteFile(h.fs.at(h.name), nil, 0o666)
		}
	}
	return nil
}

// Open implements dfs.FS.
func (l *leases) Open(ctx context.Context, name string) (dfs.File, error) {
	return l.FS.Open(ctx, l.at(name))
}

// Create implements dfs.FS.
func (l *leases) Create(ctx context.Context, name string) (dfs.Pending, error) {
	return l.create(ctx, name, l.FS.Create)
}

// CreateNew implements dfs.FS.
func (l *leases) CreateNew(ctx context.Context, name string) (dfs.Pending, error) {
	return l.create(ctx, name, l.FS.CreateNew)
}

// Scratch implements dfs.FS.
func (l *leases) Scratch(ctx context.Context, name string) (dfs.Pending, error) {
	return l.create(ctx, name, l.FS.Scratch)
}

func (l *leases) create(ctx context.Context, name string, create func(context.Context, string) (dfs.Pending, error)) (dfs.Pending, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	p, err := create(ctx, l.at(name))
	if err != nil {
		return nil, err
	}
	return &leasedFile{p, l}, nil
}

// A leasedFile is a file being written.
type leasedFile struct {
	dfs.Pending
	fs *leases
}

// Commit implements dfs.Pending.
func (f *leasedFile) Commit() error {
	if err := f.fs.check(); err != nil {
		f.Abort()
		return err
	}
	breakpoint.Reach(breakpoint.Rename)
	return f.Pending.Commit()
}

// Stat implements dfs.FS.
func (l *leases) Stat(ctx context.Context, name string) (dfs.Info, error) {
	i, err := l.FS.Stat(ctx, l.at(name))
	i.Name = name
	return i, err
}

// List implements dfs.FS.
func (l *leases) List(ctx context.Context, dir string) ([]dfs.Info, error) {
	list, err := l.FS.List(ctx, l.at(dir))
	for i := range list {
		list[i].Name = l.back(dir, list[i].Name)
	}
	return list, err
}

// Mkdir implements dfs.FS.
func (l *leases) Mkdir(ctx context.Context, dir string) error {
	if err := l.check(); err != nil {
		return err
	}
	return l.FS.Mkdir(ctx, l.at(dir))
}

// Publish implements dfs.FS.
func (l *leases) Publish(ctx context.Context, from, to string) error {
	if err := l.check(); err != nil {
		return err
	}
	return l.FS.Publish(ctx, l.at(from), l.at(to))
}

// Remove implements dfs.FS.
func (l *leases) Remove(ctx context.Context, name string) error {
	if err := l.check(); err != nil {
		return err
	}
	return l.FS.Remove(ctx, l.at(name))
}

// Sweep implements dfs.FS.
func (l *leases) Sweep(ctx context.Context, dir string, but ...string) error {
	if err := l.check(); err != nil {
		return err
	}
	var kept []string
	for _, name := range but {
		kept = append(kept, l.at(name))
	}
	return l.FS.Sweep(ctx, l.at(dir), kept...)
}
