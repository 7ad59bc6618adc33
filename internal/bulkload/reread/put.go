package reread

import (
	"context"
	"fmt"

	"usertrail/internal/cell"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
	"usertrail/internal/tally"
)

// putAll puts the new cells into HBase. It joins the records and the values twice. The first join finds the files whose values
// will be put. Before the first cell is put, begun.json names these files.
func (x *reread) putAll(ctx context.Context) ([]*adder, error) {
	done, err := x.join(ctx, "counting the values", func(context.Context, *place) sink { return nowhere{} })
	if err != nil {
		return nil, err
	}
	x.settle(done)
	entries := x.entries()
	if len(entries) == 0 {
		return nil, nil
	}
	if err := x.to.Putter.Begin(ctx, entries, nil); err != nil {
		return nil, err
	}
	w, err := x.to.Putter.Writer(ctx, x.cfg.PutMemory())
	if err != nil {
		return nil, err
	}
	defer w.Close()
	done, err = x.join(ctx, "putting the values", func(ctx context.Context, _ *place) sink { return puts{nowhere{}, ctx, w} })
	if err == nil {
		err = w.Flush(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("put: %w", err)
	}
	return done, nil
}

// nowhere is a sink that ignores the cells.
type nowhere struct{}

func (nowhere) add(*cell.Cell) error                      { return nil }
func (nowhere) finish(tally.Tally) (manifest.File, error) { return manifest.File{}, nil }
func (nowhere) close() error                              { return nil }

// puts is a sink that puts the cells.
type puts struct {
	nowhere
	ctx context.Context
	out table.Writer
}

func (p puts) add(c *cell.Cell) error { return p.out.Put(p.ctx, c) }
