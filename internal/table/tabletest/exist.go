package tabletest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// existing returns the rows that a query finds, as sorted lines without duplicates.
func existing(t *testing.T, from table.Table, q table.Query) []string {
	t.Helper()
	var out []string
	err := table.Existing(t.Context(), from, q, func(key []byte, date behaviour.Date, kind int) error {
		out = append(out, fmt.Sprintf("%q %s %d", key, date, kind))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// there returns the expected rows of the days of a span, in the form of existing.
func (w *world) there(span behaviour.Span, want func(key []byte) bool) []string {
	var out []string
	for _, r := range w.rows {
		for i := range r.records {
			if x := &r.records[i]; span.Has(x.Date) && want(r.key) {
				out = append(out, fmt.Sprintf("%q %s %d", r.user, x.Date, x.Kind))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// testExist queries which rows exist. Rows of ranges come in order. No row is missing, and no row
// is invented.
func testExist(t *testing.T, w *world, from table.Table) {
	q := everything()
	q.Ordered, q.Exist = true, w.layout.Traits().DayRows
	cells := scan(t, from, q)
	if !slices.IsSortedFunc(cells, func(a, b *cell.Cell) int { return bytes.Compare(a.Row, b.Row) }) {
		t.Error("rows that were asked for in order do not come in order")
	}
	for range 60 {
		ranges := w.ranges()
		if len(ranges) == 0 {
			continue
		}
		span := w.span()
		want := w.there(span, func(key []byte) bool { return has(ranges, key) })
		if got := existing(t, from, query(ranges, span)); !slices.Equal(got, want) {
			t.Fatalf("in %s of %s there are the rows\n%q, want\n%q", ranges, span, got, want)
		}
		var rows [][]byte
		for range 1 + w.dice.IntN(30) {
			key := bytes.Clone(w.rows[w.dice.IntN(len(w.rows))].key)
			if w.dice.IntN(3) == 0 {
				key[len(key)-1] ^= 3 // another behaviour's, or none's
			}
			rows = append(rows, key)
		}
		slices.SortFunc(rows, bytes.Compare)
		rows = slices.CompactFunc(rows, bytes.Equal)
		want = w.there(span, func(key []byte) bool {
			return slices.ContainsFunc(rows, func(k []byte) bool { return bytes.Equal(k, key) })
		})
		if got := existing(t, from, rowsQuery(rows, span)); !slices.Equal(got, want) {
			t.Fatalf("of %q on %s there are the rows\n%q, want\n%q", rows, span, got, want)
		}
	}
}

// testUnrolled compares the users of the rows with the users of the rolls and with a list. A region may
// end between the rows of one user. This user, with all rows, is in the region that has the user key.
func testUnrolled(t *testing.T, w *world, from table.Table) {
	for range 20 {
		span := behaviour.Span{From: firstDay + behaviour.Date(w.dice.IntN(3)), To: lastDay - behaviour.Date(w.dice.IntN(3))}
		for _, region := range w.userRegions() {
			want := w.did(region, span)
			for what, asked := range map[string]table.Table{"rolls": from, "rows": table.Unrolled(from)} {
				got, names := walk(t, asked, region, span)
				if !slices.IsSorted(names) || len(got) != len(names) {
					t.Fatalf("by its %s %s has the users %q, want each once and in order", what, region, names)
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("by its %s %s has on %s the users\n%v, want\n%v", what, region, span, got, want)
				}
			}
		}
	}
	users, err := table.Unrolled(from).Users(t.Context(), split.Region{}, allDays)
	if err != nil {
		t.Fatal(err)
	}
	if key := []byte("!,"); !users.SeekGE(key) || !bytes.Equal(users.User().Key, key) || users.User().Sure {
		t.Errorf("without rolls %q is %+v, want somebody who may be there", key, users.User())
	}
	if !users.Next() {
		t.Errorf("after a key that nobody has there is nobody: %v", users.Err())
	}
	if err := users.Close(); err != nil {
		t.Error(err)
	}
}

// userRegions returns random regions that end within users, or between the rows of users. If the rows of a
// user are not adjacent in the layout, one region has all users.
func (w *world) userRegions() []split.Region {
	if !w.layout.Traits().Together {
		return []split.Region{{}}
	}
	var ends [][]byte
	for range 3 {
		key := w.rows[w.dice.IntN(len(w.rows))].key
		ends = append(ends, key[:1+w.dice.IntN(len(key))])
	}
	slices.SortFunc(ends, bytes.Compare)
	return split.Points(slices.CompactFunc(ends, bytes.Equal)).Regions()
}
