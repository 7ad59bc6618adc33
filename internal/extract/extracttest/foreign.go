package extracttest

import (
	"context"
	"errors"

	"usertrail/internal/cell"
	"usertrail/internal/table"
)

// Others is a table into which another program has put a row, and a column of a row.
type Others struct{ table.Table }

// Read implements table.Table.
func (o Others) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	return o.Table.Read(ctx, q, func(c *cell.Cell) error {
		if err := emit(c); err != nil {
			return err
		}
		column, row := c.Clone(), c.Clone()
		column.Qualifier = []byte("title2")
		row.Row = append(row.Row, "-x"...)
		return errors.Join(emit(column), emit(row))
	})
}
