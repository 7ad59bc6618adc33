package files

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/dfs"
	"usertrail/internal/hfile"
	"usertrail/internal/manifest"
	"usertrail/internal/roll"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// readAhead is the most that one read of a file asks for.
const readAhead = 1 << 20

// A reader is one of the table's files, opened when it is first needed.
type reader struct {
	once sync.Once
	err  error
	file dfs.File
	h    *hfile.Reader

	rollOnce sync.Once
	rollErr  error
	rollFile dfs.File
	roll     *roll.Reader
}

func (t *Table) reader(name string) *reader {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.readers[name]
	if r == nil {
		r = new(reader)
		t.readers[name] = r
	}
	return r
}

func (t *Table) openHFile(ctx context.Context, f *manifest.File) (*hfile.Reader, error) {
	r := t.reader(f.Name)
	r.once.Do(func() {
		if r.file, r.err = t.fs.Open(ctx, dfs.Join(t.dir, f.Name)); r.err == nil {
			r.h, r.err = hfile.Open(r.file, r.file.Size())
		}
	})
	if r.err != nil {
		return nil, fmt.Errorf("open %s: %w", dfs.Join(t.dir, f.Name), r.err)
	}
	return r.h, nil
}

func (t *Table) openRoll(ctx context.Context, f *manifest.File) (*roll.Reader, error) {
	r := t.reader(f.Name)
	r.rollOnce.Do(func() {
		if r.rollFile, r.rollErr = t.fs.Open(ctx, dfs.Join(t.dir, f.Roll)); r.rollErr == nil {
			r.roll, r.rollErr = roll.Open(r.rollFile, r.rollFile.Size())
		}
	})
	if r.rollErr != nil {
		return nil, fmt.Errorf("open %s: %w", dfs.Join(t.dir, f.Roll), r.rollErr)
	}
	return r.roll, nil
}

func (r *reader) close() error {
	var err error
	if r.file != nil {
		err = r.file.Close()
	}
	if r.rollFile != nil {
		if e := r.rollFile.Close(); err == nil {
			err = e
		}
	}
	return err
}

// among returns the files that can hold rows of a region and span.
func among(files []manifest.File, r split.Region, span behaviour.Span) []*manifest.File {
	var out []*manifest.File
	for i := range files {
		f := &files[i]
		before := len(r.Start) > 0 && bytes.Compare(f.Last, r.Start) < 0
		after := len(r.End) > 0 && bytes.Compare(f.First, r.End) >= 0
		if f.Span.Overlaps(span) && !before && !after {
			out = append(out, f)
		}
	}
	return out
}

// Scan implements table.Table: it goes file by file, each in one pass.
func (t *Table) Scan(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	for _, f := range among(t.Manifest().Files, q.Bounds, q.Span) {
		h, err := t.openHFile(ctx, f)
		if err != nil {
			return err
		}
		if err := scanFile(ctx, h, q, emit); err != nil {
			return fmt.Errorf("read %s: %w", dfs.Join(t.dir, f.Name), err)
		}
	}
	return nil
}

// scanFile seeks range after range. A seek within the block at hand reads
// nothing, so neighbouring users cost one pass.
func scanFile(ctx context.Context, h *hfile.Reader, q table.Query, emit func(*cell.Cell) error) error {
	it := h.Iterator(hfile.IterOptions{ReadAhead: readAhead})
	for r := range q.Ranges {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		ok := false
		if len(r.Start) == 0 {
			ok = it.First()
		} else {
			ok = it.SeekGE(r.Start)
		}
		in := true
		for first := true; ok; ok, first = it.Next(), false {
			if first || !it.SameRow() {
				in = len(r.End) == 0 || bytes.Compare(it.Cell().Row, r.End) < 0
			}
			if !in {
				break
			}
			if err := emit(it.Cell()); err != nil {
				return err
			}
		}
		if !ok {
			break // at the end of the file, or at an error
		}
	}
	return it.Err()
}
