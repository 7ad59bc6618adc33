package bulkload

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/dfs"
	"usertrail/internal/hfile"
	"usertrail/internal/manifest"
	"usertrail/internal/roll"
	"usertrail/internal/tally"
)

// Endings of a region's two files.
const (
	hfileEnding = ".hfile"
	rollEnding  = ".roll"
)

// A regionFile is one region's HFile and roll while they are written.
type regionFile struct {
	*gathered
	name string
	ctx  context.Context
	file manifest.File

	out     *output
	w       *hfile.Writer
	rollOut *output
	roll    *roll.Writer
}

// writeRegion writes one region's records, if there are any, reads them back,
// and says what is in its file.
func (b *batch) writeRegion(ctx context.Context, region int) (*regionFile, error) {
	it, err := b.sorter.Part(ctx, region)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	w := &regionFile{gathered: b.newGathered(ctx, region), ctx: ctx, name: b.stager.FileName(b.target.NextLoad(), region)}
	defer w.abort()
	if err := w.gather(ctx, it, w); err != nil {
		return nil, fmt.Errorf("write region %d: %w", region, err)
	}
	if w.w == nil {
		return w, nil
	}
	if err := w.finish(); err != nil {
		return nil, fmt.Errorf("write %s: %w", w.name, err)
	}
	if err := w.verify(ctx); err != nil {
		return nil, fmt.Errorf("read %s back: %w", w.name, err)
	}
	return w, nil
}

// cell implements rowSink.
func (w *regionFile) cell(c *cell.Cell) error {
	if w.w == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	return w.w.Add(c)
}

// endRow implements rowSink.
func (w *regionFile) endRow(row []byte, first *behaviour.Record, records int64) error {
	return w.roll.Add(row[:w.layout.UserKeyLen(row)], first.Date, first.Kind, records)
}

// begin makes the two files.
func (w *regionFile) begin() error {
	w.file.Name, w.file.Roll, w.file.Load = w.name+hfileEnding, w.name+rollEnding, w.target.NextLoad()
	var err error
	if w.out, err = newOutput(w.ctx, w.stager.Stage, w.file.Name); err != nil {
		return err
	}
	if w.w, err = hfile.NewWriter(w.out, w.stager.FileOptions()); err != nil {
		return err
	}
	if w.rollOut, err = newOutput(w.ctx, w.stager.Stage, w.file.Roll); err != nil {
		return err
	}
	w.roll = roll.NewWriter(w.rollOut, idsOf(w.schema), w.span())
	return nil
}

func idsOf(s *behaviour.Schema) []uint16 {
	ids := make([]uint16, len(s.Kinds))
	for i, k := range s.Kinds {
		ids[i] = k.ID
	}
	return ids
}

// finish completes both files and makes them what the manifest can name.
func (w *regionFile) finish() error {
	meta, err := w.w.Close()
	if err != nil {
		return err
	}
	rolled, err := w.roll.Close()
	if err != nil {
		return err
	}
	if err := errors.Join(w.out.Commit(), w.rollOut.Commit()); err != nil {
		return err
	}
	f := &w.file
	f.First, f.Last = meta.FirstRow, meta.LastRow
	f.Records, f.Span, f.Users = w.records, w.days.span(), rolled.Users
	f.Tally, f.Size = w.count.Tally, w.out.bytes
	f.Sum, f.RollSum = w.out.sum(), w.rollOut.sum()
	return nil
}

// verify reads the finished file back whole, and compares its tally with that of
// what was written.
func (w *regionFile) verify(ctx context.Context) error {
	f, err := w.stager.Staged(ctx, w.file.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := hfile.Open(f, f.Size())
	if err != nil {
		return err
	}
	var back tally.Counter
	if err := r.Verify(func(c *cell.Cell) error { back.Add(c); return nil }); err != nil {
		return err
	}
	if back.Tally != w.file.Tally {
		return fmt.Errorf("it holds %s; written were %s", back.Tally, w.file.Tally)
	}
	return nil
}

func (w *regionFile) abort() {
	for _, o := range []*output{w.out, w.rollOut} {
		if o != nil {
			o.Abort()
		}
	}
}

// An output is a pending file that counts and hashes what is written to it.
type output struct {
	dfs.Pending
	hash  *xxhash.Digest
	bytes int64
}

func newOutput(ctx context.Context, create func(context.Context, string) (dfs.Pending, error), name string) (*output, error) {
	f, err := create(ctx, name)
	if err != nil {
		return nil, err
	}
	return &output{Pending: f, hash: xxhash.New()}, nil
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.Pending.Write(b)
	o.hash.Write(b[:n])
	o.bytes += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}

func (o *output) sum() string { return fmt.Sprintf("%016x", o.hash.Sum64()) }
