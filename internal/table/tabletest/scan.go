package tabletest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// query returns a query for days in ranges. The ranges ascend.
func query(ranges []split.Region, span behaviour.Span) table.Query {
	return table.Query{
		Ranges: slices.Values(ranges), Span: span,
		Hints: table.Hints{Bounds: split.Region{Start: ranges[0].Start, End: ranges[len(ranges)-1].End}},
	}
}

func everything() table.Query { return query([]split.Region{{}}, allDays) }

// rowsQuery returns a query for single rows. The rows ascend.
func rowsQuery(rows [][]byte, span behaviour.Span) table.Query {
	return table.Query{
		Rows: slices.Values(rows), Span: span,
		Hints: table.Hints{Bounds: split.Region{Start: rows[0], End: append(bytes.Clone(rows[len(rows)-1]), 0)}},
	}
}

// scan returns the cells that a table returns.
func scan(t *testing.T, from table.Table, q table.Query) []*cell.Cell {
	t.Helper()
	var out []*cell.Cell
	if err := from.Read(t.Context(), q, func(c *cell.Cell) error { out = append(out, c.Clone()); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// checkVisits checks that the table returns the cells of a row in order. The cells may begin again at most
// once for each load.
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

// texts returns cells as sorted lines.
func texts(cells []*cell.Cell) []string {
	var out []string
	for _, c := range cells {
		out = append(out, c.String())
	}
	slices.Sort(out)
	return out
}

// expect compares the cells of a scan with two lists: the scan must return the cells in asked, and may
// return the cells in allowed.
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

// every wants all cells.
func every([]byte, *cell.Cell) bool { return true }

// cells returns the cells that want accepts, by the key of their row.
func (w *world) cells(want func(key []byte, c *cell.Cell) bool) []*cell.Cell {
	var out []*cell.Cell
	for _, r := range w.rows {
		for _, c := range r.cells {
			if want(r.key, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

func has(ranges []split.Region, key []byte) bool {
	return slices.ContainsFunc(ranges, func(g split.Region) bool { return g.Has(key) })
}

// hasColumn reports whether a qualifier is one of the requested columns.
func hasColumn(c layout.Columns, qualifier []byte) bool {
	begins := len(c.Prefixes) == 0 || slices.ContainsFunc(c.Prefixes, func(p []byte) bool { return bytes.HasPrefix(qualifier, p) })
	return begins && (c.From == nil || bytes.Compare(qualifier, c.From) >= 0) && (c.To == nil || bytes.Compare(qualifier, c.To) < 0)
}

// asks reports whether q must return a cell of one of its rows.
func asks(q *table.Query, c *cell.Cell) bool {
	in := q.Times == nil || q.Times.First <= c.Time*1000 && c.Time*1000 <= q.Times.Last
	return in && q.Span.Has(dayOf(c)) && hasColumn(q.Columns, c.Qualifier)
}

// span returns random days.
func (w *world) span() behaviour.Span {
	from := firstDay + behaviour.Date(w.dice.IntN(allDays.Days()))
	return behaviour.Span{From: from, To: min(lastDay, from+behaviour.Date(w.dice.IntN(3)))}
}

// want returns a random query. If it has times, they are whole milliseconds.
func (w *world) want() layout.Want {
	q := layout.Want{Span: w.span()}
	for k := range w.schema.Kinds {
		if w.dice.IntN(2) == 0 {
			q.Kinds = append(q.Kinds, k)
		}
	}
	if q.Kinds == nil {
		q.Kinds = []int{w.dice.IntN(len(w.schema.Kinds))}
	}
	if w.dice.IntN(2) == 0 {
		first := int64(q.Span.From)*dayMicros + w.dice.Int64N(dayMicros/1000)*1000
		q.Times = &layout.Times{First: first, Last: first + w.dice.Int64N(dayMicros/1000)*1000 + 999}
	}
	return q
}

// ranges returns random ranges that ascend and do not overlap: whole users, parts of users, single rows,
// and ranges without users.
func (w *world) ranges() []split.Region {
	var points [][]byte
	for range 2 * (1 + w.dice.IntN(8)) {
		key := w.rows[w.dice.IntN(len(w.rows))].key
		switch w.dice.IntN(3) {
		case 0:
			key = w.rows[w.dice.IntN(len(w.rows))].user
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

func testScan(t *testing.T, w *world, from table.Table) {
	all := w.cells(every)
	got := scan(t, from, everything())
	expect(t, "everything", got, all, all)
	w.checkVisits(t, got)
	q := everything()
	q.Once = true
	expect(t, "everything, once", scan(t, from, q), all, all)
	q.Ordered = true
	got = scan(t, from, q)
	expect(t, "everything, in order", got, all, all)
	if !slices.IsSortedFunc(got, func(a, b *cell.Cell) int { return bytes.Compare(a.Row, b.Row) }) {
		t.Error("rows do not come in order")
	}
	for range 50 {
		ranges := w.ranges()
		if len(ranges) == 0 {
			continue
		}
		q := query(ranges, w.span())
		q.Ordered = w.dice.IntN(2) == 0
		asked := w.cells(func(key []byte, c *cell.Cell) bool { return has(ranges, key) && asks(&q, c) })
		allowed := w.cells(func(key []byte, _ *cell.Cell) bool { return has(ranges, key) })
		expect(t, "ranges", scan(t, from, q), asked, allowed)
	}
}

// testGet queries rows by name: rows that exist, rows that do not, and rows with the beginning of
// another row.
func testGet(t *testing.T, w *world, from table.Table) {
	for range 30 {
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
		asked := w.cells(func(key []byte, _ *cell.Cell) bool {
			return slices.ContainsFunc(rows, func(k []byte) bool { return bytes.Equal(k, key) })
		})
		got := scan(t, from, rowsQuery(rows, allDays))
		expect(t, "rows", got, asked, asked)
		w.checkVisits(t, got)
	}
}

// testQueries queries behaviours of users, as ranges and, if the layout can compute rows, as rows.
func testQueries(t *testing.T, w *world, from table.Table) {
	matched := 0
	for range 50 {
		want := w.want()
		reads, err := w.layout.Reads(w.schema, want)
		if err != nil {
			t.Fatal(err)
		}
		ranges, rows := w.reads(reads)
		ask := func(q table.Query) {
			q.Columns, q.Times, q.Ordered = reads.Columns, want.Times, w.dice.IntN(2) == 0
			in := func(key []byte) bool {
				return q.Ranges != nil && has(ranges, key) || q.Rows != nil && slices.ContainsFunc(rows, func(k []byte) bool { return bytes.Equal(k, key) })
			}
			asked := w.cells(func(key []byte, c *cell.Cell) bool { return in(key) && asks(&q, c) })
			expect(t, fmt.Sprintf("%+v", want), scan(t, from, q), asked, w.cells(func(key []byte, _ *cell.Cell) bool { return in(key) }))
			matched += len(asked)
		}
		if len(ranges) > 0 {
			ask(query(ranges, want.Span))
		}
		if len(rows) > 0 {
			ask(rowsQuery(rows, want.Span))
		}
	}
	if matched == 0 {
		t.Error("nothing was asked for that is there")
	}
}

// reads returns ranges or rows that have the behaviours of a few users.
func (w *world) reads(r *layout.Reads) (ranges []split.Region, rows [][]byte) {
	users := map[string]bool{}
	for range 1 + w.dice.IntN(4) {
		users[string(w.layout.AppendUserKey(nil, w.anyUser()))] = true
	}
	for key := range users {
		r.Ranges([]byte(key), func(start, stop []byte) bool {
			ranges = append(ranges, split.Region{Start: bytes.Clone(start), End: bytes.Clone(stop)})
			return true
		})
		if r.Rows != nil {
			r.Rows([]byte(key), func(row []byte) bool { rows = append(rows, bytes.Clone(row)); return true })
		}
	}
	slices.SortFunc(ranges, func(a, b split.Region) int { return bytes.Compare(a.Start, b.Start) })
	slices.SortFunc(rows, bytes.Compare)
	return ranges, rows
}

// testNewest queries the first rows of ranges or the first columns of rows, if the layout has the newest
// behaviours there. In other layouts the limit leaves out no cell.
func testNewest(t *testing.T, w *world, from table.Table) {
	for range 40 {
		want := w.want()
		want.Span = allDays
		reads, err := w.layout.Reads(w.schema, want)
		if err != nil {
			t.Fatal(err)
		}
		ranges, _ := w.reads(reads)
		if w.dice.IntN(2) == 0 {
			ranges = w.ranges()
		}
		if len(ranges) == 0 {
			continue
		}
		q := query(ranges, allDays)
		q.Newest, q.Columns, q.Ordered = 1+w.dice.IntN(5), reads.Columns, w.dice.IntN(2) == 0
		in := w.cells(func(key []byte, _ *cell.Cell) bool { return has(ranges, key) })
		expect(t, fmt.Sprintf("the newest %d of %s", q.Newest, ranges), scan(t, from, q), w.newest(ranges, &q), in)
	}
}

// newest returns the cells of ranges that a query must return.
func (w *world) newest(ranges []split.Region, q *table.Query) []*cell.Cell {
	of := w.layout.Traits().Newest
	found := map[string]map[string]bool{} // rows of a range, or columns of a row
	group := func(c *cell.Cell) (string, string) {
		if of == layout.NewestColumns {
			return string(c.Row), string(c.Qualifier)
		}
		return fmt.Sprint(slices.IndexFunc(ranges, func(g split.Region) bool { return g.Has(c.Row) })), string(c.Row)
	}
	asked := w.cells(func(key []byte, c *cell.Cell) bool { return has(ranges, key) && asks(q, c) })
	if of == layout.NotNewest {
		return asked
	}
	for _, c := range asked {
		g, name := group(c)
		if found[g] == nil {
			found[g] = map[string]bool{}
		}
		found[g][name] = true
	}
	return slices.DeleteFunc(asked, func(c *cell.Cell) bool {
		g, name := group(c)
		at, _ := slices.BinarySearch(slices.Sorted(maps.Keys(found[g])), name)
		return at >= q.Newest
	})
}

// testFuzzy queries the rows of all users by the bytes that these rows have in common.
func testFuzzy(t *testing.T, w *world, from table.Table) {
	for range 5 {
		want := layout.Everyone(w.schema, w.span())
		reads, err := w.layout.Reads(w.schema, want)
		if err != nil {
			t.Fatal(err)
		}
		q := everything()
		q.Span, q.Columns, q.Fuzzy, q.Ordered = want.Span, reads.Columns, reads.Fuzzy, w.dice.IntN(2) == 0
		asked := w.cells(func(key []byte, c *cell.Cell) bool { return matches(reads.Fuzzy, key) && asks(&q, c) })
		if len(asked) == 0 {
			t.Errorf("%s: nothing was asked for that is there", want.Span)
		}
		expect(t, fmt.Sprintf("rows like %+v", reads.Fuzzy), scan(t, from, q), asked, w.cells(every))
	}
}

// matches reports whether a row matches an element of list, or list is nil.
func matches(list []layout.Fuzzy, row []byte) bool {
	return list == nil || slices.ContainsFunc(list, func(f layout.Fuzzy) bool {
		for i, b := range f.Row {
			if i >= len(row) || !f.Any[i] && row[i] != b {
				return false
			}
		}
		return true
	})
}

var errFull = errors.New("that is enough")

func testScanStops(t *testing.T, w *world) {
	from := w.some(t)
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
	from := w.some(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errFull)
	if err := from.Read(ctx, everything(), func(*cell.Cell) error { return nil }); !errors.Is(err, errFull) {
		t.Errorf("%v, want the context's %v", err, errFull)
	}
	// The table still works, also after a context that ends later.
	all := w.cells(every)
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

// testConcurrent queries a table from many goroutines. At first no file of the table is open.
func testConcurrent(t *testing.T, w *world) {
	from := w.some(t)
	want := strings.Join(texts(w.cells(every)), "\n")
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
