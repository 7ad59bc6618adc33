package load

import (
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
)

// A regionFile is the file of one region's records in a batch.
type regionFile struct {
	*gathered
	file manifest.File // without records if there is no file
}

// writeRegion writes one region's records, if the region has any, and reads them back. It returns
// the region's file.
func (b *batch) writeRegion(ctx context.Context, region int) (*regionFile, error) {
	it, err := b.sorter.Part(ctx, b.part(region))
	if err != nil {
		return nil, err
	}
	defer it.Close()
	w := b.newSegment(ctx, b.stager, b.fileName(region), b.span())
	defer w.Abort()
	f := &regionFile{gathered: b.newGathered(ctx, region, w)}
	defer f.close()
	f.at = b.progress.Worker("writing")
	defer f.at.End()
	if err := f.gather(ctx, it); err != nil {
		return nil, fmt.Errorf("write region %d: %w", region, err)
	}
	if f.rows.Records() > 0 {
		f.at.At("region %d: completing its files and reading them back", region)
	}
	f.file, err = f.rows.Finish(w)
	return f, err
}

// newSegment returns a writer of the files of one region. name is their name without the endings.
// span includes all dates of the records.
func (l *load) newSegment(ctx context.Context, to table.Stager, name string, span behaviour.Span) *segment.Writer {
	info := to.Info()
	return segment.New(ctx, to, segment.Config{
		Name: name, Layout: info.Layout, Schema: info.Schema, Span: span,
		Spill: shuffle.Config{FS: l.cfg.FS, Dir: dfs.Join(l.cfg.Temp, name+segment.RollEnding)},
	})
}
