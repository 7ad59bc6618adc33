// Package local implements dfs on the disks of this machine, and on file systems that are
// mounted there.
//
// # A file being written
//
// A pending file is in the directory of its final name. List hides its temporary name
// and Sweep recognizes it:
//
//	.part-00000.parquet.1f0c6b62d1a0e9f4.tmp
//
// Commit flushes and fsyncs the file, renames it and fsyncs the directory. After
// Commit has returned, the file survives a power cut. Before that, the old file
// survives. While a long file is being written, its pages are sent
// to disk piece by piece, so that the fsync at the end has little to do.
//
// # A lock
//
// A lock is flock on a file. Unlock keeps the file and Drop removes it. The file names the
// holder of the lock for the error message of other processes. The kernel releases the lock
// when the holder dies. If a person removes or replaces the file, or the directory above it, the
// lock is lost. Each change therefore first checks the locks that this FS holds.
//
// Names are paths of the operating system. Errors are *fs.PathError
// with the name that the caller passed, not the temporary name. If a link to itself is above
// that name, they have the name of the link. A cancelled
// context also ends reads and writes of open files.
package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"usertrail/internal/store/dfs"
)

// New returns the local file system.
func New() dfs.FS { return local{new(dfs.Locks[*lock])} }

type local struct{ locks *dfs.Locks[*lock] }

func (local) Stat(ctx context.Context, name string) (dfs.Info, error) {
	if err := ready(ctx, "stat", name); err != nil {
		return dfs.Info{}, err
	}
	fi, err := os.Stat(name)
	if err != nil {
		return dfs.Info{}, named("stat", name, err)
	}
	return info(name, fi), nil
}

func (local) List(ctx context.Context, dir string) ([]dfs.Info, error) {
	if err := ready(ctx, "list", dir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, named("list", dir, err)
	}
	out := make([]dfs.Info, 0, len(entries))
	for _, e := range entries {
		if dfs.IsPending(e.Name()) {
			continue
		}
		name := dfs.Join(dir, e.Name())
		fi, err := entryInfo(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it disappeared in the meantime
		}
		if err != nil {
			return nil, named("list", name, err)
		}
		out = append(out, info(name, fi))
	}
	return out, nil
}

// entryInfo describes the target of a link, because logs are often linked into
// place. It describes a link without a target too, so that opening it reports the error.
func entryInfo(name string) (fs.FileInfo, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return os.Lstat(name)
	}
	return fi, nil
}

func (s local) Mkdir(ctx context.Context, dir string) error {
	if err := s.change(ctx, "mkdir", dir); err != nil {
		return err
	}
	return named("mkdir", dir, mkdirAll(filepath.Clean(dir)))
}

// mkdirAll makes dir and the directories above it. It syncs the parent of each new directory:
// otherwise a power cut could remove a new directory and the
// committed files inside.
func mkdirAll(dir string) error {
	fi, err := os.Stat(dir)
	if err == nil && !fi.IsDir() {
		return dfs.ErrNotDir
	}
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := mkdirAll(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
			return dfs.ErrNotDir // a link to nothing
		}
		return nil // another process was faster
	}
	return syncDir(parent)
}

func (s local) Remove(ctx context.Context, name string) error {
	if err := s.change(ctx, "remove", name); err != nil {
		return err
	}
	if clean := filepath.Clean(name); clean == filepath.Dir(clean) {
		return named("remove", name, fs.ErrInvalid) // a root, certainly a mistake
	}
	return named("remove", name, os.RemoveAll(name))
}

// ready returns an error if the name is empty or the context has ended.
func ready(ctx context.Context, op, name string) error {
	if name == "" {
		return &fs.PathError{Op: op, Path: `""`, Err: fs.ErrInvalid}
	}
	if ctx.Err() != nil {
		return &fs.PathError{Op: op, Path: name, Err: context.Cause(ctx)}
	}
	return nil
}

// change is like ready, for an operation that changes something. It fails if this FS has lost a
// lock.
func (s local) change(ctx context.Context, op, name string) error {
	if err := ready(ctx, op, name); err != nil {
		return err
	}
	return named(op, name, s.locks.Held(ctx))
}

// named returns err as an error of op on name. It removes the system's own prefix, which
// names the call and the temporary file. If a link to itself above name is the cause, the error
// names the link.
func named(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	var link *os.LinkError
	var call *os.SyscallError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	case errors.As(err, &call):
		err = call.Err
	}
	if errors.Is(err, syscall.ENOTDIR) {
		err = dfs.ErrNotDir
	}
	if errors.Is(err, syscall.ELOOP) {
		name = loopOf(name)
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// loopOf returns name, or the link to itself above it.
func loopOf(name string) string {
	for {
		if _, err := os.Lstat(name); !errors.Is(err, syscall.ELOOP) {
			return name
		}
		name = filepath.Dir(name)
	}
}

func info(name string, fi fs.FileInfo) dfs.Info {
	in := dfs.Info{Name: name, Modified: fi.ModTime(), Dir: fi.IsDir()}
	in.Special = fi.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice|fs.ModeIrregular) != 0
	in.Lost = fi.Mode()&fs.ModeSymlink != 0 // Stat follows a link
	if !in.Dir {
		in.Size = fi.Size()
	}
	return in
}

// syncDir writes a directory's entries to disk. Some network file systems
// cannot do this and return EINVAL. syncDir ignores that error.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
