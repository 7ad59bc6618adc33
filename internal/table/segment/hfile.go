package segment

import (
	"context"
	"fmt"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/tally"
)

// A Target creates staged files and opens them again. Every table.Stager is a Target.
type Target interface {
	Stager
	FileOptions(ctx context.Context) (hfile.Options, error)
	Staged(ctx context.Context, name string) (dfs.File, error)
}

// An HFile is a staged HFile that is being written. One goroutine uses it.
type HFile struct {
	to   Target
	name string
	out  *Output
	w    *hfile.Writer
}

// Meta describes a finished HFile.
type Meta struct {
	FirstRow, LastRow []byte
	Size              int64
	Sum               string // xxh64 of the file, in hex
}

// CreateHFile creates the staged HFile called name.
func CreateHFile(ctx context.Context, to Target, name string) (*HFile, error) {
	options, err := to.FileOptions(ctx)
	if err != nil {
		return nil, err
	}
	options.Distinct = true // a repeated key would be a second event
	out, err := NewOutput(ctx, to, name)
	if err != nil {
		return nil, err
	}
	w, err := hfile.NewWriter(out, options)
	if err != nil {
		out.Abort()
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &HFile{to, name, out, w}, nil
}

// Add writes the next cell.
func (f *HFile) Add(c *cell.Cell) error { return f.w.Add(c) }

// Finish commits the file and reads all of it back. It returns an error unless the file holds
// the cells of want.
func (f *HFile) Finish(ctx context.Context, want tally.Tally) (Meta, error) {
	meta, err := f.w.Close()
	if err == nil {
		err = f.out.Commit()
	}
	if err != nil {
		return Meta{}, fmt.Errorf("write %s: %w", f.name, err)
	}
	breakpoint.Reach(breakpoint.Segment)
	if err := f.verify(ctx, want); err != nil {
		return Meta{}, fmt.Errorf("read %s back: %w", f.name, err)
	}
	return Meta{meta.FirstRow, meta.LastRow, f.out.Size(), f.out.Sum()}, nil
}

// verify reads the file back and compares its cells with want.
func (f *HFile) verify(ctx context.Context, want tally.Tally) error {
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
	if err := r.VerifyDistinct(func(c *cell.Cell) error { back.Add(c); return nil }); err != nil {
		return err
	}
	if back.Tally != want {
		return fmt.Errorf("the file holds %s, but %s was written", back.Tally, want)
	}
	return nil
}

// Abort removes a file that is not finished.
func (f *HFile) Abort() { f.out.Abort() }
