package live

import (
	"context"

	"usertrail/internal/cell"
	"usertrail/internal/hbase"
	"usertrail/internal/table"
)

// putBytes bounds the cells that have been put and have no answer yet.
const putBytes = 48 << 20

// Writer implements table.Putter.
func (t *Table) Writer(context.Context) (table.Writer, error) {
	p, err := t.client.NewPutter(t.address.Table, hbase.PutOptions{MaxBytes: putBytes})
	if err != nil {
		return nil, t.address.explain(err)
	}
	return &writer{t.address, p}, nil
}

// A writer says which table its errors are about.
type writer struct {
	address Address
	p       *hbase.Putter
}

func (w *writer) Put(ctx context.Context, c *cell.Cell) error {
	if err := w.p.Put(ctx, c); err != nil {
		return w.address.explain(err)
	}
	return nil
}

func (w *writer) Flush(ctx context.Context) error { return w.address.explain(w.p.Flush(ctx)) }
func (w *writer) Close() error                    { return w.address.explain(w.p.Close()) }
