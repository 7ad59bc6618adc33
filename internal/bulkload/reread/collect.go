package reread

import (
	"bytes"
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
)

// readAhead is the largest read of an HFile in bytes.
const readAhead = 256 << 10

// collectMemory is the memory in bytes of a worker that reads large records of a place.
const collectMemory = 8 << 20

// collect adds the records of the places that are read to the sorter, several places at the same time.
func (x *reread) collect(ctx context.Context) error {
	var size int64
	for _, p := range x.places {
		if p.reads {
			size += p.file.Size
		}
	}
	x.progress.Step("looking for the records", progress.Bytes, size)
	workers := min(x.cfg.Workers, x.cfg.Fitting(collectMemory))
	free := make(chan *shuffle.Shard, workers)
	for i := range workers {
		free <- x.sorter.Shard(i)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for _, p := range x.places {
		if !p.reads {
			continue
		}
		g.Go(func() error {
			shard := <-free
			defer func() { free <- shard }()
			if err := x.collectPlace(ctx, p, shard); err != nil {
				return fmt.Errorf("read the records of %s: %w", p, table.Corrupt(err))
			}
			x.progress.Add(p.file.Size)
			return nil
		})
	}
	return g.Wait()
}

// collectPlace adds the records of a place to its part. In a layout.Widening they only show which fields have a value.
func (x *reread) collectPlace(ctx context.Context, p *place, shard *shuffle.Shard) (err error) {
	at := x.progress.Worker("reading")
	defer at.End()
	at.At("the records of %s", p)
	c := &collector{ctx: ctx, part: p.part, shard: shard, others: x.files == nil, whole: x.widens == nil}
	c.rows = segment.NewRowDecoder(ctx, x.to.Layout, x.to.Schema, x.want(), x.spill(p, "records"))
	defer c.rows.Close() // the next load sweeps runs that remain
	if err := x.eachCell(ctx, p, c.add); err != nil {
		return err
	}
	err = c.endRow()
	x.holds(c.largest)
	return err
}

// spill configures how data of a row is sorted on disk if it is too large for memory.
func (x *reread) spill(p *place, what string) shuffle.Config {
	return shuffle.Config{FS: x.cfg.FS, Dir: dfs.Join(x.cfg.Temp, fmt.Sprintf("%s-%05d", what, p.part)), Memory: x.cfg.RowMemory()}
}

// A collector turns the cells of an HFile into items of records.
type collector struct {
	ctx     context.Context
	part    int
	shard   *shuffle.Shard
	rows    *segment.RowDecoder
	others  bool // other programs may have written cells
	whole   bool // records keep their values
	row     []byte
	packed  []byte
	largest int // bytes of a record
}

func (c *collector) add(x *cell.Cell) error {
	if !bytes.Equal(x.Row, c.row) {
		if err := c.endRow(); err != nil {
			return err
		}
		c.row = append(c.row[:0], x.Row...)
	}
	err := c.rows.Add(x)
	if c.others {
		err = new(layout.Foreign).Skip(err)
	}
	return err
}

// endRow adds the records of the row.
func (c *collector) endRow() error { return c.rows.End(c.record) }

// record adds a record.
func (c *collector) record(r *behaviour.Record) error {
	for i, v := range r.Values {
		if v != nil && !c.whole {
			r.Values[i] = v[:0]
		}
	}
	c.packed = appendRecord(c.packed[:0], r)
	c.largest = max(c.largest, len(c.packed))
	return c.shard.Add(c.ctx, c.part, c.row, uint64(r.ID), c.packed)
}
