// Package segment writes segments. A segment is what a load adds to one region: an HFile with
// the cells of rows, and a roll with the users of these rows.
//
//	records, in order of rows
//	   │ RowEncoder             Counts: records of a row by date and behaviour
//	   ▼                           │
//	cells, in order                │
//	   │ HFile                     │ roll, sorted by user key if the layout has another order
//	   ▼                           ▼
//	name.hfile                  name.roll
//
// A Writer writes both files. It reads the HFile back before it returns the file's entry for
// the manifest. RowDecoder is the inverse of RowEncoder: upkeep and conversions read the cells
// of segments as records. Both hold one row in bounded memory and sort larger rows on disk.
// The formats are described in packages hfile and roll.
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

// SpillMemory is the largest memory, in bytes, for sorting the users of a roll.
const SpillMemory = 8 << 20

// A Writer writes the HFile and the roll of a segment. One goroutine uses it.
type Writer struct {
	ctx  context.Context
	cfg  Config
	out  *HFile
	list *Output
	roll rollWriter
}

// A Config describes a segment.
type Config struct {
	Name   string // of both files, without an ending
	Layout layout.Layout
	Schema *behaviour.Schema
	Span   behaviour.Span // includes the dates of all records
	Spill  shuffle.Config // sorts the users if the layout needs it, in at most SpillMemory
}

// New creates both files.
func New(ctx context.Context, to Target, cfg Config) (*Writer, error) {
	w := &Writer{ctx: ctx, cfg: cfg}
	if err := w.create(to); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

func (w *Writer) create(to Target) (err error) {
	cfg := &w.cfg
	if w.out, err = CreateHFile(w.ctx, to, cfg.Name+HFileEnding); err != nil {
		return err
	}
	if w.list, err = NewOutput(w.ctx, to, cfg.Name+RollEnding); err != nil {
		return err
	}
	ids := make([]uint16, len(cfg.Schema.Kinds))
	for i, k := range cfg.Schema.Kinds {
		ids[i] = k.ID
	}
	if cfg.Layout.Traits().Together {
		w.roll = orderedRoll{roll.NewWriter(w.list, ids, cfg.Span)}
		return nil
	}
	spill := cfg.Spill
	if spill.Memory == 0 {
		spill.Memory = SpillMemory
	}
	spill.Memory = max(min(spill.Memory, SpillMemory), shuffle.MinMemory)
	r, err := newUnorderedRoll(w.ctx, w.list, ids, cfg.Span, spill)
	if err != nil {
		return err
	}
	w.roll = r
	return nil
}

// Add writes the next cell.
func (w *Writer) Add(c *cell.Cell) error { return w.out.Add(c) }

// Roll adds records of a row to the roll.
func (w *Writer) Roll(row []byte, date behaviour.Date, kind int, records int64) error {
	return w.roll.Add(w.cfg.Layout.UserKey(row), date, kind, records)
}

// RollAll adds all records of a row to the roll.
func (w *Writer) RollAll(row []byte, all *Counts) error {
	for _, c := range all.List() {
		if err := w.Roll(row, c.Date, c.Kind, c.Records); err != nil {
			return err
		}
	}
	return nil
}

// Finish commits both files and reads the HFile back. It returns an error unless the HFile
// holds the cells of count. The caller sets Span, Records, Load and Loads of the entry.
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
