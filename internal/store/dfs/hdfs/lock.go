package hdfs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"usertrail/internal/store/dfs"
)

// holderAttribute names the holder of a lock. processAttribute identifies the process of the
// holder for other processes on its machine.
const (
	holderAttribute  = "user.usertrail.holder"
	processAttribute = "user.usertrail.process"
)

// leaseLimit is the time after which HDFS takes the lease of a client that does not renew it
// (HdfsConstants.LEASE_SOFTLIMIT_PERIOD, which no configuration changes).
const leaseLimit = 60 * time.Second

// proofAge is the time for which a successful check of a lock stays valid. It must be
// well below the 60 s after which another client may take over a lease.
const proofAge = 10 * time.Second

// A lock is a lease on an empty file.
type lock struct {
	place
	s      *system
	name   string
	holder string // the value of the attribute while this process holds the lock
	w      *hdfs.FileWriter

	mu     sync.Mutex
	proved time.Time // when the lock was last known to be held
	err    error     // why the lock is no longer held
}

// Lock takes the lock called name and makes the directories above it. If Lock took
// the lock but the response was lost, it returns ErrLocked. The lock is free at most a
// minute after this process has ended.
func (s *system) Lock(ctx context.Context, name string) (dfs.Lock, error) {
	p, err := s.change(ctx, "lock", name)
	if err != nil {
		return nil, err
	}
	l, err := s.lock(ctx, p, name)
	if errors.Is(err, dfs.ErrLocked) {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	if err != nil {
		return nil, p.named("lock", name, err)
	}
	return l, nil
}

func (s *system) lock(ctx context.Context, p place, name string) (*lock, error) {
	if err := p.mkdirAll(ctx, path.Dir(p.path)); err != nil {
		return nil, err
	}
	l := &lock{place: p, s: s, name: name, holder: self()}
	if err := l.lease(ctx); err != nil {
		return nil, err
	}
	l.proved = time.Now()
	if err := l.sign(ctx); err != nil {
		l.release(ctx)
		return nil, err
	}
	s.locks.Add(l)
	return l, nil
}

// sign writes the attributes of the holder. It checks the lease last: a process that read a
// dead holder in the attributes may have taken the lease meanwhile.
func (l *lock) sign(ctx context.Context) error {
	if err := l.set(ctx, holderAttribute, l.holder); err != nil {
		return err
	}
	o, err := l.owner(ctx)
	if err != nil {
		return err
	}
	if !o.self {
		return l.taken(ctx, o.client)
	}
	if p := processOf(o.client); p != nil {
		if err := l.set(ctx, processAttribute, p.String()); err != nil {
			return err
		}
	}
	if o, err = l.owner(ctx); err == nil && !o.self {
		err = l.taken(ctx, o.client)
	}
	return err
}

func (l *lock) set(ctx context.Context, name, value string) error {
	return l.call(ctx, replacing, func(client *hdfs.Client) error { return client.SetXAttr(l.path, name, value) })
}

// lease takes the lease of the lock file, and makes the file if it does not exist. A holder
// that ran on this machine and has died loses the lease at once.
func (l *lock) lease(ctx context.Context) error {
	tried := false
	for range 4 { // the file may appear and disappear in the meantime
		err := l.call(ctx, replacing, l.open)
		switch {
		case exception(err) == alreadyCreated || exception(err) == recovering:
			o := ownerOf(err)
			if tried || !l.inherit(ctx, o) {
				return l.taken(ctx, o.client)
			}
			tried = true
			continue
		case errors.Is(err, dfs.ErrNoLock):
			return err
		case errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist):
			continue
		}
		return err
	}
	return l.taken(ctx, "")
}

// open opens the file for append, or makes it.
func (l *lock) open(client *hdfs.Client) error {
	fi, err := client.Stat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		var d hdfs.ServerDefaults
		if d, err = client.ServerDefaults(); err == nil {
			l.w, err = client.CreateFile(l.path, d.Replication, d.BlockSize, os.FileMode(0o666&^l.umask))
		}
	case err == nil:
		if err = isLock(fi); err == nil {
			l.w, err = client.Append(l.path)
		}
	}
	return err
}

// isLock returns fs.ErrExist and dfs.ErrNoLock for a directory, and for a file with content.
func isLock(fi fs.FileInfo) error {
	switch {
	case fi.IsDir():
		return fmt.Errorf("%w: %w: %w", fs.ErrExist, dfs.ErrNotFile, dfs.ErrNoLock)
	case fi.Size() > 0:
		return fmt.Errorf("%w: %w", fs.ErrExist, dfs.ErrNoLock)
	}
	return nil
}

// taken returns ErrLocked with the holder of the lock and the time by which HDFS frees the lock
// if the holder has died. client is the owner of the lease, or "" if it is unknown.
func (l *lock) taken(ctx context.Context, client string) error {
	attrs, err := l.attributes(ctx)
	who := attrs[holderAttribute]
	if err != nil || who == "" {
		who = "its holder is not known"
	}
	if p, ok := parseProcess(attrs[processAttribute]); ok && p.client == client && p.fate() == running {
		return fmt.Errorf("%w: %s, which is running", dfs.ErrLocked, who)
	}
	return fmt.Errorf("%w: %s; if that process has died, HDFS frees the lock within %s, by %s", dfs.ErrLocked, who, leaseLimit, time.Now().Add(leaseLimit).Format(time.TimeOnly))
}

// whose returns the value of the holder attribute.
func (l *lock) whose(ctx context.Context) (string, error) {
	attrs, err := l.attributes(ctx)
	return attrs[holderAttribute], err
}

func (l *lock) attributes(ctx context.Context) (map[string]string, error) {
	var attrs map[string]string
	err := l.call(ctx, replacing, func(client *hdfs.Client) (err error) {
		attrs, err = client.ListXAttrs(l.path)
		return err
	})
	return attrs, err
}

// Check returns an error unless the lock is still held.
func (l *lock) Check(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	asked := time.Now()
	if believed(asked.Round(0).Sub(l.proved.Round(0)), asked.Sub(l.proved)) {
		return nil
	}
	who, err := l.whose(ctx)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist) && exception(err) != notFound:
		return fmt.Errorf("is the lock %s still held: %w", l.name, plain(err))
	case who != l.holder:
		l.err = fmt.Errorf("%w: %s is held by %s", dfs.ErrLockLost, l.name, who)
		return l.err
	}
	l.proved = asked
	return nil
}

// believed reports whether the last check of the lock is recent enough. wall is its age by the
// wall clock, which may be set back. steady is its age by the monotonic clock, which
// stops while the machine is suspended.
func believed(wall, steady time.Duration) bool { return wall >= 0 && max(wall, steady) < proofAge }

// Unlock releases the lock. A second call does nothing.
func (l *lock) Unlock() error {
	if !l.s.locks.Remove(l) {
		return nil
	}
	if err := l.Check(context.Background()); err != nil {
		return err
	}
	return l.named("unlock", l.name, l.release(context.Background()))
}

// Drop removes the file while its lease is held. This ends the lease. A second call
// does nothing.
func (l *lock) Drop() error {
	if !l.s.locks.Remove(l) {
		return nil
	}
	ctx := context.Background()
	if err := l.Check(ctx); err != nil {
		return err
	}
	return l.named("unlock", l.name, l.cluster.remove(ctx, l.path))
}

// release closes the file. The file stays: a lease belongs to a file, not to a
// name, and another process may be about to take the lease of this file.
func (l *lock) release(ctx context.Context) error {
	return l.call(ctx, replacing, func(*hdfs.Client) error { return l.w.Close() })
}

// self returns the value of the holder attribute for this holder. Each value is unique.
func self() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("process %d on %s since %s (%s)", os.Getpid(), host, time.Now().Format(time.RFC3339), rand.Text()[:8])
}
