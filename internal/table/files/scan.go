package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// readAhead is the largest read of a file in bytes.
const readAhead = 1 << 20

// A reader is a file of the table. It is opened when it is first needed, and stays open for
// later reads. The end of the context that opened it must not end later reads, so it is opened
// without the cancellation of the context.
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
		file, h, err := t.open(ctx, f)
		if err != nil {
			return nil, err
		}
		r.file, r.h = file, h
	}
	return r.h, nil
}

// open opens a file. If that fails, the next call tries again.
func (t *Table) open(ctx context.Context, f *manifest.File) (dfs.File, *hfile.Reader, error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	name := dfs.Join(t.Dir(), f.Name)
	file, err := t.Staged(context.WithoutCancel(ctx), f.Name)
	if err != nil {
		return nil, nil, gone(err)
	}
	h, err := t.hfileOf(f, file)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open %s: %w", name, table.Corrupt(err)), file.Close())
	}
	return file, h, nil
}

// hfileOf returns a reader of file. It returns an error that wraps table.ErrDamaged if file is
// not the HFile of f, by size, number of cells and first and last row.
func (t *Table) hfileOf(f *manifest.File, file dfs.File) (*hfile.Reader, error) {
	if f.Size > 0 && file.Size() != f.Size {
		return nil, table.OtherSize(f.Name, file.Size(), f.Size)
	}
	h, err := hfile.Open(metered{file, &t.meter}, file.Size())
	if err != nil {
		return nil, err
	}
	if h.Cells() != f.Tally.Cells || !bytes.Equal(h.FirstRow(), f.First) || !bytes.Equal(h.LastRow(), f.Last) {
		return nil, table.Damaged("%s is another HFile: it has %s in the rows %q to %q, and %s in %q to %q were written",
			f.Name, english.Plural(int(h.Cells()), "cell", ""), h.FirstRow(), h.LastRow(), english.Plural(int(f.Tally.Cells), "cell", ""), []byte(f.First), []byte(f.Last))
	}
	return h, nil
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

// among returns the files that can have rows of a region and span.
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

// outside reports whether no cell of a file can belong to times; nil means all times.
func outside(h *hfile.Reader, times *layout.Times) bool {
	if times == nil {
		return false
	}
	from, to := h.TimeRange()
	return to < behaviour.Millis(times.First) || from > behaviour.Millis(times.Last)
}

// Read implements table.Table. It reads one file after the other, each in one pass, unless
// rows must be in order. It reads a requested row as a short range.
func (t *Table) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	files := among(t.Manifest().Files, q.Bounds, q.Span)
	if q.Ordered && q.Ranges != nil {
		return t.inOrder(ctx, files, &q, emit)
	}
	if q.Ranges == nil {
		q.Ranges = table.RowRanges(q.Rows)
	}
	if q.Newest > 0 && t.Layout().Traits().Newest != layout.NotNewest {
		return t.readNewest(ctx, files, &q, emit)
	}
	asked := t.choiceOf(&q)
	for _, f := range files {
		h, err := t.openHFile(ctx, f)
		if err != nil {
			return err
		}
		if outside(h, q.Times) {
			continue
		}
		x := t.placeIn(ctx, f, h, asked, readAhead)
		if err := x.scan(q.Ranges, emit); err != nil {
			return fmt.Errorf("read %s: %w", x.name, table.Corrupt(err))
		}
	}
	return nil
}

// scan seeks each range. A seek within the current block reads nothing. If two ranges are
// adjacent, the second needs no seek.
func (x *place) scan(ranges iter.Seq[split.Region], emit func(*cell.Cell) error) error {
	defer x.it.Release()
	for r := range ranges {
		x.check()
		for ok := x.seek(r.Start, r.End); ok; ok = x.next() {
			if err := emit(x.it.Cell()); err != nil {
				return err
			}
		}
		if x.over {
			break
		}
	}
	return x.err()
}
