package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

func (local) Publish(ctx context.Context, from, to string) error {
	if err := ready(ctx, "publish", from); err != nil {
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

// syncParents brings a rename to disk: the new entry first, then the loss of the
// old one.
func syncParents(from, to string) error {
	old, now := filepath.Dir(filepath.Clean(from)), filepath.Dir(filepath.Clean(to))
	if err := syncDir(now); err != nil || old == now {
		return err
	}
	return syncDir(old)
}

// renamePortably renames without replacing on file systems whose rename cannot
// be told not to. Of two that publish at once, one wins here too:
//
//   - a file is linked to its new name, which fails if the name is taken, and
//     then unlinked from the old one;
//   - rename replaces a directory only with a directory, and only an empty one.
//     So what came in between the look and the rename is either kept, or was
//     an empty directory in which nothing is lost.
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
	// os.Rename would look for the directory again, and then say EEXIST.
	err = syscall.Rename(from, to)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.ENOTDIR) {
		return fs.ErrExist
	}
	return err
}
