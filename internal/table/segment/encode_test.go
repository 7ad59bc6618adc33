package segment_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/segment"
	"usertrail/internal/table/shuffle"
)

// sameSecond returns n records of one user in one second, in order of column ID.
func sameSecond(dice *rand.Rand, n int) []behaviour.Record {
	first := behaviour.DateOf(2014, 9, 1)
	out := make([]behaviour.Record, n)
	for i := range out {
		r := behaviour.Record{User: []byte("0042"), Date: first, ID: int64(10*i + dice.IntN(10)), Time: int64(first)*24*3600*1e6 + dice.Int64N(1e6)}
		r.Values = [][]byte{fmt.Appendf(nil, "title %d", dice.IntN(100)), behaviour.AppendInt64(nil, int64(i))}
		if dice.IntN(3) == 0 {
			r.Values[dice.IntN(2)] = nil
		}
		out[i] = r
	}
	return out
}

// rowOf encodes records as one row. It uses only the layout if rows is nil.
func rowOf(t *testing.T, l layout.Layout, s *behaviour.Schema, recs []behaviour.Record, rows *segment.RowEncoder) []*cell.Cell {
	t.Helper()
	row := l.AppendRow(nil, s, &recs[0])
	var out []*cell.Cell
	emit := func(c *cell.Cell) error {
		out = append(out, c.Clone())
		return nil
	}
	enc := l.Encoder(s, "d")
	for i := range recs {
		if rows == nil {
			enc.Add(&recs[i])
			continue
		}
		packed := behaviour.AppendPacked(nil, &recs[i])
		var r behaviour.Record
		if err := r.Unpack(rows.Keep(packed)); err != nil {
			t.Fatal(err)
		}
		clear(packed)
		r.User, r.ID = recs[i].User, recs[i].ID
		if err := rows.Add(row, &r); err != nil {
			t.Fatal(err)
		}
		rows.Keep([]byte("a duplicate record"))
		rows.Forget()
	}
	var err error
	if rows == nil {
		err = enc.Cells(row, emit)
	} else {
		err = rows.End(row, emit)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestALargeRecordHasTheLayoutsCells encodes rows of one record each, in turn larger than the memory and small. The cells are
// equal to the layout's own cells.
func TestALargeRecordHasTheLayoutsCells(t *testing.T) {
	s := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{
		{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64}}},
	}}
	for _, name := range layout.Names() {
		l, err := layout.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		rows := segment.NewRowEncoder(t.Context(), l.Encoder(s, "d"), shuffle.Config{FS: local.New(), Dir: t.TempDir(), Memory: 64 << 10})
		for i, size := range []int{4 << 20, 10, 8 << 20, 4 << 20} {
			recs := sameSecond(rand.New(rand.NewPCG(1, uint64(i))), 1)
			recs[0].Values[0] = bytes.Repeat([]byte("x"), size)
			got, want := rowOf(t, l, s, recs, rows), rowOf(t, l, s, recs, nil)
			if len(got) != len(want) {
				t.Fatalf("%s: a record of %d bytes is %d cells, want %d", name, size, len(got), len(want))
			}
			for i := range got {
				if cell.Compare(got[i], want[i]) != 0 || !bytes.Equal(got[i].Value, want[i].Value) {
					t.Errorf("%s: a record of %d bytes: cell %d differs", name, size, i)
				}
			}
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLargeRowsHaveTheLayoutsCells encodes large and small rows in turn. Large rows do not fit
// into memory. The cells are equal to the layout's own cells.
func TestLargeRowsHaveTheLayoutsCells(t *testing.T) {
	s := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{
		{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64}}},
	}}
	large := 0
	for _, name := range layout.Names() {
		l, err := layout.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		recs := sameSecond(rand.New(rand.NewPCG(1, 2)), 5000)
		if !bytes.Equal(l.AppendRow(nil, s, &recs[0]), l.AppendRow(nil, s, &recs[1])) {
			continue // a row is a record
		}
		large++
		dir := t.TempDir()
		rows := segment.NewRowEncoder(t.Context(), l.Encoder(s, "d"), shuffle.Config{FS: local.New(), Dir: dir, Memory: 64 << 10})
		for from, n := range []int{5000, 3, 4000, 1} {
			some := recs[from:min(from+n, len(recs))]
			got, want := rowOf(t, l, s, some, rows), rowOf(t, l, s, some, nil)
			if len(got) != len(want) {
				t.Fatalf("%s: %d records are %d cells, want %d", name, len(some), len(got), len(want))
			}
			for i := range got {
				if cell.Compare(got[i], want[i]) != 0 || !bytes.Equal(got[i].Value, want[i].Value) {
					t.Fatalf("%s: cell %d of %d records is %s, want %s", name, i, len(some), got[i], want[i])
				}
			}
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %d files remain, %v", name, len(left), err)
		}
	}
	if large < 4 {
		t.Errorf("%d layouts have rows of many records", large)
	}
}
