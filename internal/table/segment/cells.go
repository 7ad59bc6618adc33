package segment

import (
	"context"
	"errors"

	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/table"
)

// EachCell calls do with each cell of an HFile of a table, in order. It reads at most ahead bytes at once. A cell is valid
// until do returns.
func EachCell(ctx context.Context, from table.StagedReader, name string, ahead int, do func(*cell.Cell) error) (err error) {
	in, err := from.Staged(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	h, err := hfile.Open(in, in.Size())
	if err != nil {
		return err
	}
	it := h.Iterator(hfile.IterOptions{ReadAhead: ahead})
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if n++; n&0xfff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := do(it.Cell()); err != nil {
			return err
		}
	}
	return it.Err()
}
