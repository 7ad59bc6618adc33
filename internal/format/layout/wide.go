package layout

import (
	"cmp"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
)

// Wide has one row for each user, with one column for each record, the latest first:
//
//	row        user _                                                  (userkey.go)
//	qualifier  math.MaxInt64 - time , ^ behaviour ID , ^ column ID      (invert.go)
//	timestamp  the behaviour's time in milliseconds
//	value      all fields                                              (packed.go)
//
// Two events of one instant have two columns, because their behaviour IDs or column IDs
// differ. Every record has one cell, even if all its fields are null, and the
// qualifier holds its microseconds, so there is no marker.
//
//	at a time            a get of the columns of that microsecond
//	all of a user        a get
//	a span               a get of the columns between two times
//	the latest N         a get of the first N columns
//
// The published design has two faults that this layout avoids: its qualifier is the time
// alone, so only one of two events of one instant stays, and a query for one day gets the
// whole family of the user. A row cannot be chosen by day, nor rows or columns by behaviour.
// A query for one field reads the whole record. A row is never split between regions, and
// HBase refuses gets of rows larger than hbase.table.max.rowsize, 1 GiB: Tall suits users
// with very many events better.
type Wide struct{}

var _ = Register(Wide{})

// Name implements Layout.
func (Wide) Name() string { return "wide" }

// Traits implements Layout.
func (Wide) Traits() Traits {
	return Traits{Together: true, Newest: NewestColumns, Ranges: Limits{Dates: true, Times: true}}
}

// Fits implements Layout.
func (Wide) Fits(*behaviour.Schema, *behaviour.Record) error { return nil }

// AppendRow implements Layout.
func (Wide) AppendRow(dst []byte, _ *behaviour.Schema, r *behaviour.Record) []byte {
	return appendUserKey(dst, r.User)
}

// AppendUserKey implements Layout.
func (Wide) AppendUserKey(dst, user []byte) []byte { return appendUserKey(dst, user) }

// AppendUser implements Layout.
func (Wide) AppendUser(dst, key []byte) ([]byte, error) { return parseUserKey(dst, key) }

// UserKey implements Layout.
func (Wide) UserKey(row []byte) []byte {
	n := userKeyLen(row)
	if n == 0 || n != len(row) {
		return nil
	}
	return row[:n:n]
}

// Reads implements Layout. The row of a user is the user key. The time bounds the columns.
func (Wide) Reads(s *behaviour.Schema, q Want) (*Reads, error) {
	t, err := q.times(s)
	if err != nil {
		return nil, err
	}
	from, to := invertedRange(t)
	none := t.First > t.Last
	var stop []byte
	return &Reads{
		Timed:   true,
		Columns: Columns{From: from, To: to},
		Ranges: func(key []byte, yield func(start, stop []byte) bool) bool {
			stop = append(append(stop[:0], key...), 0)
			return none || yield(key, stop)
		},
		Rows: func(key []byte, yield func(row []byte) bool) bool { return none || yield(key) },
	}, nil
}

// Teller implements Layout.
func (l Wide) Teller(s *behaviour.Schema) Teller {
	return &invertedTeller{inverted: newInverted(s), layout: l}
}

// Encoder implements Layout.
func (Wide) Encoder(s *behaviour.Schema, family string) Encoder {
	return &wideEncoder{schema: s, family: []byte(family)}
}

// Decoder implements Layout.
func (l Wide) Decoder(s *behaviour.Schema, q Want) Decoder { return newInvertedDecoder(l, s, q) }

func (l Wide) cut(c *cell.Cell) (key, name []byte) { return l.UserKey(c.Row), c.Qualifier }

// wideEncoder holds a user's records packed, one after the other.
type wideEncoder struct {
	schema  *behaviour.Schema
	family  []byte
	records []wideRecord
	packed  []byte
	c       cell.Cell
	qual    []byte
}

// A wideRecord is a record that ends at a byte of wideEncoder.packed.
type wideRecord struct {
	time, id   int64
	start, end int
	kind       int
}

// Add implements Encoder.
func (e *wideEncoder) Add(r *behaviour.Record) {
	start := len(e.packed)
	e.packed = appendPacked(e.packed, r.Values)
	e.records = append(e.records, wideRecord{r.Time, r.ID, start, len(e.packed), r.Kind})
}

// Cells implements Encoder. Logs and their records are mostly in order of time. Their columns are in
// the reverse order.
func (e *wideEncoder) Cells(row []byte, emit func(*cell.Cell) error) error {
	if !slices.IsSortedFunc(e.records, inTime) {
		slices.SortFunc(e.records, inTime)
	}
	e.c.Row, e.c.Family, e.c.Type = row, e.family, cell.Put
	for _, r := range slices.Backward(e.records) {
		e.qual = appendInverted(e.qual[:0], r.time, e.schema.Kinds[r.kind].ID, r.id)
		e.c.Qualifier, e.c.Time, e.c.Value = e.qual, behaviour.Millis(r.time), e.packed[r.start:r.end]
		if err := emit(&e.c); err != nil {
			return err
		}
	}
	e.records, e.packed = e.records[:0], e.packed[:0]
	return nil
}

// inTime is the order of a trail.
func inTime(a, b wideRecord) int {
	return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id))
}
