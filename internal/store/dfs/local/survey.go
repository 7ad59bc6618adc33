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
	if errors.Is(err, fs.ErrPermission) {
		return unlockable(name, err)
	}
	if err != nil {
		return nil //nolint:nilerr // the lock may not exist, and other errors are not about permissions
	}
	return f.Close()
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
