package bulkload

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/dfs"
	"usertrail/internal/hfile"
	"usertrail/internal/layout"
	"usertrail/internal/manifest"
	"usertrail/internal/roll"
	"usertrail/internal/shuffle"
	"usertrail/internal/tally"
)

// Endings of a region's two files.
const (
	hfileEnding = ".hfile"
	rollEnding  = ".roll"
)

// A regionFile is one region's HFile and roll while they are written.
type regionFile struct {
	*batch
	file     manifest.File
	loaded   []int64 // by input
	repeated []int64
	days     *days

	out     *output
	w       *hfile.Writer
	rollOut *output
	roll    *roll.Writer
	enc     layout.Encoder
	count   tally.Counter
	unique  *unique

	row     []byte
	first   behaviour.Record // of the row
	records int64
}

// writeRegion writes one region's records, if there are any, reads them back,
// and says what is in its file.
func (b *batch) writeRegion(ctx context.Context, region int) (*regionFile, error) {
	it, err := b.sorter.Part(ctx, region)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	w := &regionFile{batch: b, loaded: make([]int64, len(b.inputs)), repeated: make([]int64, len(b.inputs)), days: newDays()}
	w.enc = b.layout.Encoder(b.schema, b.target.Info().Family)
	w.unique = newUnique(ctx, b)
	defer w.abort()
	name := b.stager.FileName(b.target.NextLoad(), region)
	if err := w.fill(ctx, it, name); err != nil {
		return nil, fmt.Errorf("write region %d: %w", region, err)
	}
	if w.w == nil {
		return w, nil
	}
	if err := w.finish(); err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	if err := w.verify(ctx); err != nil {
		return nil, fmt.Errorf("read %s back: %w", name, err)
	}
	return w, nil
}

// fill writes row after row.
func (w *regionFile) fill(ctx context.Context, it *shuffle.Iterator, name string) error {
	var r behaviour.Record
	for n := 0; it.Next(); n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		in, err := unpack(it.Payload(), &r)
		if err != nil {
			return err
		}
		if w.inputs[in].dropped() {
			continue
		}
		if !bytes.Equal(it.Row(), w.row) {
			if err := w.endRow(); err != nil {
				return err
			}
			if w.w == nil {
				if err := w.begin(ctx, name); err != nil {
					return err
				}
			}
			w.row = append(w.row[:0], it.Row()...)
			w.first = behaviour.Record{Kind: r.Kind, Date: r.Date}
		}
		r.ID = int64(it.Seq())
		repeats, err := w.unique.repeats(w.row, &r)
		if err != nil {
			return err
		}
		if repeats {
			w.repeated[in]++
			continue
		}
		w.loaded[in]++
		w.records++
		w.enc.Add(&r)
	}
	if err := it.Err(); err != nil {
		return err
	}
	return w.endRow()
}

// begin makes the two files.
func (w *regionFile) begin(ctx context.Context, name string) error {
	w.file.Name, w.file.Roll, w.file.Load = name+hfileEnding, name+rollEnding, w.target.NextLoad()
	var err error
	if w.out, err = newOutput(ctx, w.stager.Stage, w.file.Name); err != nil {
		return err
	}
	if w.w, err = hfile.NewWriter(w.out, w.stager.FileOptions()); err != nil {
		return err
	}
	if w.rollOut, err = newOutput(ctx, w.stager.Stage, w.file.Roll); err != nil {
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

// endRow writes the cells of the row whose records are together.
func (w *regionFile) endRow() error {
	if w.records == 0 {
		return nil
	}
	before := w.count.Tally
	err := w.enc.Cells(w.row, func(c *cell.Cell) error {
		w.count.Add(c)
		return w.w.Add(c)
	})
	if err != nil {
		return err
	}
	key := w.row[:w.layout.UserKeyLen(w.row)]
	if err := w.roll.Add(key, w.first.Date, w.first.Kind, w.records); err != nil {
		return err
	}
	w.days.row(w.first.Date, w.first.Kind, w.records, before, w.count.Tally)
	w.file.Records += w.records
	w.records = 0
	return nil
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
	f.Span, f.Users = w.days.span(), rolled.Users
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

// days are tallies by date and kind.
type days struct {
	m map[dayKey]*manifest.Day
}

type dayKey struct {
	date behaviour.Date
	kind int
}

func newDays() *days { return &days{m: map[dayKey]*manifest.Day{}} }

func (d *days) at(k dayKey) *manifest.Day {
	e := d.m[k]
	if e == nil {
		e = new(manifest.Day)
		d.m[k] = e
	}
	return e
}

// row adds what a row added to a running tally.
func (d *days) row(date behaviour.Date, kind int, records int64, before, after tally.Tally) {
	e := d.at(dayKey{date, kind})
	e.Records += records
	e.Tally.Add(tally.Tally{Cells: after.Cells - before.Cells, Bytes: after.Bytes - before.Bytes, Digest: after.Digest - before.Digest})
}

func (d *days) add(o *days) {
	for k, v := range o.m {
		e := d.at(k)
		e.Records += v.Records
		e.Tally.Add(v.Tally)
	}
}

// span holds all dates.
func (d *days) span() behaviour.Span {
	s := behaviour.Span{From: behaviour.MaxDate, To: behaviour.MinDate}
	for k := range d.m {
		s.From, s.To = min(s.From, k.date), max(s.To, k.date)
	}
	return s
}

// list is in order of date and behaviour ID.
func (d *days) list(s *behaviour.Schema) []manifest.Day {
	keys := make([]dayKey, 0, len(d.m))
	for k := range d.m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b dayKey) int { return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.kind, b.kind)) })
	out := make([]manifest.Day, 0, len(keys))
	for _, k := range keys {
		e := *d.m[k]
		e.Date, e.Behaviour = k.date, s.Kinds[k.kind].Name
		out = append(out, e)
	}
	return out
}
