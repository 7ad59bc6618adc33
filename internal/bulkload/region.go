package bulkload

import (
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/tally"
)

// A regionFile is the file of one region's records in a batch.
type regionFile struct {
	*gathered
	file manifest.File // no records where there is no file
}

// writeRegion writes one region's records, if the region has any, and reads them back. It returns
// the region's file.
func (b *batch) writeRegion(ctx context.Context, region int) (*regionFile, error) {
	it, err := b.sorter.Part(ctx, b.part(region))
	if err != nil {
		return nil, err
	}
	defer it.Close()
	f := &regionFile{gathered: b.newGathered(ctx, region)}
	defer f.close()
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

// A regionWriter writes one region's HFile and roll. It creates them at the first cell.
type regionWriter struct {
	ctx  context.Context
	to   table.Stager
	load int
	of   segment.Config
	seg  *segment.Writer // nil before the first cell
}

// newRegionWriter returns a writer of files of a load. name is their name without the endings.
// span has all dates of the rows.
func (l *load) newRegionWriter(ctx context.Context, to table.Stager, load int, name string, span behaviour.Span) *regionWriter {
	info := to.Info()
	return &regionWriter{ctx: ctx, to: to, load: load, of: segment.Config{
		Name: name, Layout: info.Layout, Schema: info.Schema, Span: span,
		Spill: shuffle.Config{FS: l.cfg.FS, Dir: dfs.Join(l.cfg.Temp, name+segment.RollEnding)},
	}}
}

// cell implements rowSink.
func (w *regionWriter) cell(c *cell.Cell) (err error) {
	if w.seg == nil {
		if w.seg, err = segment.New(w.ctx, w.to, w.of); err != nil {
			return err
		}
	}
	return w.seg.Add(c)
}

// endRow implements rowSink.
func (w *regionWriter) endRow(row []byte, did *segment.Counts) error { return w.seg.RollAll(row, did) }

func idsOf(s *behaviour.Schema) []uint16 {
	ids := make([]uint16, len(s.Kinds))
	for i, k := range s.Kinds {
		ids[i] = k.ID
	}
	return ids
}

// finish completes both files and returns their entry for the manifest. count is the tally of
// their cells.
func (w *regionWriter) finish(count tally.Tally) (manifest.File, error) {
	f, err := w.seg.Finish(count)
	f.Load = w.load
	return f, err
}

func (w *regionWriter) abort() {
	if w.seg != nil {
		w.seg.Abort()
	}
}
