package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/dfs"
	"usertrail/internal/hfile"
	"usertrail/internal/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// readAhead is the most that one read of a file asks for.
const readAhead = 1 << 20

// A reader is one of the table's files, opened when it is first needed. It stays open
// for whoever asks next, so what ends the one who opened it must not end its reads: it
// is opened without the context's end.
type reader struct {
	mu   sync.Mutex
	file dfs.File
	h    *hfile.Reader
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
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.h == nil {
		file, h, err := t.open(ctx, dfs.Join(t.Dir(), f.Name))
		if err != nil {
			return nil, err
		}
		r.file, r.h = file, h
	}
	return r.h, nil
}

// open opens a file. One that could not be opened is tried again by the next who asks.
func (t *Table) open(ctx context.Context, name string) (dfs.File, *hfile.Reader, error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	file, err := t.fs.Open(context.WithoutCancel(ctx), name)
	if err != nil {
		return nil, nil, gone(err)
	}
	h, err := hfile.Open(metered{file, &t.meter}, file.Size())
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open %s: %w", name, err), file.Close())
	}
	return file, h, nil
}

// metered counts the reads of a file.
type metered struct {
	dfs.File
	meter *table.Meter
}

func (m metered) ReadAt(b []byte, off int64) (int, error) {
	n, err := m.File.ReadAt(b, off)
	m.meter.Add(n)
	return n, err
}

func (r *reader) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
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

// Read implements table.Table: it goes file by file, each in one pass, unless rows
// have to come in order. A row that is asked for is a short range.
func (t *Table) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	files := among(t.Manifest().Files, q.Bounds, q.Span)
	if q.Ordered && q.Ranges != nil {
		return t.inOrder(ctx, files, q, emit)
	}
	if q.Ranges == nil {
		q.Ranges = table.RowRanges(q.Rows)
	}
	for _, f := range files {
		h, err := t.openHFile(ctx, f)
		if err != nil {
			return err
		}
		if err := scanFile(ctx, h, q, emit); err != nil {
			return fmt.Errorf("read %s: %w", dfs.Join(t.Dir(), f.Name), err)
		}
	}
	return nil
}

// scanFile seeks range after range. A seek within the block at hand reads
// nothing, and of two users side by side the second needs none, so neighbours cost one
// pass.
func scanFile(ctx context.Context, h *hfile.Reader, q table.Query, emit func(*cell.Cell) error) error {
	it := h.Iterator(hfile.IterOptions{ReadAhead: readAhead})
	defer it.Release()
	cells, past := 0, false // past says that the cell at hand came after a range
	for r := range q.Ranges {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		ok := false
		switch {
		case len(r.Start) == 0:
			ok = it.First()
		case past && bytes.Compare(it.Cell().Row, r.Start) >= 0:
			ok = true // every cell before it lies before the range
		default:
			ok = it.SeekGE(r.Start)
		}
		in := true
		for first := true; ok; ok, first = it.Next(), false {
			if first || !it.SameRow() {
				in = len(r.End) == 0 || bytes.Compare(it.Cell().Row, r.End) < 0
			}
			if past = !in; past {
				break
			}
			if cells++; cells&0xfff == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
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
