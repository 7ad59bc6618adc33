package layout_test

import (
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
)

// TestWideColumnsAreAsDrawn encodes records in order of column ID, which differs from the order of
// time.
func TestWideColumnsAreAsDrawn(t *testing.T) {
	record := func(kind int, micros, id int64) *behaviour.Record {
		return &behaviour.Record{User: []byte("u_1"), Kind: kind, Time: micros, ID: id, Values: [][]byte{nil, {}, nil}[:3-3*kind]}
	}
	row := []byte(`u\u1_`)
	checkCells(t, inCells(t, layout.Wide{}, september, record(0, -1, 1), record(0, 1999, 2), record(1, 1999, 2), record(0, 1999, 3)),
		cell.Cell{Row: row, Qualifier: []byte(unhex(t, "7ffffffffffff830 fff8 fffffffffffffffd")), Time: 1},
		cell.Cell{Row: row, Qualifier: []byte(unhex(t, "7ffffffffffff830 fffc fffffffffffffffc")), Time: 1, Value: []byte("\x00\x01")},
		cell.Cell{Row: row, Qualifier: []byte(unhex(t, "7ffffffffffff830 fffc fffffffffffffffd")), Time: 1, Value: []byte("\x00\x01")},
		cell.Cell{Row: row, Qualifier: []byte(unhex(t, "8000000000000000 fffc fffffffffffffffe")), Time: -1, Value: []byte("\x00\x01")},
	)
}

func TestWideReadsColumnsOfOneRow(t *testing.T) {
	q := layout.Want{Kinds: []int{0}, Span: behaviour.Span{From: 0, To: 10}, Times: &layout.Times{First: 1000, Last: 1999}}
	reads, err := layout.Wide{}.Reads(&behaviour.Schema{Zone: "UTC", Kinds: september.Kinds}, q)
	if err != nil {
		t.Fatal(err)
	}
	from, to := unhex(t, "7ffffffffffff830 0000 0000000000000000"), unhex(t, "7ffffffffffffc17 ffff ffffffffffffffff 00")
	if c := reads.Columns; string(c.From) != from || string(c.To) != to || c.Prefixes != nil {
		t.Errorf("reads the columns %+q, want those from %q to %q", c, from, to)
	}
	var got []string
	reads.Ranges([]byte("u_"), func(start, stop []byte) bool {
		got = append(got, string(start), string(stop))
		return true
	})
	reads.Rows([]byte("u_"), func(row []byte) bool {
		got = append(got, string(row))
		return true
	})
	if len(got) != 3 || got[0] != "u_" || got[1] != "u_\x00" || got[2] != "u_" {
		t.Errorf("reads the range and the row %q, want u_ alone both times", got)
	}
}
