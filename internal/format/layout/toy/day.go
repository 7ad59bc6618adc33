// Package toy has one more layout. It is the example of docs/explanation/layouts.md for a new layout.
// Only tests import it.
package toy

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/format/layout"
	"usertrail/internal/trail"
)

// Day has one row for each day and user, with all records of the user on that day:
//
//	row        date user                 2014-09-01u42
//	qualifier  behaviour , column ID     (package column)
//	timestamp  the behaviour's time in milliseconds
//	value      the microseconds within the millisecond and all fields, as JSON
//
// Two behaviours of one instant are two columns: their names or column IDs differ.
type Day struct{}

var _ = layout.Register(Day{})

// Name implements layout.Layout.
func (Day) Name() string { return "day" }

// Traits implements layout.Layout. A row holds a day of a user, and each record is one cell,
// whose column begins with the behaviour. Ranges hold only the days of the query.
func (Day) Traits() layout.Traits {
	return layout.Traits{Row: layout.RowParts{Date: true}, KindColumns: true, Ranges: layout.Limits{Dates: true}}
}

// Fits implements layout.Layout.
func (Day) Fits(*behaviour.Schema, *behaviour.Record) error { return nil }

// AppendRow implements layout.Layout.
func (Day) AppendRow(dst []byte, _ *behaviour.Schema, r *behaviour.Record) []byte {
	return append(append(dst, r.Date.String()...), r.User...)
}

// AppendUserKey implements layout.Layout. The user ends the row, so nothing must be escaped.
func (Day) AppendUserKey(dst, user []byte) []byte { return append(dst, user...) }

// AppendUser implements layout.Layout.
func (Day) AppendUser(dst, key []byte) ([]byte, error) {
	if n := len(key); n == 0 || n > behaviour.MaxUserLen || !utf8.Valid(key) {
		return nil, fmt.Errorf("layout: %q is not a user ID", key)
	}
	return append(dst, key...), nil
}

// UserKey implements layout.Layout.
func (l Day) UserKey(row []byte) []byte {
	if _, key, err := l.cut(row); err == nil {
		return key
	}
	return nil
}

// cut parts a row into the date and the user key.
func (Day) cut(row []byte) (behaviour.Date, []byte, error) {
	n := min(len(row), len("2014-09-01"))
	date, err := behaviour.ParseDate(string(row[:n]))
	if err != nil || len(row) == n {
		return 0, nil, fmt.Errorf("layout: row %q is not a date and a user", row)
	}
	return date, row[n:len(row):len(row)], nil
}

// Reads implements layout.Layout.
func (Day) Reads(s *behaviour.Schema, q layout.Want) (*layout.Reads, error) {
	var names []string
	for _, k := range q.Kinds {
		names = append(names, column.Escape(s.Kinds[k].Name))
	}
	prefixes, err := column.Prefixes(names)
	if err != nil {
		return nil, err
	}
	days := func(key []byte, yield func(row []byte) bool) bool {
		for date := q.Span.From; date <= q.Span.To; date++ {
			if !yield(append([]byte(date.String()), key...)) {
				return false
			}
		}
		return true
	}
	return &layout.Reads{
		Columns: layout.Columns{Prefixes: prefixes},
		Ranges: func(key []byte, yield func(start, stop []byte) bool) bool {
			return days(key, func(row []byte) bool { return yield(row, append(slices.Clone(row), 0)) })
		},
		Rows: days,
	}, nil
}

// Teller implements layout.Layout.
func (Day) Teller(s *behaviour.Schema) layout.Teller { return dayTeller{s} }

type dayTeller struct{ schema *behaviour.Schema }

// Tell implements layout.Teller.
func (t dayTeller) Tell(c *cell.Cell) (layout.RecordID, bool) {
	rec, key, err := t.parse(c)
	if err != nil || len(key) > behaviour.MaxUserLen || !utf8.Valid(key) {
		return layout.RecordID{}, false
	}
	return rec, true
}

// parse parses the row and the qualifier of a cell.
func (t dayTeller) parse(c *cell.Cell) (rec layout.RecordID, key []byte, err error) {
	if rec.Date, key, err = (Day{}).cut(c.Row); err != nil {
		return rec, nil, err
	}
	name, id, err := column.Parse(c.Qualifier)
	if err != nil {
		return rec, nil, fmt.Errorf("layout: row %q: %w", c.Row, err)
	}
	kind := slices.IndexFunc(t.schema.Kinds, func(k behaviour.Kind) bool { return column.Escape(k.Name) == string(name) })
	if kind < 0 {
		return rec, nil, fmt.Errorf("layout: row %q, qualifier %q: no behaviour is called %q", c.Row, c.Qualifier, name)
	}
	rec.Kind, rec.ID = kind, id
	return rec, key, nil
}

// dayValue is what a cell's value holds. Null is null in JSON, too, and an empty text is
// not.
type dayValue struct {
	Micros int64
	Fields [][]byte
}

// Encoder implements layout.Layout.
func (Day) Encoder(s *behaviour.Schema, family string) layout.Encoder {
	return &dayEncoder{schema: s, family: []byte(family)}
}

type dayEncoder struct {
	schema *behaviour.Schema
	family []byte
	cells  []*cell.Cell
	err    error
}

// Add implements layout.Encoder.
func (e *dayEncoder) Add(r *behaviour.Record) {
	millis := behaviour.Millis(r.Time)
	value, err := json.Marshal(dayValue{r.Time - millis*1000, r.Values})
	if err != nil {
		e.err = err
	}
	e.cells = append(e.cells, &cell.Cell{
		Family: e.family, Qualifier: column.Append(nil, column.Escape(e.schema.Kinds[r.Kind].Name), r.ID),
		Time: millis, Type: cell.Put, Value: value,
	})
}

// Cells implements layout.Encoder. Records arrive in order of column ID. In the order of cells, the
// behaviour comes before the column ID.
func (e *dayEncoder) Cells(row []byte, emit func(*cell.Cell) error) error {
	slices.SortFunc(e.cells, cell.Compare)
	err := e.err
	for _, c := range e.cells {
		if c.Row = row; err == nil {
			err = emit(c)
		}
	}
	e.cells, e.err = e.cells[:0], nil
	return err
}

// Decoder implements layout.Layout.
func (Day) Decoder(s *behaviour.Schema, q layout.Want) layout.Decoder {
	return &dayDecoder{dayTeller: dayTeller{s}, want: q}
}

type dayDecoder struct {
	dayTeller
	want  layout.Want
	batch *trail.Batch
	user  func(key []byte) (uint32, bool)
}

// Into implements layout.Decoder.
func (d *dayDecoder) Into(b *trail.Batch, user func(key []byte) (uint32, bool)) {
	d.batch, d.user = b, user
}

// Flush implements layout.Decoder. A cell is a whole record, so nothing is left.
func (d *dayDecoder) Flush() error { return nil }

// Add implements layout.Decoder.
func (d *dayDecoder) Add(c *cell.Cell) error {
	rec, key, err := d.parse(c)
	if err != nil {
		return layout.ForeignCell(err)
	}
	if !d.want.Span.Has(rec.Date) || !slices.Contains(d.want.Kinds, rec.Kind) {
		return nil
	}
	user, ok := d.user(key)
	if !ok {
		return nil
	}
	var v dayValue
	if err := json.Unmarshal(c.Value, &v); err != nil {
		return fmt.Errorf("layout: row %q, qualifier %q: %w", c.Row, c.Qualifier, err)
	}
	first, err := d.batch.Nulls(len(d.schema.Kinds[rec.Kind].Fields))
	if err != nil {
		return err
	}
	for i := range d.batch.Refs[first:] {
		if i >= len(v.Fields) || v.Fields[i] == nil || !d.want.Has(rec.Kind, i) {
			continue
		}
		if d.batch.Refs[int(first)+i], err = d.batch.Put(v.Fields[i]); err != nil {
			return err
		}
	}
	d.batch.Events = append(d.batch.Events, trail.Event{
		Time: c.Time*1000 + v.Micros, ID: rec.ID, User: user, Refs: first,
		Date: int32(rec.Date), Kind: uint16(rec.Kind),
	})
	return nil
}
