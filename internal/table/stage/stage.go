// Package stage writes an HFile for a table and proves it: nobody is told of a file
// before it has been read back whole and holds what was written.
package stage

import (
	"context"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/tally"
)

// A Stager is where files of any kind are staged.
type Stager interface {
	Stage(ctx context.Context, name string) (dfs.Pending, error)
}

// A Target is where HFiles are staged; a table.Stager is one.
type Target interface {
	Stager
	FileOptions(ctx context.Context) (hfile.Options, error)
	Staged(ctx context.Context, name string) (dfs.File, error)
}

// A File is an HFile that is being written.
type File struct {
	to   Target
	name string
	out  *Output
	w    *hfile.Writer
}

// Meta says what was written.
type Meta struct {
	FirstRow, LastRow []byte
	Size              int64
	Sum               string // xxh64 of its bytes, in hex
}

// Create begins the file called name.
func Create(ctx context.Context, to Target, name string) (*File, error) {
	options, err := to.FileOptions(ctx)
	if err != nil {
		return nil, err
	}
	out, err := NewOutput(ctx, to, name)
	if err != nil {
		return nil, err
	}
	w, err := hfile.NewWriter(out, options)
	if err != nil {
		out.Abort()
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &File{to, name, out, w}, nil
}

// Add adds the next cell.
func (f *File) Add(c *cell.Cell) error { return f.w.Add(c) }

// Finish completes the file, reads it back, and fails unless it holds the cells of
// want.
func (f *File) Finish(ctx context.Context, want tally.Tally) (Meta, error) {
	meta, err := f.w.Close()
	if err == nil {
		err = f.out.Commit()
	}
	if err != nil {
		return Meta{}, fmt.Errorf("write %s: %w", f.name, err)
	}
	breakpoint.Reach(breakpoint.Segment)
	if err := f.prove(ctx, want); err != nil {
		return Meta{}, fmt.Errorf("read %s back: %w", f.name, err)
	}
	return Meta{meta.FirstRow, meta.LastRow, f.out.Size(), f.out.Sum()}, nil
}

func (f *File) prove(ctx context.Context, want tally.Tally) error {
	in, err := f.to.Staged(ctx, f.name)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := hfile.Open(in, in.Size())
	if err != nil {
		return err
	}
	var back tally.Counter
	if err := r.Verify(func(c *cell.Cell) error { back.Add(c); return nil }); err != nil {
		return err
	}
	if back.Tally != want {
		return fmt.Errorf("it holds %s; written were %s", back.Tally, want)
	}
	return nil
}

// Abort throws a file away that is not finished.
func (f *File) Abort() { f.out.Abort() }

// An Output is a pending file that counts and hashes what is written to it.
type Output struct {
	dfs.Pending
	hash  *xxhash.Digest
	bytes int64
}

// NewOutput begins a file of any kind.
func NewOutput(ctx context.Context, to Stager, name string) (*Output, error) {
	f, err := to.Stage(ctx, name)
	if err != nil {
		return nil, err
	}
	return &Output{Pending: f, hash: xxhash.New()}, nil
}

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	n, err := o.Pending.Write(b)
	o.hash.Write(b[:n])
	o.bytes += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}

// Size is how many bytes were written.
func (o *Output) Size() int64 { return o.bytes }

// Sum is the xxh64 of what was written, in hex.
func (o *Output) Sum() string { return fmt.Sprintf("%016x", o.hash.Sum64()) }
