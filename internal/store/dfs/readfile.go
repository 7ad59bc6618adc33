package dfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
)

// ErrSpecial is wrapped when a file is expected and a pipe, socket or device is found.
var ErrSpecial = errors.New("a pipe, socket or device, and not a file")

// OpenRegular opens a file, and fails with ErrSpecial if a local name is a pipe, socket or
// device: opening a pipe could block without limit.
func OpenRegular(ctx context.Context, fs FS, name string) (File, error) {
	if Scheme(name) == "" {
		info, err := fs.Stat(ctx, name)
		if err != nil {
			return nil, err
		}
		if info.Special {
			return nil, &iofs.PathError{Op: "open", Path: name, Err: ErrSpecial}
		}
	}
	return fs.Open(ctx, name)
}

// ReadFile reads the whole of a small file.
func ReadFile(ctx context.Context, fs FS, name string) ([]byte, error) {
	f, err := fs.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	b.Grow(int(f.Size()) + bytes.MinRead) // so that the buffer does not grow before the end
	if _, err := b.ReadFrom(f); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// WriteFile writes a small file. The file is whole, or it does not change.
func WriteFile(ctx context.Context, fs FS, name string, b []byte) error {
	return writeFile(ctx, fs.Create, name, b)
}

// WriteNew is like WriteFile, but the file must not exist. It fails with fs.ErrExist if
// the file exists.
func WriteNew(ctx context.Context, fs FS, name string, b []byte) error {
	return writeFile(ctx, fs.CreateNew, name, b)
}

// WriteScratch is like WriteFile, but a power cut can lose the file: see FS.Scratch.
func WriteScratch(ctx context.Context, fs FS, name string, b []byte) error {
	return writeFile(ctx, fs.Scratch, name, b)
}

func writeFile(ctx context.Context, create func(context.Context, string) (Pending, error), name string, b []byte) error {
	f, err := create(ctx, name)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(b); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.Commit()
}
