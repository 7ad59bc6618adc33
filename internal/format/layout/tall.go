package layout

import (
	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
)

// Tall has one row for each record. A user's latest record comes first:
//
//	row        user _ , math.MaxInt64 - time , ^ behaviour ID , ^ column ID
//	           (userkey.go, invert.go)
//	qualifier  empty
//	timestamp  the behaviour's time in milliseconds
//	value      all fields (packed.go)
//
// Two events of one instant have two rows, because their behaviour IDs or column IDs
// differ. Every record has one cell, even if all its fields are null, and the row holds
// its microseconds, so there is no marker.
//
//	at a time            a scan of the rows of that microsecond
//	all of a user        a scan from the user key, over that user's rows only
//	a span               a scan between two times
//	the latest N         the first N rows of such a scan
//
// Published designs of this kind have three faults that this layout avoids. Without a
// separator, a scan from user to user + 1 also returns rows of users whose IDs begin with
// the same characters. If the time alone follows the user, only one of two events of one
// instant stays. If the difference is a decimal number, rows are out of order where its
// length changes. A query for one field reads the whole record.
type Tall struct{}

var _ = Register(Tall{})

// Name implements Layout.
func (Tall) Name() string { return "tall" }

// Traits implements Layout.
func (Tall) Traits() Traits {
	return Traits{
		Together: true, DayRows: true, Newest: NewestRows,
		Row: RowParts{Kind: true, Date: true, Second: true, ID: true}, Ranges: Limits{Dates: true, Times: true},
	}
}

// Fits implements Layout.
func (Tall) Fits(*behaviour.Schema, *behaviour.Record) error { return nil }

// AppendRow implements Layout.
func (Tall) AppendRow(dst []byte, s *behaviour.Schema, r *behaviour.Record) []byte {
	return appendInverted(appendUserKey(dst, r.User), r.Time, s.Kinds[r.Kind].ID, r.ID)
}

// AppendUserKey implements Layout.
func (Tall) AppendUserKey(dst, user []byte) []byte { return appendUserKey(dst, user) }

// AppendUser implements Layout.
func (Tall) AppendUser(dst, key []byte) ([]byte, error) { return parseUserKey(dst, key) }

// UserKey implements Layout.
func (Tall) UserKey(row []byte) []byte {
	n := userKeyLen(row)
	if n == 0 || len(row) != n+invertedLen {
		return nil
	}
	return row[:n:n]
}

// Reads implements Layout. A user's rows are one range. The rows cannot be computed,
// because the column IDs are not known.
func (Tall) Reads(s *behaviour.Schema, q Want) (*Reads, error) {
	t, err := q.times(s)
	if err != nil {
		return nil, err
	}
	from, to := invertedRange(t)
	none := t.First > t.Last
	var start, stop []byte
	return &Reads{
		Timed: true,
		Ranges: func(key []byte, yield func(start, stop []byte) bool) bool {
			if none {
				return true
			}
			start = append(append(start[:0], key...), from...)
			stop = append(append(stop[:0], key...), to...)
			return yield(start, stop)
		},
	}, nil
}

// Teller implements Layout.
func (l Tall) Teller(s *behaviour.Schema) Teller {
	return &invertedTeller{inverted: newInverted(s), layout: l}
}

// Encoder implements Layout.
func (Tall) Encoder(_ *behaviour.Schema, family string) Encoder {
	return &tallEncoder{c: cell.Cell{Family: []byte(family), Type: cell.Put}}
}

// Decoder implements Layout.
func (l Tall) Decoder(s *behaviour.Schema, q Want) Decoder { return newInvertedDecoder(l, s, q) }

func (l Tall) cut(c *cell.Cell) (key, name []byte) {
	key = l.UserKey(c.Row)
	if key == nil || len(c.Qualifier) != 0 {
		return nil, nil
	}
	return key, c.Row[len(key):]
}

// tallEncoder holds the one record of a row, packed.
type tallEncoder struct {
	c      cell.Cell
	packed []byte
	some   bool // there is a record
}

// Add implements Encoder.
func (e *tallEncoder) Add(r *behaviour.Record) {
	e.packed = appendPacked(e.packed[:0], r.Values)
	e.c.Time, e.some = behaviour.Millis(r.Time), true
}

// Cells implements Encoder.
func (e *tallEncoder) Cells(row []byte, emit func(*cell.Cell) error) error {
	if !e.some {
		return nil
	}
	e.some = false
	e.c.Row, e.c.Value = row, e.packed
	return emit(&e.c)
}
