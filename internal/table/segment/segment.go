// Package segment writes segments. A load adds one segment to each region. A segment is an HFile
// with the cells of rows, and a roll with the users of these rows.
//
//	records, in order of rows
//	   │ Collector ──────────────────────────► Tallies: records and cells
//	   │ RowEncoder            │ Counts        by load, date and behaviour
//	   ▼                       ▼
//	cells, in order         records of a row by date and behaviour
//	   │ HFile                 │ roll, sorted by user key if the layout has another order
//	   ▼                       ▼
//	name.hfile              name.roll
//
// A Collector encodes and counts records. Its cells go to a Sink. A Writer is a Sink that writes
// both files. The Writer reads the HFile back before it returns the file's entry for the
// manifest. RowDecoder is the inverse of RowEncoder: upkeep and conversions read the cells of
// segments as records. RowEncoder and RowDecoder hold one row in bounded memory, and sort larger
// rows on disk. Packages hfile and roll describe the formats.
package segment

import (
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/tally"
)

// Endings of the two files of a segment.
const (
	HFileEnding = ".hfile"
	RollEnding  = ".roll"
)

// spillMemory is the largest memory, in bytes, for sorting the users of a roll.
const spillMemory = 8 << 20

// A Writer writes the HFile and the roll of a segment. It creates both files at the first cell.
// One goroutine uses it.
type Writer struct {
	ctx  context.Context
	to   Target
	cfg  Config
	out  *HFile     // nil before the first cell
	list *Output    // the file of the roll; nil before the first cell
	roll rollWriter // nil before the first cell
}

// A Config describes a segment.
type Config struct {
	Name   string // of both files, without an ending
	Layout layout.Layout
	Schema *behaviour.Schema
	Span   behaviour.Span // includes the dates of all records
	Spill  shuffle.Config // sorts the users if the layout needs it, in at most spillMemory
}

// New returns a Writer of a segment. The caller calls Finish or Abort.
func New(ctx context.Context, to Target, cfg Config) *Writer {
	return &Writer{ctx: ctx, to: to, cfg: cfg}
}

// create creates both files.
func (w *Writer) create() (err error) {
	cfg := &w.cfg
	if w.out, err = CreateHFile(w.ctx, w.to, cfg.Name+HFileEnding); err != nil {
		return err
	}
	if w.list, err = NewOutput(w.ctx, w.to, cfg.Name+RollEnding); err != nil {
		return err
	}
	ids := cfg.Schema.IDs()
	if cfg.Layout.Traits().Together {
		w.roll = orderedRoll{roll.NewWriter(w.list, ids, cfg.Span)}
		return nil
	}
	spill := cfg.Spill
	spill.Memory = max(min(spill.Memory, spillMemory), shuffle.MinMemory)
	r, err := newUnorderedRoll(w.ctx, w.list, ids, cfg.Span, spill)
	if err != nil {
		return err
	}
	w.roll = r
	return nil
}

// Add implements Sink. It writes the next cell.
func (w *Writer) Add(c *cell.Cell) error {
	if w.roll == nil {
		if err := w.create(); err != nil {
			return err
		}
	}
	return w.out.Add(c)
}

// EndRow implements Sink. It adds the records of the row, whose cells were added, to the roll.
func (w *Writer) EndRow(row []byte, counts *Counts) error {
	user := w.cfg.Layout.UserKey(row)
	for _, c := range counts.List() {
		if err := w.roll.Add(user, c.Date, c.Kind, c.Records); err != nil {
			return err
		}
	}
	return nil
}

// Finish commits both files and reads the HFile back. It returns an error unless the HFile
// holds the cells of count. At least one cell was added. The caller sets Span, Records, Load and
// Loads of the entry.
func (w *Writer) Finish(count tally.Tally) (manifest.File, error) {
	rolled, err := w.roll.Close()
	if err == nil {
		err = w.list.Commit()
	}
	if err != nil {
		return manifest.File{}, fmt.Errorf("write %s: %w", w.cfg.Name+RollEnding, err)
	}
	meta, err := w.out.Finish(w.ctx, count)
	if err != nil {
		return manifest.File{}, err
	}
	return manifest.File{
		Name: w.cfg.Name + HFileEnding, Roll: w.cfg.Name + RollEnding,
		First: meta.FirstRow, Last: meta.LastRow, Users: rolled.Users,
		Tally: count, Size: meta.Size, Sum: meta.Sum, RollSum: w.list.Sum(), RollSize: w.list.Size(),
	}, nil
}

// Abort removes what is not finished. It does nothing after Finish.
func (w *Writer) Abort() {
	if w.out != nil {
		w.out.Abort()
	}
	if w.list != nil {
		w.list.Abort()
	}
	if w.roll != nil {
		w.roll.Abort()
	}
}
