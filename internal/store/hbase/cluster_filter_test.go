package hbase

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// An archive is a table in a real HBase with three regions and three versions, and its
// expected content: a row for each user, day and number, as in fixed-width keys.
type archive struct {
	c     *Client
	name  string
	cells []*cell.Cell // in order
}

const archiveUsers = 60

var archiveDays = []string{"20140901", "20140902", "20140903", "20140904"}

// archiveRow returns a row with columns a00 to a09, kind in two of three rows, and n in two
// versions.
func archiveRow(user, day, number int) []*cell.Cell {
	row := fmt.Sprintf("%06d%s%06d", user, archiveDays[day], number)
	at := int64(1000*day + user)
	var cells []*cell.Cell
	add := func(qualifier, value string, time int64) {
		c := put(row, qualifier, value)
		c.Time = time
		cells = append(cells, c)
	}
	for i := range 10 {
		add(fmt.Sprintf("a%02d", i), fmt.Sprintf("%d-%d", user, i), at)
	}
	if number < 2 {
		add("kind", []string{"order", "play"}[number], at)
	}
	add("n", fmt.Sprintf("%03d", user+number), at+5000)
	add("n", fmt.Sprintf("%03d", user), at)
	return cells
}

func newArchive(t *testing.T, k *clustertest.Cluster) *archive {
	t.Helper()
	a := &archive{c: dialReal(t, k), name: k.Table(t)}
	schema := &wire.TableSchema{Name: wire.ParseTableName(a.name), Families: []wire.FamilySchema{{Name: "f", Attributes: map[string]string{"VERSIONS": "3"}}}}
	if err := a.c.Create(t.Context(), schema, [][]byte{[]byte("000020"), []byte("00003920140903")}); err != nil {
		t.Fatal(err)
	}
	p, err := a.c.NewPutter(a.name, PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for user := range archiveUsers {
		for day := range archiveDays {
			for number := range 3 {
				a.cells = append(a.cells, archiveRow(user, day, number)...)
			}
		}
	}
	for _, c := range a.cells {
		if err := p.Put(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

// rows yields the cells of each row as a read with some versions of a column returns them.
func (a *archive) rows(versions int) iter.Seq[[]*cell.Cell] {
	return func(yield func([]*cell.Cell) bool) {
		for rest := a.cells; len(rest) > 0; {
			var row []*cell.Cell
			n := 0
			for n < len(rest) && bytes.Equal(rest[n].Row, rest[0].Row) {
				if n >= versions && bytes.Equal(rest[n].Qualifier, rest[n-versions].Qualifier) {
					n++
					continue
				}
				row = append(row, rest[n])
				n++
			}
			if rest = rest[n:]; !yield(row) {
				return
			}
		}
	}
}

// where calls of for each row, and returns the text of the cells that it returns.
func (a *archive) where(versions int, of func(row []*cell.Cell) []*cell.Cell) []string {
	var want []string
	for row := range a.rows(versions) {
		for _, c := range of(row) {
			want = append(want, c.String())
		}
	}
	return want
}

// scan returns the result of a scan, in its order.
func (a *archive) scan(t *testing.T, s Scan) []string {
	t.Helper()
	var got []string
	if err := a.c.Scan(t.Context(), a.name, s, func(c *cell.Cell) error { got = append(got, c.String()); return nil }); err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	return got
}

// gets requests every row, and returns the result, sorted.
func (a *archive) gets(t *testing.T, g wire.Get) []string {
	t.Helper()
	g.CacheBlocks = true // otherwise each of the gets reads a block from HDFS
	var rows, got []string
	for row := range a.rows(1) {
		rows = append(rows, string(row[0].Row))
	}
	err := a.c.Gets(t.Context(), a.name, rowsOf(rows...), GetOptions{Get: g}, func(c *cell.Cell) error { got = append(got, c.String()); return nil })
	if err != nil {
		t.Fatalf("%+v: %v", g, err)
	}
	slices.Sort(got)
	return got
}

// columns returns a function that keeps the cells of a row whose qualifier passes keep.
func columns(keep func(q string) bool) func([]*cell.Cell) []*cell.Cell {
	return func(row []*cell.Cell) []*cell.Cell {
		return slices.DeleteFunc(slices.Clone(row), func(c *cell.Cell) bool { return !keep(string(c.Qualifier)) })
	}
}

// whole returns a function that keeps the rows that pass keep.
func whole(keep func(row []*cell.Cell) bool) func([]*cell.Cell) []*cell.Cell {
	return func(row []*cell.Cell) []*cell.Cell {
		if keep(row) {
			return row
		}
		return nil
	}
}

// value returns the newest value of a column, and whether it exists.
func value(row []*cell.Cell, qualifier string) (string, bool) {
	for _, c := range row {
		if string(c.Qualifier) == qualifier {
			return string(c.Value), true
		}
	}
	return "", false
}

func hasKey(part func(user, day string) bool) func(row []*cell.Cell) bool {
	return func(row []*cell.Cell) bool { return part(string(row[0].Row[:6]), string(row[0].Row[6:14])) }
}

// fuzzy returns the filter for rows that match patterns. A ? matches any byte.
func fuzzy(t *testing.T, patterns ...string) wire.Filter {
	t.Helper()
	var rows []wire.FuzzyRow
	for _, p := range patterns {
		r := wire.FuzzyRow{Row: []byte(p), Any: make([]bool, len(p))}
		for i := range p {
			r.Any[i] = p[i] == '?'
		}
		rows = append(rows, r)
	}
	f, err := wire.FuzzyRows(rows...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: the %d. cell is %s, want %s", what, i, got[i], want[i])
			return
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d cells, want %d", what, len(got), len(want))
	}
}

// A filterCase is a filter, and the cells of a row that it returns.
type filterCase struct {
	what     string
	filter   wire.Filter
	versions int
	want     func([]*cell.Cell) []*cell.Cell
}

func firstN(n int) func([]*cell.Cell) []*cell.Cell {
	return func(row []*cell.Cell) []*cell.Cell { return row[:min(n, len(row))] }
}

// columnCases filter the columns of a row.
func columnCases() []filterCase {
	return []filterCase{
		{"columns from a03 to before a06", wire.ColumnRange([]byte("a03"), []byte("a06")), 1, columns(func(q string) bool { return "a03" <= q && q < "a06" })},
		{"columns from a031", wire.ColumnRange([]byte("a031"), nil), 1, columns(func(q string) bool { return "a031" <= q })},
		{"columns before b", wire.ColumnRange(nil, []byte("b")), 1, columns(func(q string) bool { return q < "b" })},
		{"columns that there are not", wire.ColumnRange([]byte("b"), []byte("c")), 1, columns(func(string) bool { return false })},
		{"columns from zero bytes", wire.ColumnRange([]byte{0}, []byte{0xff}), 1, firstN(100)},
		{"a range backwards", wire.ColumnRange([]byte("c"), []byte("b")), 1, columns(func(string) bool { return false })},
		{"two versions of a range", wire.ColumnRange([]byte("l"), []byte("z")), 2, columns(func(q string) bool { return "l" <= q })},
		{"a range of a prefix", wire.AllOf(wire.ColumnPrefix([]byte("a0")), wire.ColumnRange([]byte("a07"), nil)), 1, columns(func(q string) bool { return "a07" <= q && q < "b" })},
		{"a page of columns", wire.ColumnPage(3, 4, nil), 1, func(row []*cell.Cell) []*cell.Cell { return row[4:7] }},
		{"a page of columns from one", wire.ColumnPage(3, 0, []byte("a085")), 1, func(row []*cell.Cell) []*cell.Cell { return row[9:12][:min(3, len(row)-9)] }},
	}
}

// valueCases filter rows by values.
func valueCases() []filterCase {
	test := func(q string, is wire.Comparison, value string) wire.ColumnTest {
		return wire.ColumnTest{Family: []byte("f"), Qualifier: []byte(q), Is: is, Value: []byte(value)}
	}
	prefix := func(x wire.ColumnTest) wire.ColumnTest { x.Prefix = true; return x }
	missing := func(x wire.ColumnTest) wire.ColumnTest { x.KeepMissing = true; return x }
	anyVersion := func(x wire.ColumnTest) wire.ColumnTest { x.AnyVersion = true; return x }
	newest := func(q string, keep func(v string, ok bool) bool) func([]*cell.Cell) []*cell.Cell {
		return whole(func(row []*cell.Cell) bool { return keep(value(row, q)) })
	}
	return []filterCase{
		{"n at least 040", wire.RowsWhere(test("n", wire.GreaterOrEqual, "040")), 1, newest("n", func(v string, _ bool) bool { return v >= "040" })},
		{"n greater than 040", wire.RowsWhere(test("n", wire.Greater, "040")), 1, newest("n", func(v string, _ bool) bool { return v > "040" })},
		{"n less than 020", wire.RowsWhere(test("n", wire.Less, "020")), 1, newest("n", func(v string, _ bool) bool { return v < "020" })},
		{"n 020 at most", wire.RowsWhere(test("n", wire.LessOrEqual, "020")), 1, newest("n", func(v string, _ bool) bool { return v <= "020" })},
		{"n is 020", wire.RowsWhere(test("n", wire.Equal, "020")), 1, newest("n", func(v string, _ bool) bool { return v == "020" })},
		{"n begins with 03", wire.RowsWhere(prefix(test("n", wire.Equal, "03"))), 1, newest("n", func(v string, _ bool) bool { return strings.HasPrefix(v, "03") })},
		{"a version of n is 020", wire.RowsWhere(anyVersion(test("n", wire.Equal, "020"))), 2, whole(func(row []*cell.Cell) bool {
			return slices.ContainsFunc(row, func(c *cell.Cell) bool { return string(c.Value) == "020" })
		})},
		{"is a play", wire.RowsWhere(test("kind", wire.Equal, "play")), 1, newest("kind", func(v string, _ bool) bool { return v == "play" })},
		{"is no play, or is nothing", wire.RowsWhere(missing(test("kind", wire.NotEqual, "play"))), 1, newest("kind", func(v string, _ bool) bool { return v != "play" })},
		{"is no play", wire.RowsWhere(test("kind", wire.NotEqual, "play")), 1, newest("kind", func(v string, ok bool) bool { return ok && v != "play" })},
		{"two fields", wire.AllOf(wire.RowsWhere(prefix(test("n", wire.GreaterOrEqual, "03"))), wire.RowsWhere(test("kind", wire.Equal, "order"))), 1,
			whole(func(row []*cell.Cell) bool {
				n, _ := value(row, "n")
				kind, _ := value(row, "kind")
				return n >= "03" && kind == "order"
			})},
	}
}

// keyCases filter rows by their keys.
func keyCases(t *testing.T) []filterCase {
	return []filterCase{
		{"a day", fuzzy(t, "??????20140902"), 1, whole(hasKey(func(_, day string) bool { return day == "20140902" }))},
		{"two days", fuzzy(t, "??????20140904", "??????20140901"), 1, whole(hasKey(func(_, day string) bool { return day == "20140901" || day == "20140904" }))},
		{"all that there are", fuzzy(t, "?????????????????0"), 1, firstN(100)},
		{"one user's day", fuzzy(t, "00003120140903"), 1, whole(hasKey(func(user, day string) bool { return user == "000031" && day == "20140903" }))},
		{"no day", fuzzy(t, "??????20140905"), 1, firstN(0)},
		{"the last digits", fuzzy(t, "??????????????000001"), 1, whole(func(row []*cell.Cell) bool { return bytes.HasSuffix(row[0].Row, []byte("000001")) })},
		{"some columns of a day", wire.AllOf(fuzzy(t, "??????20140903"), wire.ColumnRange([]byte("a02"), []byte("a04"))), 1, func(row []*cell.Cell) []*cell.Cell {
			if string(row[0].Row[6:14]) != "20140903" {
				return nil
			}
			return row[2:4]
		}},
		{"the first cells of a day", wire.AllOf(fuzzy(t, "??????20140901"), wire.FirstKeyOnly()), 1, func(row []*cell.Cell) []*cell.Cell {
			return whole(hasKey(func(_, day string) bool { return day == "20140901" }))(row[:1])
		}},
	}
}

// TestRealFilters scans and gets with each filter, before and after the cells are flushed to
// files, in large responses and in small ones.
func TestRealFilters(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	a := newArchive(t, k)
	cases := slices.Concat(columnCases(), valueCases(), keyCases(t))
	both := []int{0, 20_000}
	sizes := testkit.Pick(map[string][]int{"in memory": both[1:], "in files": both[:1]}, map[string][]int{"in memory": both, "in files": both})
	for turn, stored := range []string{"in memory", "in files"} {
		for i, x := range cases {
			if i%2 != turn && !testkit.All() {
				continue // the other way of storing them has it
			}
			want := a.where(x.versions, x.want)
			for _, size := range sizes[stored] {
				got := a.scan(t, Scan{Filter: x.filter, MaxVersions: uint32(x.versions), ResultBytes: size})
				compare(t, fmt.Sprintf("%s %s by a scan, responses of %d", x.what, stored, size), got, want)
			}
			got := a.gets(t, wire.Get{Filter: x.filter, MaxVersions: uint32(x.versions)})
			compare(t, fmt.Sprintf("%s %s by gets", x.what, stored), got, slices.Sorted(slices.Values(want)))
		}
		k.Admin(t, "flush", a.name)
	}
}

// TestRealScanLimits reads the first rows of several regions, and some cells of each row, in
// responses of any size. It counts the results.
func TestRealScanLimits(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	a := newArchive(t, k)
	k.Admin(t, "flush", a.name)
	starts := []string{"", "00001920140904", "000059"}
	sizes := []int{0, 400, 1500}
	turn := 0
	for _, start := range starts {
		for _, limit := range []int{1, 3, 10, 250, 5000} {
			for _, store := range []uint32{0, 1, 4} {
				turn++
				for _, size := range testkit.Pick(sizes[turn%2:][:1], sizes) {
					s := Scan{Start: []byte(start), Limit: limit, StoreLimit: store, ResultBytes: size}
					what := fmt.Sprintf("%d rows from %q, %d cells of each, responses of %d", limit, start, store, size)
					rows := 0
					want := a.where(1, func(row []*cell.Cell) []*cell.Cell {
						if string(row[0].Row) < start || rows == limit {
							return nil
						}
						rows++
						return row[:min(len(row), cmp.Or(int(store), len(row)))]
					})
					came := a.c.Came()
					compare(t, what, a.scan(t, s), want)
					// In small responses, the server may not have checked whether a row is
					// complete.
					if came = a.c.Came() - came; size == 0 && came != int64(len(want)) {
						t.Errorf("%s: the server sent %d cells, want %d", what, came, len(want))
					}
				}
			}
		}
	}
	calls := a.c.Calls()
	a.scan(t, Scan{Limit: 10})
	if calls = a.c.Calls() - calls; calls != 1 {
		t.Errorf("ten rows take %d calls, want one", calls)
	}
}

// TestRealTimesAndVersions reads versions in a time range, by scans and by gets.
func TestRealTimesAndVersions(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	a := newArchive(t, k)
	for _, stored := range []string{"in memory", "in files"} {
		for _, x := range []struct {
			versions int
			times    wire.TimeRange
		}{
			{1, wire.TimeRange{}}, {3, wire.TimeRange{}},
			{3, wire.TimeRange{From: 1000, To: 2000}}, {3, wire.TimeRange{From: 1010, To: 1011}},
			{3, wire.TimeRange{From: 5000}}, {3, wire.TimeRange{To: 50}}, {1, wire.TimeRange{From: 1000, To: 2000}},
			{1, wire.TimeRange{From: 9000}},
		} {
			// An older version of a column is the newest in a range that excludes the newer
			// one.
			want := a.where(3, func(row []*cell.Cell) []*cell.Cell {
				var out []*cell.Cell
				for _, c := range row {
					if c.Time < x.times.From || x.times.To > 0 && c.Time >= x.times.To {
						continue
					}
					if n := len(out); n >= x.versions && bytes.Equal(out[n-x.versions].Qualifier, c.Qualifier) {
						continue
					}
					out = append(out, c)
				}
				return out
			})
			what := fmt.Sprintf("%d versions of %+v %s", x.versions, x.times, stored)
			compare(t, what+" by a scan", a.scan(t, Scan{Time: x.times, MaxVersions: uint32(x.versions)}), want)
			compare(t, what+" by gets", a.gets(t, wire.Get{Time: x.times, MaxVersions: uint32(x.versions)}), slices.Sorted(slices.Values(want)))
		}
		k.Admin(t, "flush", a.name)
	}
}
