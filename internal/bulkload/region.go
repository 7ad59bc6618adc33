package bulkload

import (
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/dfs"
	"usertrail/internal/layout"
	"usertrail/internal/manifest"
	"usertrail/internal/muster"
	"usertrail/internal/shuffle"
	"usertrail/internal/stage"
	"usertrail/internal/table"
	"usertrail/internal/tally"
)

// Endings of a region's two files.
const (
	hfileEnding = ".hfile"
	rollEnding  = ".roll"
)

// rollMemory is what a roll is sorted in whose users come in another order.
const rollMemory = 8 << 20

// A regionFile is the file of one region's records in a batch.
type regionFile struct {
	*gathered
	file manifest.File // no records where there is no file
}

// writeRegion writes one region's records, if there are any, reads them back,
// and says what is in its file.
func (b *batch) writeRegion(ctx context.Context, region int) (*regionFile, error) {
	it, err := b.sorter.Part(ctx, b.part(region))
	if err != nil {
		return nil, err
	}
	defer it.Close()
	f := &regionFile{gathered: b.newGathered(ctx, region)}
	f.at = b.progress.Worker("writing")
	defer f.at.End()
	w := b.newRegionWriter(ctx, b.stager, b.number(), b.fileName(region), b.span())
	defer w.abort()
	if err := f.gather(ctx, it, w); err != nil {
		return nil, fmt.Errorf("write region %d: %w", region, err)
	}
	if f.records > 0 {
		f.at.At("region %d: completing its files and reading them back", region)
		f.file, err = w.finish(f.count.Tally)
		f.file.Records, f.file.Span = f.records, f.days.span()
	}
	return f, err
}

// A regionWriter writes one region's HFile and roll. It makes them when the first
// cell comes.
type regionWriter struct {
	ctx    context.Context
	to     table.Stager
	layout layout.Layout
	ids    []uint16
	span   behaviour.Span // holds all dates of the rows
	file   manifest.File

	out     *stage.File
	rollOut *stage.Output
	roll    muster.Writer  // nil before the first cell
	spill   shuffle.Config // where the roll is sorted, if it must be
}

// newRegionWriter writes files of a load that are called name, but for their endings.
func (l *load) newRegionWriter(ctx context.Context, to table.Stager, load int, name string, span behaviour.Span) *regionWriter {
	info := to.Info()
	return &regionWriter{
		ctx: ctx, to: to, layout: info.Layout, ids: idsOf(info.Schema), span: span,
		file:  manifest.File{Name: name + hfileEnding, Roll: name + rollEnding, Load: load},
		spill: shuffle.Config{FS: l.cfg.FS, Dir: dfs.Join(l.cfg.Temp, name+rollEnding), Memory: rollMemory},
	}
}

// cell implements rowSink.
func (w *regionWriter) cell(c *cell.Cell) error {
	if w.out == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	return w.out.Add(c)
}

// endRow implements rowSink.
func (w *regionWriter) endRow(row []byte, did []run) error {
	for _, r := range did {
		if err := w.rolled(row, r); err != nil {
			return err
		}
	}
	return nil
}

// rolled adds records of a row to the roll.
func (w *regionWriter) rolled(row []byte, r run) error {
	return w.roll.Add(w.layout.UserKey(row), r.day.date, r.day.kind, r.records)
}

// begin makes the two files.
func (w *regionWriter) begin() error {
	var err error
	if w.out, err = stage.Create(w.ctx, w.to, w.file.Name); err != nil {
		return err
	}
	if w.rollOut, err = stage.NewOutput(w.ctx, w.to, w.file.Roll); err != nil {
		return err
	}
	if w.layout.Traits().Together {
		w.roll = muster.Ordered(w.rollOut, w.ids, w.span)
		return nil
	}
	w.roll, err = muster.Unordered(w.ctx, w.rollOut, w.ids, w.span, w.spill)
	return err
}

func idsOf(s *behaviour.Schema) []uint16 {
	ids := make([]uint16, len(s.Kinds))
	for i, k := range s.Kinds {
		ids[i] = k.ID
	}
	return ids
}

// finish completes both files, which hold the cells of count, and makes them what
// the manifest can name.
func (w *regionWriter) finish(count tally.Tally) (manifest.File, error) {
	rolled, err := w.roll.Close()
	if err == nil {
		err = w.rollOut.Commit()
	}
	if err != nil {
		return manifest.File{}, fmt.Errorf("write %s: %w", w.file.Roll, err)
	}
	meta, err := w.out.Finish(w.ctx, count)
	if err != nil {
		return manifest.File{}, err
	}
	f := w.file
	f.First, f.Last, f.Users = meta.FirstRow, meta.LastRow, rolled.Users
	f.Tally, f.Size = count, meta.Size
	f.Sum, f.RollSum = meta.Sum, w.rollOut.Sum()
	return f, nil
}

func (w *regionWriter) abort() {
	if w.out != nil {
		w.out.Abort()
	}
	if w.rollOut != nil {
		w.rollOut.Abort()
	}
	if w.roll != nil {
		w.roll.Abort()
	}
}
