package tabletest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// existing are the rows that a query finds, as lines, sorted and each once.
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

// there are the rows that are wanted, as existing gives them.
func (w *world) there(want func(row) bool) []string {
	var out []string
	for _, r := range w.rows {
		if want(r) {
			out = append(out, fmt.Sprintf("%q %s %d", r.user, r.date, r.kind))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// testExist asks which rows are there: of ranges they come in order, and neither of
// them nor of rows by name is any left out or made up.
func testExist(t *testing.T, w *world) {
	from := w.make(t, 3)
	q := everything()
	q.Exist, q.Ordered = true, true
	cells := scan(t, from, q)
	if !slices.IsSortedFunc(cells, func(a, b *cell.Cell) int { return bytes.Compare(a.Row, b.Row) }) {
		t.Error("rows that were asked whether they exist do not come in order")
	}
	for range 100 {
		ranges := w.ranges()
		if len(ranges) == 0 {
			continue
		}
		span := behaviour.Span{From: firstDay + behaviour.Date(w.dice.IntN(3))}
		span.To = span.From + behaviour.Date(w.dice.IntN(3))
		want := w.there(func(r row) bool {
			return span.Has(r.date) && slices.ContainsFunc(ranges, func(g split.Region) bool { return g.Has(r.key) })
		})
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
		want = w.there(func(r row) bool {
			return span.Has(r.date) && slices.ContainsFunc(rows, func(k []byte) bool { return bytes.Equal(k, r.key) })
		})
		if got := existing(t, from, rowsQuery(rows, span)); !slices.Equal(got, want) {
			t.Fatalf("of %q on %s there are the rows\n%q, want\n%q", rows, span, got, want)
		}
	}
}

// testUnrolled compares the users that the rows tell with those of the rolls and with
// a list, also where a region ends between the rows of one user: that user is in the
// region that has the key, with all rows.
func testUnrolled(t *testing.T, w *world) {
	from := w.make(t, 4)
	keys := make([][]byte, 0, len(w.rows))
	for _, r := range w.rows {
		keys = append(keys, r.key)
	}
	for range 20 {
		var ends [][]byte
		for range 3 {
			key := keys[w.dice.IntN(len(keys))]
			ends = append(ends, key[:1+w.dice.IntN(len(key))])
		}
		slices.SortFunc(ends, bytes.Compare)
		span := behaviour.Span{From: firstDay + behaviour.Date(w.dice.IntN(3)), To: lastDay - behaviour.Date(w.dice.IntN(3))}
		for _, region := range split.Points(slices.CompactFunc(ends, bytes.Equal)).Regions() {
			want := map[string]activity.Set{}
			for _, row := range w.rows {
				if region.Has(row.user) && span.Has(row.date) {
					want[string(row.user)] |= activity.Of(row.kind)
				}
			}
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
