package live

import (
	"context"
	"fmt"

	"usertrail/internal/cell"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/hbase"
	"usertrail/internal/table"
)

// mostPutBytes is the default, and the maximum, of the bytes of cells that are not confirmed yet.
const mostPutBytes = 48 << 20

// RollName implements table.Putter. If a killed load runs again, it gets the same name, even if
// other loads ended in between.
func (t *Table) RollName(id uint64) string { return fmt.Sprintf("%s/puts-%016x.roll", t.family, id) }

// Begin implements table.Putter.
func (t *Table) Begin(ctx context.Context, inputs []manifest.Input, roll *manifest.File) error {
	alone, err := t.Alone(ctx)
	if err != nil {
		return err
	}
	if err := t.Leave(ctx, t.begun(inputs, roll, alone)); err != nil {
		return err
	}
	return t.lookAgain(ctx)
}

// begun describes the cells that may be in the table when records of inputs are put. The roll names
// all their users.
func (t *Table) begun(inputs []manifest.Input, roll *manifest.File, alone bool) *manifest.Begun {
	b := &manifest.Begun{Inputs: inputs, Alone: alone, Schema: t.Manifest().Schema, Layout: t.Manifest().Layout}
	if roll != nil {
		r := manifest.Rolled{File: *roll}
		for _, in := range inputs {
			r.Inputs = append(r.Inputs, in.Number)
		}
		b.Rolls = []manifest.Rolled{r}
	}
	return b
}

// BeginPiece implements table.Putter.
func (t *Table) BeginPiece(ctx context.Context, plan string, piece int, inputs []manifest.Input, roll *manifest.File, alone bool) error {
	return t.LeavePiece(ctx, plan, piece, t.begun(inputs, roll, alone))
}

// Writer implements table.Putter.
func (t *Table) Writer(_ context.Context, bytes int) (table.Writer, error) {
	if bytes <= 0 || bytes > mostPutBytes {
		bytes = mostPutBytes
	}
	p, err := t.client.NewPutter(t.address.Table, hbase.PutOptions{MaxBytes: bytes})
	if err != nil {
		return nil, t.address.explain(err)
	}
	return &writer{t.address, p}, nil
}

// A writer adds the table to the errors of an hbase.Putter.
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
