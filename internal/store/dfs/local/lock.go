package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"usertrail/internal/run/pipe"
	"usertrail/internal/store/dfs"
)

// maxHolder is the largest size of a lock file in bytes. A longer file is not a lock.
const maxHolder = 200

// mostShared is the time after which a process that shares a lock is considered stopped.
const mostShared = time.Minute

// holderBegins is the beginning of a lock file's text.
const holderBegins = "process "

type lock struct {
	name string
	l    *flock.Flock
	of   *dfs.Locks[*lock]
}

// Lock takes the lock called name and makes the directories above it. If a file of that name
// is not a lock, Lock fails with fs.ErrExist and does not change the file. The lock must
// not be in a directory that its holder removes.
func (s local) Lock(ctx context.Context, name string) (dfs.Lock, error) {
	if err := s.change(ctx, "lock", name); err != nil {
		return nil, err
	}
	if err := mkdirAll(filepath.Dir(name)); err != nil {
		return nil, unlockable(name, err)
	}
	if err := lockLike(name); err != nil {
		return nil, named("lock", name, err)
	}
	l, err := take(ctx, name)
	if err != nil {
		return nil, unlockable(name, err)
	}
	if l == nil {
		return nil, fmt.Errorf("lock %s: %w%s", name, dfs.ErrLocked, holder(name))
	}
	if err := isLock(name); err != nil {
		return nil, named("lock", name, errors.Join(err, l.Unlock()))
	}
	if err := os.WriteFile(name, []byte(self()), 0o666); err != nil {
		l.Unlock()
		return nil, named("lock", name, err)
	}
	held := &lock{name: name, l: l, of: s.locks}
	s.locks.Add(held)
	return held, nil
}

// unlockable returns the error for a lock that cannot be taken. If a permission is missing, the
// error names the user who needs it. If a link to nothing has the name, the error has the next step.
func unlockable(name string, err error) error {
	err = named("lock", name, err)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w%s", err, whose(name))
	case errors.Is(err, fs.ErrNotExist):
		if fi, failed := os.Lstat(name); failed == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%w: %w: it is a link to nothing and no lock: move it away", fs.ErrExist, err)
		}
	}
	return err
}

// take locks the file called name, and makes it if it does not exist. It returns nil if another
// process has the lock. If the holder dropped the file between its opening and its locking,
// take tries again.
func take(ctx context.Context, name string) (*flock.Flock, error) {
	for {
		l := flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o666))
		taken, err := tryLock(ctx, l)
		if err != nil || !taken {
			return nil, errors.Join(err, l.Close())
		}
		there, err := current(l)
		if err != nil {
			return nil, errors.Join(err, l.Unlock())
		}
		if there {
			return l, nil
		}
		if err := l.Unlock(); err != nil {
			return nil, err
		}
	}
}

// current reports whether the locked file still has its name.
func current(l *flock.Flock) (bool, error) {
	ours, err := l.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(l.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(ours, there), err
}

// tryLock repeats the attempt while other processes only share the lock, as Held does for a moment. On a busy
// machine a process may share it for longer, but not for as long as mostShared.
func tryLock(ctx context.Context, l *flock.Flock) (bool, error) {
	for began := time.Now(); ; {
		taken, err := l.TryLock()
		if taken || err != nil || time.Since(began) > mostShared {
			return taken, err
		}
		if free, err := shareable(l.Path()); !free || err != nil {
			return false, err
		}
		// Two processes that look at the same time see each other. They try again at different times.
		if err := pipe.Sleep(ctx, time.Millisecond+rand.N(4*time.Millisecond)); err != nil {
			return false, err
		}
	}
}

// shareable shares the lock called name for a moment, and reports whether no process has it. A file that
// does not exist is no lock.
func shareable(name string) (bool, error) {
	l := flock.New(name, flock.SetFlag(os.O_RDONLY))
	free, err := l.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return free, errors.Join(err, l.Close())
}

// Unlock releases the lock. A second call does nothing. The file stays.
func (l *lock) Unlock() error {
	if !l.of.Remove(l) {
		return nil
	}
	return l.release(l.Check(context.Background()))
}

// Drop removes the file while it is locked. If another process has the file open already,
// take finds that the file no longer has its name.
func (l *lock) Drop() error {
	if !l.of.Remove(l) {
		return nil
	}
	err := l.Check(context.Background())
	if err == nil {
		err = os.Remove(l.name)
	}
	return l.release(err)
}

// release closes the file, and returns err or the error of the close.
func (l *lock) release(err error) error {
	if fail := l.l.Unlock(); err == nil {
		err = fail
	}
	return named("unlock", l.name, err)
}

// Check returns an error unless the lock is still held.
func (l *lock) Check(context.Context) error {
	there, err := current(l.l)
	switch {
	case err != nil:
		return fmt.Errorf("is the lock %s still held: %w", l.name, err)
	case !there:
		return fmt.Errorf("%w: %s was moved, removed or replaced while this run held it", dfs.ErrLockLost, l.name)
	}
	return nil
}

// lockLike returns fs.ErrExist if the thing called name is no file: a directory, a link to itself, or a pipe, socket or device. To read
// a pipe would block without limit.
func lockLike(name string) error {
	fi, err := os.Stat(name)
	var what error
	switch {
	case errors.Is(err, syscall.ELOOP):
		what = syscall.ELOOP
	case err != nil:
		return nil //nolint:nilerr // the lock may not exist, and its opening reports other errors
	case fi.IsDir():
		what = dfs.ErrNotFile
	case info(name, fi).Special:
		what = dfs.ErrSpecial
	default:
		return nil
	}
	return fmt.Errorf("%w: %w: %w", fs.ErrExist, what, dfs.ErrNoLock)
}

// isLock returns fs.ErrExist and dfs.ErrNoLock if a file contains anything except the text of a lock's holder.
func isLock(name string) error {
	fi, err := os.Stat(name)
	if err != nil || fi.Size() == 0 {
		return err
	}
	if who := told(name); fi.Size() > maxHolder || who != "" && !strings.HasPrefix(who, holderBegins) {
		return fmt.Errorf("%w: %w", fs.ErrExist, dfs.ErrNoLock)
	}
	return nil
}

// self returns the text of a lock file for this holder.
func self() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf(holderBegins+"%d on %s since %s\n", os.Getpid(), host, time.Now().Format(time.RFC3339))
}

// holder returns the text of a lock file with its holder, or "".
func holder(name string) string {
	if who := told(name); who != "" {
		return ": " + who
	}
	return ""
}

// told returns the contents of a lock file.
func told(name string) string {
	b, err := os.ReadFile(name)
	if err != nil || len(b) > maxHolder {
		return ""
	}
	return strings.TrimSpace(string(b))
}
