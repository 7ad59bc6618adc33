package convert

import (
	"bytes"
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
	"usertrail/internal/tally"
)

const (
	// leastAhead and mostAhead bound how much of a file is read at once, in bytes.
	leastAhead = 64 << 10
	mostAhead  = 1 << 20
)

// A reader decodes the cells of one file into records. It adds each record to the sorter:
//
//	part region | row the new row | seq column ID | payload behaviour.AppendPacked
type reader struct {
	*run
	ctx    context.Context
	shard  *shuffle.Shard
	points split.Points

	row     []byte
	rows    *segment.RowDecoder
	count   tally.Counter
	records int64

	user, newRow, packed []byte
}

// readFile reads a file. It returns an error if the file does not match the manifest.
func (r *run) readFile(ctx context.Context, f *manifest.File, shard *shuffle.Shard, points split.Points) error {
	at := r.progress.Worker("reading")
	defer at.End()
	at.At("%s", f.Name)
	x := &reader{run: r, ctx: ctx, shard: shard, points: points}
	x.rows = segment.NewRowDecoder(ctx, r.old, r.m.Schema, layout.Everything(r.m.Schema, behaviour.AllDays), r.rowSpill(f.Name))
	defer x.rows.Close() // a later sweep removes runs that remain
	if err := x.cells(f); err != nil {
		return fmt.Errorf("convert %s: %w", f.Name, table.Corrupt(err))
	}
	if x.count.Tally != f.Tally || x.records != f.Records {
		return fmt.Errorf("convert %s: %w: it holds %s of %d records, and the manifest says %s of %d", f.Name, ErrDamaged, x.count.Tally, x.records, f.Tally, f.Records)
	}
	return nil
}

// cells reads all cells of a file.
func (x *reader) cells(f *manifest.File) error {
	half := x.progress.Share(f.Size/2, f.Tally.Cells)
	err := segment.EachCell(x.ctx, x.from, f.Name, x.readAhead(), func(c *cell.Cell) error {
		if x.count.Cells&0xfff == 0 {
			half.UpTo(x.count.Cells)
		}
		return x.add(c)
	})
	if err != nil {
		return err
	}
	half.UpTo(f.Tally.Cells)
	return x.endRow()
}

func (x *reader) add(c *cell.Cell) error {
	if !bytes.Equal(c.Row, x.row) {
		if err := x.endRow(); err != nil {
			return err
		}
		x.row = append(x.row[:0], c.Row...)
	}
	x.count.Add(c)
	if err := x.small(len(c.Value)); err != nil {
		return err
	}
	return x.rows.Add(c)
}

// small returns an error if a record of this size in bytes is too large for a worker's memory.
func (x *reader) small(bytes int) error {
	most := segment.RecordMemory(x.cfg.Memory, x.cfg.Workers)
	if int64(bytes) <= most {
		return nil
	}
	user, err := x.old.AppendUser(nil, x.old.UserKey(x.row))
	if err != nil {
		return fmt.Errorf("row %.64q: %w", x.row, err)
	}
	return fmt.Errorf("%w: user %q: a record takes %s, and a worker has %s for one: raise --memory, or lower --workers",
		ErrRequest, user, humanize.IBytes(uint64(bytes)), humanize.IBytes(uint64(most)))
}

// endRow adds the records of the completed row to the sorter.
func (x *reader) endRow() (err error) {
	if len(x.row) == 0 {
		return nil
	}
	if x.user, err = x.old.AppendUser(x.user[:0], x.old.UserKey(x.row)); err != nil {
		return fmt.Errorf("row %.64q: %w", x.row, err)
	}
	return x.rows.End(x.record)
}

// record adds one record to the sorter.
func (x *reader) record(r *behaviour.Record) error {
	r.User = x.user
	if err := x.fits(r); err != nil {
		return err
	}
	x.records++
	x.newRow = x.new.AppendRow(x.newRow[:0], x.m.Schema, r)
	x.packed = behaviour.AppendPacked(x.packed[:0], r)
	if err := x.small(len(x.packed)); err != nil {
		return err
	}
	return x.shard.Add(x.ctx, x.points.Of(x.newRow), x.newRow, uint64(r.ID), x.packed)
}
