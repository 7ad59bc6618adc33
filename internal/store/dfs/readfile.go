package dfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"syscall"
)

// ErrSpecial is wrapped when a file is expected and a pipe, socket or device is found.
var ErrSpecial = errors.New("a pipe, socket or device, and not a file")

// OpenRegular opens a file, and fails with ErrSpecial if a local name is a pipe, socket or
// device: opening a pipe could block without limit.
func OpenRegular(ctx context.Context, fs FS, name string) (File, error) {
	if Scheme(name) == "" {
		if info, err := fs.Stat(ctx, name); err == nil && info.Special {
			return nil, &iofs.PathError{Op: "open", Path: name, Err: ErrSpecial}
		}
	}
	return fs.Open(ctx, name)
}

// Lost makes the error of a link to itself wrap fs.ErrNotExist, as the error of a link to nothing does. It returns any
// other error as it is.
func Lost(err error) error {
	if !errors.Is(err, syscall.ELOOP) || errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w: %w", err, iofs.ErrNotExist)
}

// ReadFile reads the whole of a small file.
func ReadFile(ctx context.Context, fs FS, name string) ([]byte, error) {
	f, err := OpenRegular(ctx, fs, name)
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

// A Source reads R and keeps the error that stopped the reading, unless it is io.EOF. The error is a fault of the storage. Any other
// error while the content is decoded is a fault of the file.
type Source struct {
	R   io.Reader
	Err error
}

// Read implements io.Reader.
func (s *Source) Read(b []byte) (int, error) {
	n, err := s.R.Read(b)
	if err != nil && err != io.EOF {
		s.Err = err
	}
	return n, err
}

// WriteFile writes a small file. The file is whole, or it does not change.
func WriteFile(ctx context.Context, fs FS, name string, b []byte) error {
	return WriteBy(ctx, fs, name, content(b))
}

// WriteBy is like WriteFile. write writes the content of the file.
func WriteBy(ctx context.Context, fs FS, name string, write func(io.Writer) error) error {
	return writeFile(ctx, fs.Create, name, write)
}

// WriteNewBy is like WriteBy, but the file must not exist. It fails with fs.ErrExist if
// the file exists.
func WriteNewBy(ctx context.Context, fs FS, name string, write func(io.Writer) error) error {
	return writeFile(ctx, fs.CreateNew, name, write)
}

// WriteScratch is like WriteFile, but a power cut can lose the file: see FS.Scratch.
func WriteScratch(ctx context.Context, fs FS, name string, b []byte) error {
	return writeFile(ctx, fs.Scratch, name, content(b))
}

// content returns a function that writes b.
func content(b []byte) func(io.Writer) error {
	return func(to io.Writer) error {
		_, err := to.Write(b)
		return err
	}
}

func writeFile(ctx context.Context, create func(context.Context, string) (Pending, error), name string, write func(io.Writer) error) error {
	f, err := create(ctx, name)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.Commit()
}
