package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"usertrail/internal/store/dfs"
)

// Room implements dfs.Surveyor. It counts the free space that this user may use.
func (local) Room(ctx context.Context, dir string) (dfs.Room, error) {
	if err := ready(ctx, "survey", dir); err != nil {
		return dfs.Room{}, err
	}
	at, err := nearest(dir)
	if err != nil {
		return dfs.Room{}, named("survey", dir, err)
	}
	n, err := free(at)
	return dfs.Room{Bytes: n, Limit: "free space"}, named("survey", dir, err)
}

// Try implements dfs.Surveyor.
func (local) Try(ctx context.Context, dir string) (time.Time, error) {
	if err := ready(ctx, "survey", dir); err != nil {
		return time.Time{}, err
	}
	at, err := nearest(dir)
	if err != nil {
		return time.Time{}, named("survey", dir, err)
	}
	made, err := tryIn(at)
	if errors.Is(err, fs.ErrPermission) {
		return made, fmt.Errorf("%w%s", named("survey", dir, err), whose(at))
	}
	return made, named("survey", dir, err)
}

// Lockable implements dfs.LockTester.
func (local) Lockable(ctx context.Context, name string) error {
	if err := ready(ctx, "lock", name); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return unlockable(name, err)
	case errors.Is(err, fs.ErrNotExist):
		return lockableLink(name)
	case err != nil:
		return nil //nolint:nilerr // another method reports the error
	}
	if err := f.Close(); err != nil {
		return err
	}
	return named("lock", name, isLock(name))
}

// lockableLink returns the error with which Lock fails if name is a link to a file that cannot be made, because its directory does not exist.
func lockableLink(name string) error {
	real, err := realPath(name)
	if err != nil {
		return named("lock", name, err)
	}
	if _, err := os.Stat(filepath.Dir(real)); errors.Is(err, fs.ErrNotExist) {
		if err := unlockable(name, err); errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil // Lock makes the file and, unless name is a link, its directories
}

// tryIn makes a file, reads its time and removes it.
func tryIn(dir string) (time.Time, error) {
	name := filepath.Join(dir, dfs.PendingName("try"))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return time.Time{}, err
	}
	fi, err := f.Stat()
	if err = errors.Join(err, f.Close(), os.Remove(name)); err != nil {
		return time.Time{}, err
	}
	return fi.ModTime(), nil
}

// Held implements dfs.Surveyor. It shares the lock for a moment, and Lock tries again in the meantime.
func (local) Held(ctx context.Context, name string) (held bool, who string, err error) {
	if err := ready(ctx, "survey", name); err != nil {
		return false, "", err
	}
	if err := lockLike(name); err != nil {
		return false, "", named("lock", name, err)
	}
	free, err := shareable(name)
	if free || err != nil {
		return false, "", named("survey", name, err)
	}
	return true, told(name), nil
}

// nearest returns dir, or the nearest directory above it that exists.
func nearest(dir string) (string, error) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		fi, err := os.Stat(at)
		switch {
		case err == nil && !fi.IsDir():
			return "", dfs.ErrNotDir
		case err == nil:
			return at, nil
		case !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at):
			return "", err
		}
	}
}
