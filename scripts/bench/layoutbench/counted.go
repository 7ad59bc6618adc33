package main

import (
	"bytes"
	"context"
	"sync/atomic"

	"usertrail/internal/cell"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
)

// A counted table counts the rows and cells that it returns.
type counted struct {
	table.Loader
	rows, cells atomic.Int64
}

// Read implements table.Table.
func (t *counted) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	var rows, cells int64
	var row []byte
	defer func() {
		t.rows.Add(rows)
		t.cells.Add(cells)
	}()
	return t.Loader.Read(ctx, q, func(c *cell.Cell) error {
		if cells == 0 || !bytes.Equal(row, c.Row) {
			rows++
			row = append(row[:0], c.Row...)
		}
		cells++
		return emit(c)
	})
}

// Spent implements the ability of the same name.
func (t *counted) Spent() table.Spent { return spent(t.Loader) }

// Manifest returns the manifest of the table.
func (t *counted) Manifest() *manifest.Table { return table.Known(t.Loader) }
