package dfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
)

// ErrSpecial is wrapped where a file is meant and a pipe, socket or device is found.
var ErrSpecial = errors.New("a pipe, socket or device, and not a file")

// OpenRegular is Open of a file that must be one: opening a pipe could wait forever. It fails
// with ErrSpecial if name is no file.
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

// ReadFile reads a small file whole.
func ReadFile(ctx context.Context, fs FS, name string) ([]byte, error) {
	f, err := fs.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return b, nil
}

// WriteFile writes a small file, whole or not at all.
func WriteFile(ctx context.Context, fs FS, name string, b []byte) error {
	return writeFile(ctx, fs.Create, name, b)
}

// WriteNew is WriteFile of a file that must not be there; it fails with fs.ErrExist if
// one is.
func WriteNew(ctx context.Context, fs FS, name string, b []byte) error {
	return writeFile(ctx, fs.CreateNew, name, b)
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
