package tabletest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/layout"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// query asks for ranges, which ascend, and for days.
func query(ranges []split.Region, span behaviour.Span) table.Query {
	return table.Query{
		Ranges: slices.Values(ranges), Span: span,
		Bounds: split.Region{Start: ranges[0].Start, End: ranges[len(ranges)-1].End},
	}
}

func everything() table.Query { return query([]split.Region{{}}, allDays) }

// rowsQuery asks for single rows, which ascend.
func rowsQuery(rows [][]byte, span behaviour.Span) table.Query {
	return table.Query{
		Rows: slices.Values(rows), Span: span,
		Bounds: split.Region{Start: rows[0], End: append(bytes.Clone(rows[len(rows)-1]), 0)},
	}
}

// scan returns the cells that a table gives.
func scan(t *testing.T, from table.Table, q table.Query) []*cell.Cell {
	t.Helper()
	var out []*cell.Cell
	if err := from.Read(t.Context(), q, func(c *cell.Cell) error { out = append(out, c.Clone()); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// checkVisits checks that the cells of a row come in order, beginning again at
// most once for each load.
func (w *world) checkVisits(t *testing.T, cells []*cell.Cell) {
	t.Helper()
	begun := map[string]int{}
	for i, c := range cells {
		if i == 0 || !bytes.Equal(cells[i-1].Row, c.Row) || cell.Compare(cells[i-1], c) >= 0 {
			begun[string(c.Row)]++
		}
		if begun[string(c.Row)] > w.loads {
			t.Fatalf("row %q is begun %d times, after %d loads", c.Row, begun[string(c.Row)], w.loads)
		}
	}
}

// texts are cells as lines, sorted.
func texts(cells []*cell.Cell) []string {
	var out []string
	for _, c := range cells {
		out = append(out, c.String())
	}
	slices.Sort(out)
	return out
}

// expect compares the cells of a scan with those that must come, asked, and those
// that may, allowed.
func expect(t *testing.T, what string, got, asked, allowed []*cell.Cell) {
	t.Helper()
	have, may := texts(got), texts(allowed)
	if n := len(slices.Compact(slices.Clone(have))); n != len(have) {
		t.Errorf("%s: %d cells come twice", what, len(have)-n)
	}
	for _, c := range texts(asked) {
		if _, ok := slices.BinarySearch(have, c); !ok {
			t.Fatalf("%s: %s is missing from %d cells", what, c, len(have))
		}
	}
	for _, c := range have {
		if _, ok := slices.BinarySearch(may, c); !ok {
			t.Fatalf("%s: %s was not asked for", what, c)
		}
	}
}

// cells are those of all rows that are wanted.
func (w *world) cells(want func(row) bool) []*cell.Cell {
	var out []*cell.Cell
	for _, r := range w.rows {
		if want(r) {
			out = append(out, r.cells...)
		}
	}
	return out
}

// ranges makes some up that ascend and do not overlap: users whole, parts of
// them, single rows, and stretches with nobody in them.
func (w *world) ranges() []split.Region {
	var points [][]byte
	for range 2 * (1 + w.dice.IntN(8)) {
		key := w.rows[w.dice.IntN(len(w.rows))].key
		switch w.dice.IntN(3) {
		case 0:
			key = w.layout.UserKey(key)
		case 1:
			key = append(bytes.Clone(key), 0)
		}
		points = append(points, key)
	}
	slices.SortFunc(points, bytes.Compare)
	var out []split.Region
	for i := 0; i < len(points); i += 2 {
		if !bytes.Equal(points[i], points[i+1]) {
			out = append(out, split.Region{Start: points[i], End: points[i+1]})
		}
	}
	return out
}

func testScan(t *testing.T, w *world) {
	from := w.make(t, 3)
	all := w.cells(func(row) bool { return true })
	got := scan(t, from, everything())
	expect(t, "everything", got, all, all)
	once := everything()
	once.Once = true
	expect(t, "everything, once", scan(t, from, once), all, all)
	w.checkVisits(t, got)
	for range 200 {
		ranges := w.ranges()
		if len(ranges) == 0 {
			continue
		}
		span := behaviour.Span{From: firstDay + behaviour.Date(w.dice.IntN(3))}
		span.To = span.From + behaviour.Date(w.dice.IntN(3))
		in := func(r row) bool {
			return slices.ContainsFunc(ranges, func(g split.Region) bool { return g.Has(r.key) })
		}
		q := query(ranges, span)
		asked, allowed := w.cells(func(r row) bool { return in(r) && span.Has(r.date) }), w.cells(in)
		expect(t, "ranges", scan(t, from, q), asked, allowed)

		var err error
		if q.Columns, err = w.columns(layout.Want{Kinds: []int{1}}); err != nil {
			t.Fatal(err)
		}
		asked = slices.DeleteFunc(asked, func(c *cell.Cell) bool {
			return !slices.ContainsFunc(q.Columns.Prefixes, func(p []byte) bool { return bytes.HasPrefix(c.Qualifier, p) })
		})
		expect(t, "ranges and prefixes", scan(t, from, q), asked, allowed)
	}
}

// testGet asks for rows by name: some that are there, some that are not, and some
// that begin as others do.
func testGet(t *testing.T, w *world) {
	from := w.make(t, 3)
	for range 100 {
		var rows [][]byte
		for range 1 + w.dice.IntN(60) {
			key := bytes.Clone(w.rows[w.dice.IntN(len(w.rows))].key)
			switch w.dice.IntN(4) {
			case 0:
				key[len(key)-1]++
			case 1:
				key = key[:len(key)-1]
			}
			rows = append(rows, key)
		}
		slices.SortFunc(rows, bytes.Compare)
		rows = slices.CompactFunc(rows, bytes.Equal)
		asked := func(r row) bool {
			return slices.ContainsFunc(rows, func(k []byte) bool { return bytes.Equal(k, r.key) })
		}
		q := rowsQuery(rows, allDays)
		got := scan(t, from, q)
		expect(t, "rows", got, w.cells(asked), w.cells(asked))
		w.checkVisits(t, got)

		var err error
		if q.Columns, err = w.columns(layout.Want{Kinds: []int{1}}); err != nil {
			t.Fatal(err)
		}
		must := slices.DeleteFunc(w.cells(asked), func(c *cell.Cell) bool {
			return !slices.ContainsFunc(q.Columns.Prefixes, func(p []byte) bool { return bytes.HasPrefix(c.Qualifier, p) })
		})
		expect(t, "rows and prefixes", scan(t, from, q), must, w.cells(asked))
	}
}

var errFull = errors.New("that is enough")

func testScanStops(t *testing.T, w *world) {
	from := w.make(t, 2)
	n := 0
	err := from.Read(t.Context(), everything(), func(*cell.Cell) error {
		if n++; n == 10 {
			return errFull
		}
		return nil
	})
	if !errors.Is(err, errFull) || n != 10 {
		t.Errorf("%v after %d cells, want %v after 10", err, n, errFull)
	}
}

func testScanCancelled(t *testing.T, w *world) {
	from := w.make(t, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errFull)
	if err := from.Read(ctx, everything(), func(*cell.Cell) error { return nil }); !errors.Is(err, errFull) {
		t.Errorf("%v, want the context's %v", err, errFull)
	}
	// The table is none the worse for it, nor for a context that ends later.
	all := w.cells(func(row) bool { return true })
	ctx, cancel = context.WithCancelCause(t.Context())
	if err := from.Read(ctx, everything(), func(*cell.Cell) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Users(ctx, split.Region{}, allDays); err != nil {
		t.Fatal(err)
	}
	cancel(errFull)
	expect(t, "afterwards", scan(t, from, everything()), all, all)
	if got, _ := walk(t, from, split.Region{}, allDays); len(got) != len(w.did(split.Region{}, allDays)) {
		t.Errorf("afterwards there are %d users", len(got))
	}
}

// testConcurrent asks a table from many goroutines that meet its files unopened.
func testConcurrent(t *testing.T, w *world) {
	from := w.make(t, 3)
	want := strings.Join(texts(w.cells(func(row) bool { return true })), "\n")
	done := make(chan string)
	for range 8 {
		go func() {
			var cells []*cell.Cell
			err := from.Read(t.Context(), everything(), func(c *cell.Cell) error { cells = append(cells, c.Clone()); return nil })
			if err != nil {
				done <- err.Error()
				return
			}
			done <- strings.Join(texts(cells), "\n")
		}()
	}
	for range 8 {
		if got := <-done; got != want {
			t.Errorf("a scan beside others gives %d bytes, want %d: %.200s", len(got), len(want), got)
		}
	}
}

// columns are those that hold what q asks for.
func (w *world) columns(q layout.Want) (layout.Columns, error) {
	r, err := w.layout.Reads(w.schema, q)
	if err != nil {
		return layout.Columns{}, err
	}
	return r.Columns, nil
}
