package local

import (
	"context"
	"io"
	"os"
	"syscall"

	"usertrail/internal/store/dfs"
)

// file is an open file. It holds its context, because io.Reader has no parameter for one.
type file struct {
	ctx  context.Context
	name string
	f    *os.File
	size int64
}

func (local) Open(ctx context.Context, name string) (dfs.File, error) {
	if err := ready(ctx, "open", name); err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, named("open", name, err)
	}
	fi, err := f.Stat()
	if err == nil && fi.IsDir() {
		err = syscall.EISDIR
	}
	if err != nil {
		f.Close()
		return nil, named("open", name, err)
	}
	return &file{ctx: ctx, name: name, f: f, size: fi.Size()}, nil
}

// Size returns the size that the file had when it was opened.
func (f *file) Size() int64 { return f.size }

func (f *file) Read(p []byte) (int, error) {
	if err := ready(f.ctx, "read", f.name); err != nil {
		return 0, err
	}
	n, err := f.f.Read(p)
	return n, f.readError(err)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := ready(f.ctx, "read", f.name); err != nil {
		return 0, err
	}
	n, err := f.f.ReadAt(p, off)
	return n, f.readError(err)
}

// readError returns io.EOF unchanged, because readers compare it.
func (f *file) readError(err error) error {
	if err == io.EOF {
		return err
	}
	return named("read", f.name, err)
}

func (f *file) Close() error { return named("close", f.name, f.f.Close()) }
