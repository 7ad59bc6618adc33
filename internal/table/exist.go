package table

import (
	"bytes"
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
)

// Existing gives the rows of q that are there and lie in its span, by what they
// say: whose they are, of which date, and of which kind of the table's schema. A row
// may come again. The key is valid until emit returns; one goroutine at a time calls
// emit. A row that the table's layout and schema do not know is an error.
func Existing(ctx context.Context, t Table, q Query, emit func(key []byte, date behaviour.Date, kind int) error) error {
	info := t.Info()
	q.Exist, q.Prefixes = true, nil
	var last []byte
	return t.Read(ctx, q, func(c *cell.Cell) error {
		if bytes.Equal(c.Row, last) {
			return nil
		}
		last = append(last[:0], c.Row...)
		date, kind, ok := info.Layout.ParseRow(info.Schema, c.Row)
		if !ok {
			return fmt.Errorf("row %.64q is none of the table's layout and behaviours", c.Row)
		}
		if !q.Span.Has(date) {
			return nil
		}
		return emit(c.Row[:info.Layout.UserKeyLen(c.Row)], date, kind)
	})
}
