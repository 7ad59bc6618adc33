package table

import (
	"context"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
)

// Existing calls emit for the records in q's rows and span, in order of rows, with the key
// of the user, the date, and the kind in the table's schema. It reads no more cells than it
// needs. It may call emit several times with the same values. The key is valid until emit
// returns. One goroutine at a time calls emit. Foreign cells are skipped. If the first cell of
// a row is foreign, the row counts as existing.
func Existing(ctx context.Context, t Table, q Query, emit func(key []byte, date behaviour.Date, kind int) error) error {
	info := t.Info()
	q.Columns, q.Ordered = layout.Columns{}, true
	if q.Exist = info.Layout.Traits().DayRows; !q.Exist {
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
		rec, ok := teller.Tell(c)
		if !ok && q.Exist { // the row may have other cells, which Read does not emit
			rec, ok = layout.TellRow(teller, c.Row)
		}
		if !ok {
			return nil
		}
		if rec.Date == last.date && rec.Kind == last.kind && string(last.row) == string(c.Row) {
			return nil
		}
		last.row, last.date, last.kind = append(last.row[:0], c.Row...), rec.Date, rec.Kind
		if !q.Span.Has(rec.Date) {
			return nil
		}
		return emit(info.Layout.UserKey(c.Row), rec.Date, rec.Kind)
	})
}
