package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

func (s local) Publish(ctx context.Context, from, to string) error {
	if err := s.change(ctx, "publish", from); err != nil {
		return err
	}
	if err := ready(ctx, "publish", to); err != nil {
		return err
	}
	if _, err := os.Lstat(from); err != nil {
		return named("publish", from, err)
	}
	if err := renameNew(filepath.Clean(from), filepath.Clean(to)); err != nil {
		return named("publish", to, err)
	}
	return named("publish", to, syncParents(from, to))
}

// syncParents writes a rename to disk: first the new entry, then the removal of the
// old entry.
func syncParents(from, to string) error {
	old, now := filepath.Dir(filepath.Clean(from)), filepath.Dir(filepath.Clean(to))
	if err := syncDir(now); err != nil || old == now {
		return err
	}
	return syncDir(old)
}

// renamePortably renames without replacing, on file systems whose rename always
// replaces. If two processes publish at once, one succeeds:
//
//   - a file is linked to its new name, which fails if the name is taken, and
//     then unlinked from the old name;
//   - rename replaces a directory only with a directory, and only an empty one.
//     So if an entry appears between the check and the rename, the entry is kept, or it
//     was an empty directory and nothing is lost.
func renamePortably(from, to string) error {
	fi, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		if err := os.Link(from, to); err != nil {
			return err
		}
		return os.Remove(from)
	}
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	// os.Rename would check for the directory again, and then return EEXIST.
	err = syscall.Rename(from, to)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.ENOTDIR) {
		return fs.ErrExist
	}
	return err
}
