package live

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

var readSchema = &behaviour.Schema{Zone: "Asia/Shanghai", Kinds: []behaviour.Kind{
	{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.String}, {Name: "level", Type: behaviour.Int64}}},
	{ID: 2, Name: "login"},
}}

var (
	readFirst = behaviour.DateOf(2014, 9, 1)
	readLast  = behaviour.DateOf(2014, 9, 10)
	readSpan  = behaviour.Span{From: readFirst, To: readLast}
	readDay   = int64(86_400_000_000)
)

// A filled is a table of one layout and its cells.
type filled struct {
	*Table
	layout layout.Layout
	schema *behaviour.Schema
	cells  []*cell.Cell            // in order
	users  map[string][]*cell.Cell // the same cells, by the keys of their users
}

// fill makes a table with records, in two regions.
func fill(t *testing.T, k *clustertest.Cluster, name string, records []*behaviour.Record, options ...string) *filled {
	t.Helper()
	l, err := layout.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	f := &filled{layout: l, schema: readSchema, cells: cellsOf(t, l, readSchema, records), users: map[string][]*cell.Cell{}}
	for _, c := range f.cells {
		key := string(l.UserKey(c.Row))
		f.users[key] = append(f.users[key], c)
	}
	middle := f.cells[len(f.cells)/2].Row
	options = append(options, "VERSIONS="+strconv.Itoa(max(l.Traits().Versions, 1)), "split="+string(l.UserKey(middle)))
	in := k.Create(t, "d", options...)
	s, err := Connect(t.Context(), local.New(), fmt.Sprintf("hbase://%s/%s", k.ZooKeeper(), in),
		Options{Conf: new(hadoopconf.Conf), Catalog: filepath.Join(t.TempDir(), "catalog")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	made, err := s.New(t.Context(), table.Plan{Layout: name, Schema: readSchema})
	if err != nil {
		t.Fatal(err)
	}
	f.Table = made.(*Table)
	w, err := f.Writer(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.cells {
		if err := w.Put(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Flush(t.Context()), w.Close()); err != nil {
		t.Fatal(err)
	}
	k.Admin(t, "flush", in)
	return f
}

// recordsOf returns some behaviours of each user, spread over ten days.
func recordsOf(t *testing.T, s *behaviour.Schema, users map[string]int) (out []*behaviour.Record) {
	t.Helper()
	zone := zoneOf(t, s)
	begin := readFirst.Start(zone).UnixMicro()
	for user, n := range users {
		for i := range n {
			r := &behaviour.Record{User: []byte(user), Kind: i % 2, ID: int64(i), Time: begin + int64(i)*(10*readDay/int64(n))}
			r.Date = behaviour.DateAt(r.Time, zone)
			if r.Kind == 0 {
				r.Values = [][]byte{fmt.Appendf(nil, "title %d", i), nil}
			}
			out = append(out, r)
		}
	}
	return out
}

func cellsOf(t *testing.T, l layout.Layout, s *behaviour.Schema, records []*behaviour.Record) []*cell.Cell {
	t.Helper()
	rows := map[string][]*behaviour.Record{}
	for _, r := range records {
		row := string(l.AppendRow(nil, s, r))
		rows[row] = append(rows[row], r)
	}
	var cells []*cell.Cell
	e := l.Encoder(s, "d")
	for row, records := range rows {
		slices.SortStableFunc(records, func(a, b *behaviour.Record) int { return cmp.Compare(a.ID, b.ID) })
		for _, r := range records {
			e.Add(r)
		}
		if err := e.Cells([]byte(row), func(c *cell.Cell) error { cells = append(cells, c.Clone()); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(cells, cell.Compare)
	return cells
}

// cost is what a read took.
type cost struct{ cells, calls int64 }

// read returns the cells of a query in order, and the cost of the query.
func (f *filled) read(t *testing.T, q table.Query) ([]string, cost) {
	t.Helper()
	calls, came := f.client.Calls(), f.client.Came()
	var cells []*cell.Cell
	if err := f.Read(t.Context(), q, func(c *cell.Cell) error { cells = append(cells, c.Clone()); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(cells, cell.Compare)
	return texts(cells), cost{f.client.Came() - came, f.client.Calls() - calls}
}

func texts(cells []*cell.Cell) []string {
	out := []string{}
	for _, c := range cells {
		out = append(out, c.String())
	}
	return out
}

// of returns the user's cells that keep selects, in order.
func (f *filled) of(user string, keep func(c *cell.Cell) bool) []string {
	cells := f.users[string(f.layout.AppendUserKey(nil, []byte(user)))]
	return texts(slices.DeleteFunc(slices.Clone(cells), func(c *cell.Cell) bool { return !keep(c) }))
}

func all(*cell.Cell) bool { return true }

// query requests ranges of users.
func (f *filled) query(t *testing.T, want layout.Want, users ...string) table.Query {
	t.Helper()
	reads, err := f.layout.Reads(f.schema, want)
	if err != nil {
		t.Fatal(err)
	}
	var keys [][]byte
	for _, u := range users {
		keys = append(keys, f.layout.AppendUserKey(nil, []byte(u)))
	}
	slices.SortFunc(keys, bytes.Compare)
	q := table.Query{Span: want.Span, Columns: reads.Columns, Hints: table.Hints{Times: want.Times, Newest: want.Newest}}
	q.Bounds.Start, q.Bounds.End = reads.Bounds(keys[0], keys[len(keys)-1])
	q.Ranges = func(yield func(split.Region) bool) {
		for _, key := range keys {
			if !reads.Ranges(key, func(start, stop []byte) bool { return yield(split.Region{Start: start, End: stop}) }) {
				return
			}
		}
	}
	return q
}

// asRows requests the same by gets.
func (f *filled) asRows(t *testing.T, q table.Query, want layout.Want, users ...string) table.Query {
	t.Helper()
	reads, err := f.layout.Reads(f.schema, want)
	if err != nil {
		t.Fatal(err)
	}
	q.Ranges = nil
	q.Rows = func(yield func([]byte) bool) {
		for _, u := range slices.Sorted(slices.Values(users)) {
			if !reads.Rows(f.layout.AppendUserKey(nil, []byte(u)), yield) {
				return
			}
		}
	}
	return q
}

// readings are the tests that only read a table. Each has its own users.
var readings = []struct {
	name    string
	layouts []string
	records func(t *testing.T) []*behaviour.Record
	test    func(t *testing.T, f *filled)
}{
	{"the latest cost the same", []string{"tall", "wide"}, of(latestUsers), testLatestCost},
	{"the latest of many", []string{"tall", "wide"}, of(manyUsers), testLatestOfMany},
	{"other times stay on the servers", testkit.Pick([]string{"reversed", "wide", "hashed"}, layout.Names()), of(map[string]int{"7": 500, "71": 500}), testOtherTimes},
	{"a day of everybody", []string{"fixed"}, of(everybody), testDayOfEverybody},
	{"rows of other values stay on the servers", []string{"game", "fixed"}, valued, testOtherValues},
}

// TestServersSendWhatIsNeeded makes one table in each layout for all tests that read it.
func TestServersSendWhatIsNeeded(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	for _, name := range layout.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var records []*behaviour.Record
			for _, r := range readings {
				if slices.Contains(r.layouts, name) {
					records = append(records, r.records(t)...)
				}
			}
			if records == nil {
				testkit.OnlyAll(t, "the other layouts")
			}
			f := fill(t, k, name, records)
			for _, r := range readings {
				if slices.Contains(r.layouts, name) {
					t.Run(r.name, func(t *testing.T) { r.test(t, f) })
				}
			}
		})
	}
}

// of returns a function that makes the behaviours of users.
func of(users map[string]int) func(t *testing.T) []*behaviour.Record {
	return func(t *testing.T) []*behaviour.Record { return recordsOf(t, readSchema, users) }
}

// numbered returns n users whose names end in a number.
func numbered(prefix string, n int, behaviours func(i int) int) map[string]int {
	users := map[string]int{}
	for i := range n {
		users[prefix+strconv.Itoa(i)] = behaviours(i)
	}
	return users
}

var (
	latestUsers = map[string]int{"u1": testkit.Pick(2000, 10_000), "u10": 100, "u11": 5, "u2": 100}
	manyUsers   = numbered("m", 300, func(i int) int { return 1 + i%40 })
	everybody   = numbered("2", 100, func(int) int { return 50 })
)

// testLatestCost requests the latest of a user with thousands of behaviours and of one with a
// hundred. Servers send as many cells, in as many calls.
func testLatestCost(t *testing.T, f *filled) {
	want := layout.Want{Kinds: []int{0, 1}, Span: readSpan, Newest: 10}
	if _, c := f.read(t, f.query(t, want, "u2")); c.cells != 10 { // regions are known from now on
		t.Errorf("ten of u2 take %d cells", c.cells)
	}
	ways := map[string]func(user string) table.Query{"ranges": func(u string) table.Query { return f.query(t, want, u) }}
	if f.layout.Name() == "wide" {
		ways["rows"] = func(u string) table.Query { return f.asRows(t, f.query(t, want, u), want, u) }
	}
	for way, query := range ways {
		for user, n := range latestUsers {
			got, c := f.read(t, query(user))
			n = min(n, 10)
			if first := f.of(user, all)[:n]; !slices.Equal(got, first) {
				t.Errorf("by %s: the latest of %s are %q, want %q", way, user, got, first)
			}
			if c != (cost{int64(n), 1}) {
				t.Errorf("by %s: the latest %d of %s, who has %d, take %+v; want as many cells by one call", way, n, user, latestUsers[user], c)
			}
		}
	}
}

// testLatestOfMany requests the latest of many users at once, with columns between two times,
// in order and not.
func testLatestOfMany(t *testing.T, f *filled) {
	names := slices.Sorted(maps.Keys(manyUsers))
	until := (readFirst + 6).Start(zoneOf(t, readSchema)).UnixMicro()
	want := layout.Want{Kinds: []int{0, 1}, Span: readSpan, Times: &layout.Times{First: 0, Last: until - 1}, Newest: 3}
	var cells []string
	for _, u := range names {
		of := f.of(u, func(c *cell.Cell) bool { return c.Time < until/1000 })
		cells = append(cells, of[:min(3, len(of))]...)
	}
	q := f.query(t, want, names...)
	got, c := f.read(t, q)
	slices.Sort(got)
	slices.Sort(cells)
	if !slices.Equal(got, cells) {
		t.Errorf("%d cells, want %d", len(got), len(cells))
	}
	if c.cells != int64(len(cells)) {
		t.Errorf("the servers sent %d cells for %d", c.cells, len(cells))
	}
	q.Ordered = true
	var rows [][]byte
	if err := f.Read(t.Context(), q, func(c *cell.Cell) error { rows = append(rows, bytes.Clone(c.Row)); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(rows, bytes.Compare) || len(rows) != len(cells) {
		t.Errorf("ordered: %d cells, in order %t; want %d", len(rows), slices.IsSortedFunc(rows, bytes.Compare), len(cells))
	}
	q.Ordered = false
	enough, n := errors.New("enough"), 0
	err := f.Read(t.Context(), q, func(*cell.Cell) error { n++; return enough })
	if !errors.Is(err, enough) || n != 1 {
		t.Errorf("%v after %d cells, want the error of the first", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Read(ctx, q, func(*cell.Cell) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v when called off, want Canceled", err)
	}
}

// testOtherTimes reads days, and hours of days: no cell of another time is sent.
func testOtherTimes(t *testing.T, f *filled) {
	zone := zoneOf(t, readSchema)
	for _, want := range []layout.Want{
		{Span: readSpan},
		{Span: behaviour.AllDays},
		{Span: behaviour.Span{From: readFirst + 3, To: readFirst + 4}},
		{Span: readSpan, Times: &layout.Times{First: readFirst.Start(zone).UnixMicro() + 3*readDay/2, Last: readFirst.Start(zone).UnixMicro() + 2*readDay}},
		{Span: behaviour.Span{From: readLast + 1, To: readLast + 9}},
		{Span: readSpan, Times: &layout.Times{First: 5, Last: 4}},
	} {
		want.Kinds = []int{0, 1}
		got, c := f.read(t, f.query(t, want, "7"))
		inside := f.of("7", func(c *cell.Cell) bool {
			at := c.Time * 1000
			return want.Span.Has(behaviour.DateAt(at, zone)) && (want.Times == nil || want.Times.First <= at+999 && at <= want.Times.Last)
		})
		if !slices.Equal(got, inside) {
			t.Errorf("%v %v: %d cells, want %d", want.Span, want.Times, len(got), len(inside))
		}
		if c.cells != int64(len(inside)) {
			t.Errorf("%v %v: the servers sent %d cells for %d", want.Span, want.Times, c.cells, len(inside))
		}
	}
}

// TestDeletedCellsStayDeleted deletes a behaviour today, and requests its own day: also a
// family that keeps deleted cells does not show it.
func TestDeletedCellsStayDeleted(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	for _, keeps := range testkit.Pick([]string{"TRUE", "FALSE"}, []string{"TRUE", "TTL", "FALSE"}) {
		f := fill(t, k, "reversed", recordsOf(t, readSchema, map[string]int{"7": 20, "71": 20}), "KEEP_DELETED_CELLS="+keeps)
		gone := f.cells[5]
		k.Admin(t, "delete", f.address.Table, string(gone.Row), string(gone.Family), string(gone.Qualifier))
		want := texts(slices.DeleteFunc(slices.Clone(f.cells), func(c *cell.Cell) bool {
			return bytes.Equal(c.Row, gone.Row) && bytes.Equal(c.Qualifier, gone.Qualifier)
		}))
		for _, flushed := range []bool{false, true} {
			if flushed {
				k.Admin(t, "flush", f.address.Table)
			}
			asked := layout.Want{Span: readSpan, Kinds: []int{0, 1}}
			ranges := f.query(t, asked, "7", "71")
			for name, q := range map[string]table.Query{"ranges": ranges, "rows": f.asRows(t, ranges, asked, "7", "71")} {
				if got, _ := f.read(t, q); !slices.Equal(got, want) {
					t.Errorf("KEEP_DELETED_CELLS %s, %s, flushed %t: %d cells, want %d of %d without the deleted one", keeps, name, flushed, len(got), len(want), len(f.cells))
				}
			}
		}
	}
}

// testDayOfEverybody reads one day of all users. If the layout allows it, the servers skip the
// rows of other days.
func testDayOfEverybody(t *testing.T, f *filled) {
	zone := zoneOf(t, f.schema)
	for _, span := range []behaviour.Span{{From: readFirst + 2, To: readFirst + 2}, {From: readFirst + 4, To: readFirst + 7}} {
		want := layout.Want{Kinds: []int{0, 1}, Span: span}
		reads, err := f.layout.Reads(f.schema, want)
		if err != nil {
			t.Fatal(err)
		}
		regions, err := f.Regions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		inside := texts(slices.DeleteFunc(slices.Clone(f.cells), func(c *cell.Cell) bool {
			return !span.Has(behaviour.DateAt(c.Time*1000, zone))
		}))
		var got []string
		var sent int64
		for _, r := range regions {
			q := table.Query{Ranges: oneRange(r), Span: span, Columns: reads.Columns, Hints: table.Hints{Bounds: r, Fuzzy: reads.Fuzzy}}
			cells, c := f.read(t, q)
			got, sent = append(got, cells...), sent+c.cells
		}
		if !slices.Equal(got, inside) || sent != int64(len(inside)) {
			t.Errorf("%s: %d cells of %d sent, want %d", span, len(got), sent, len(inside))
		}
		q := table.Query{Ranges: oneRange(split.Region{}), Span: span, Exist: true, Ordered: true, Hints: table.Hints{Fuzzy: reads.Fuzzy}}
		if got, c := f.read(t, q); int64(len(got)) != c.cells || len(got) == 0 || len(got) > len(inside) {
			t.Errorf("%s: %d cells of %d sent tell which rows there are, of %d cells", span, len(got), c.cells, len(inside))
		}
	}
}

// testOtherValues requests rows by the values of their columns, alone and with ranges, columns
// and times: no other row is sent.
func testOtherValues(t *testing.T, f *filled) {
	whole := func(v int64) []byte { return behaviour.AppendInt64(nil, v) }
	upTo := func(first, last int64) behaviour.Range {
		return behaviour.Range{From: whole(first), Before: behaviour.One(whole(last)).Before}
	}
	title := func(in ...behaviour.Range) table.ColumnTest {
		return table.ColumnTest{Qualifier: []byte("title"), In: in}
	}
	level := func(in ...behaviour.Range) table.ColumnTest {
		return table.ColumnTest{Qualifier: []byte("level"), In: in}
	}
	one := func(text string) behaviour.Range { return behaviour.One([]byte(text)) }
	begins := behaviour.Range{From: []byte("a"), Before: []byte("b")}
	cases := map[string][][]table.ColumnTest{
		"a level of 600 at least":        {{level(upTo(600, math.MaxInt64))}},
		"a level of -5 to 1":             {{level(upTo(0, 1), upTo(-5, -1))}},
		"a level":                        {{level(behaviour.Range{})}},
		"another level than 0":           {{level(behaviour.Range{Before: whole(0)}, behaviour.Range{From: behaviour.One(whole(0)).Before})}},
		"an empty title":                 {{title(one(""))}},
		"a title that begins with a":     {{title(begins)}},
		"one of some titles":             {{title(one("b"), one("ab"), one("none"))}},
		"a title and a level below 0":    {{title(begins), level(upTo(math.MinInt64, -1))}},
		"a title or a level of 600":      {{title(one("b"))}, {level(one(string(whole(600))))}},
		"either of two with two of each": {{title(begins, one("")), level(upTo(-5, -1), upTo(1, 600))}, {title(one("b")), level(upTo(0, 0))}},
		"a title that nothing has":       {{title(one("none"))}},
	}
	zone := zoneOf(t, readSchema)
	times := &layout.Times{First: readFirst.Start(zone).UnixMicro() + 2*readDay, Last: readFirst.Start(zone).UnixMicro() + 6*readDay}
	every := len(f.of("8", all)) + len(f.of("81", all))
	for what, where := range cases {
		passes := f.passing(where)
		for _, want := range []layout.Want{
			{Kinds: []int{0, 1}, Span: readSpan},
			{Kinds: []int{0}, Span: readSpan, Times: times},
		} {
			q := f.query(t, want, "8", "81")
			q.Where = where
			got, c := f.read(t, q)
			in := func(c *cell.Cell) bool {
				at := c.Time * 1000
				return passes[string(c.Row)] && (want.Times == nil || at >= want.Times.First && at <= want.Times.Last)
			}
			inside := append(f.of("8", in), f.of("81", in)...)
			slices.Sort(got)
			slices.Sort(inside)
			if !slices.Equal(got, inside) || c.cells != int64(len(inside)) {
				t.Errorf("%s of kinds %v: %d cells of %d sent, want %d", what, want.Kinds, len(got), c.cells, len(inside))
			}
			if len(inside) == 0 && what != "a title that nothing has" || len(inside) == every {
				t.Errorf("%s of kinds %v: %d of %d cells tell little", what, want.Kinds, len(inside), every)
			}
		}
	}
	q := f.query(t, layout.Want{Kinds: []int{0, 1}, Span: readSpan}, "8")
	q.Where, q.Exist = cases["an empty title"], true
	if got, _ := f.read(t, q); len(got) != 300 {
		t.Errorf("got %d rows, want 300, the rows with any value", len(got))
	}
}

// valued returns behaviours of two users, of two kinds, whose fields have values of all sorts, and none.
func valued(t *testing.T) (out []*behaviour.Record) {
	t.Helper()
	zone := zoneOf(t, readSchema)
	titles := [][]byte{nil, {}, []byte("a"), []byte("ab"), []byte("b"), []byte("title")}
	levels := []int64{-5, -1, 0, 1, 600, math.MaxInt64, math.MinInt64}
	for _, user := range []string{"8", "81"} {
		for i := range 300 {
			r := &behaviour.Record{User: []byte(user), Kind: i % 4 / 3, ID: int64(i), Time: readFirst.Start(zone).UnixMicro() + int64(i)*(readDay/30)}
			r.Date = behaviour.DateAt(r.Time, zone)
			if r.Kind == 0 {
				r.Values = [][]byte{titles[i%len(titles)], nil}
				if n := i / 4 % (len(levels) + 1); n > 0 {
					r.Values[1] = behaviour.AppendInt64(nil, levels[n-1])
				}
			}
			out = append(out, r)
		}
	}
	return out
}

// passing are the rows that pass all tests of one of some lists.
func (f *filled) passing(where [][]table.ColumnTest) map[string]bool {
	out := map[string]bool{}
	for _, tests := range where {
		passed := map[string]int{}
		for _, c := range f.cells {
			for _, test := range tests {
				in := func(r behaviour.Range) bool { return r.Has(c.Value) }
				if bytes.Equal(c.Qualifier, test.Qualifier) && slices.ContainsFunc(test.In, in) {
					passed[string(c.Row)]++
				}
			}
		}
		for row, n := range passed {
			out[row] = out[row] || n == len(tests)
		}
	}
	return out
}

func oneRange(r split.Region) iter.Seq[split.Region] { return slices.Values([]split.Region{r}) }

func zoneOf(t *testing.T, s *behaviour.Schema) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}
