package table

import (
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/layout"
)

// Existing calls emit for the records in q's rows and span, in order of rows, with the key
// of the user, the date, and the kind in the table's schema. It reads no more cells than it
// needs. It may call emit several times with the same values. The key is valid until emit
// returns. One goroutine at a time calls emit. A row that the table's layout and schema
// cannot have is an error.
func Existing(ctx context.Context, t Table, q Query, emit func(key []byte, date behaviour.Date, kind int) error) error {
	info := t.Info()
	q.Columns, q.Ordered = layout.Columns{}, true
	if q.Exist = info.Layout.Traits().Told; !q.Exist {
		r, err := info.Layout.Reads(info.Schema, layout.Everyone(info.Schema, q.Span))
		if err != nil {
			return err
		}
		q.Columns = r.Columns
	}
	teller := info.Layout.Teller(info.Schema)
	var last struct {
		row  []byte
		date behaviour.Date
		kind int
	}
	return t.Read(ctx, q, func(c *cell.Cell) error {
		told, ok := teller.Tell(c)
		if !ok {
			return fmt.Errorf("row %.64q, column %.64q is none of the table's layout and behaviours", c.Row, c.Qualifier)
		}
		if told.Date == last.date && told.Kind == last.kind && string(last.row) == string(c.Row) {
			return nil
		}
		last.row, last.date, last.kind = append(last.row[:0], c.Row...), told.Date, told.Kind
		if !q.Span.Has(told.Date) {
			return nil
		}
		return emit(info.Layout.UserKey(c.Row), told.Date, told.Kind)
	})
}
