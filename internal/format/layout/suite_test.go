package layout_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	_ "usertrail/internal/format/layout/toy"
	"usertrail/internal/trail"
)

// names returns the names of all layouts, with the toy, and one layout of another size.
func names() []string { return append(layout.Names(), "fixed/9") }

func named(t testing.TB, name string) layout.Layout {
	t.Helper()
	l, err := layout.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// onEach runs a test on every layout. Worlds of a layout are numbered, so that -run with a name
// repeats one world.
func onEach(t *testing.T, worlds int, test func(t *testing.T, r *rand.Rand, l layout.Layout)) {
	t.Helper()
	for _, name := range names() {
		t.Run(name, func(t *testing.T) {
			l := named(t, name)
			t.Parallel()
			for i := range worlds {
				t.Run(fmt.Sprintf("world=%d", i), func(t *testing.T) { test(t, rand.New(rand.NewPCG(uint64(i), 8)), l) })
			}
		})
	}
}

func TestNamesGiveTheirLayout(t *testing.T) {
	for _, name := range names() {
		if l := named(t, name); l.Name() != name {
			t.Errorf("%s gives a layout that is called %s", name, l.Name())
		}
	}
}

// TestKeysOfUsers checks user keys. The user can be decoded from the key. Every row of the user
// has the key. A key that no user can have is refused.
func TestKeysOfUsers(t *testing.T) {
	onEach(t, 10, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		w := drawWorld(t, r, l, 40)
		for _, user := range slices.Concat(users, numbers) {
			key := l.AppendUserKey([]byte("kept"), []byte(user))
			key, ok := bytes.CutPrefix(key, []byte("kept"))
			if !ok || len(key) == 0 {
				t.Fatalf("user %q: the key is %q", user, key)
			}
			if back, err := l.AppendUser([]byte("kept"), key); err != nil || string(back) != "kept"+user {
				t.Fatalf("user %q: key %q gives %q, %v", user, key, back, err)
			}
		}
		for i := range w.recs {
			rec := &w.recs[i]
			row, ok := bytes.CutPrefix(l.AppendRow([]byte("kept"), w.schema, rec), []byte("kept"))
			if !ok {
				t.Fatalf("%s: AppendRow does not append", w.describe(rec))
			}
			key, want := l.UserKey(row), l.AppendUserKey(nil, rec.User)
			if !bytes.Equal(key, want) {
				t.Fatalf("row %q: the user's key is %q, want %q", row, key, want)
			}
			if _ = append(key, "xyz"...); !bytes.Equal(row, l.AppendRow(nil, w.schema, rec)) {
				t.Fatalf("row %q: what is appended to its key writes into the row", row)
			}
			checkStrict(t, r, l, want)
		}
	})
}

// checkStrict changes a key a little. If the layout accepts the changed key, it is the key of a
// user.
func checkStrict(t *testing.T, r *rand.Rand, l layout.Layout, key []byte) {
	t.Helper()
	changed := bytes.Clone(key)
	i := r.IntN(len(key))
	switch r.IntN(4) {
	case 0:
		changed[i] = []byte{'_', ',', '\\', 'u', 'c', '0', 0xff, 0}[r.IntN(8)]
	case 1:
		changed = slices.Delete(changed, i, i+1)
	case 2:
		changed = slices.Insert(changed, i, []byte{'_', ',', '\\', 'u', 'c', '0', 0xff, 0}[r.IntN(8)])
	case 3:
		changed = append(changed, key...)
	}
	checkKey(t, l, changed)
}

func checkKey(t *testing.T, l layout.Layout, key []byte) {
	t.Helper()
	user, err := l.AppendUser(nil, key)
	if err != nil {
		return
	}
	if len(user) == 0 || len(user) > behaviour.MaxUserLen {
		t.Fatalf("key %q gives a user ID of %d bytes", key, len(user))
	}
	if again := l.AppendUserKey(nil, user); !bytes.Equal(again, key) {
		t.Fatalf("key %q gives the user %q, whose key is %q", key, user, again)
	}
}

func TestWhatIsNoRowHasNoKey(t *testing.T) {
	for _, name := range names() {
		l := named(t, name)
		for _, row := range []string{"", "no row"} {
			if key := l.UserKey([]byte(row)); key != nil {
				t.Errorf("%s: row %q has the key %q", name, row, key)
			}
		}
	}
}

// TestUsersLieTogether checks layouts that keep the rows of a user together: the rows are
// neighbours, in the order of the user keys, and no user key is a prefix of another.
func TestUsersLieTogether(t *testing.T) {
	onEach(t, 20, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		if !l.Traits().Together {
			t.Skip("they do not")
		}
		var keys []string
		for _, user := range slices.Concat(users, numbers) {
			keys = append(keys, string(l.AppendUserKey(nil, []byte(user))))
		}
		slices.Sort(keys)
		keys = slices.Compact(keys) // "42" and "0" are in both
		for i := 1; i < len(keys); i++ {
			if strings.HasPrefix(keys[i], keys[i-1]) {
				t.Fatalf("key %q begins key %q", keys[i-1], keys[i])
			}
		}
		w := drawWorld(t, r, l, 80)
		rows := map[string]string{}
		for i := range w.recs {
			row, key := string(l.AppendRow(nil, w.schema, &w.recs[i])), string(l.AppendUserKey(nil, w.recs[i].User))
			rows[row] = key
			if !strings.HasPrefix(row, key) {
				t.Fatalf("row %q does not begin with the key %q", row, key)
			}
		}
		last := ""
		for _, row := range slices.Sorted(maps.Keys(rows)) {
			if rows[row] < last {
				t.Fatalf("row %q of key %q comes after key %q", row, rows[row], last)
			}
			last = rows[row]
		}
	})
}

// TestCellsOfRecords checks that the cells of a row are the cells of its records, and that each
// cell has the time of its record. No cell replaces another: two cells of one column are of two
// days, in a layout that keeps versions.
func TestCellsOfRecords(t *testing.T) {
	onEach(t, 20, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		w := drawWorld(t, r, l, 80)
		var alone []*cell.Cell
		dates := map[string][]behaviour.Date{} // by column
		for i := range w.recs {
			columns := map[string]bool{}
			for _, c := range encoded(t, l, w.schema, w.recs[i:i+1]) {
				if c.Time != behaviour.Millis(w.recs[i].Time) {
					t.Fatalf("%s: %s", w.describe(&w.recs[i]), c)
				}
				column := fmt.Sprintf("%q/%q", c.Row, c.Qualifier)
				if columns[column] {
					t.Fatalf("%s has the column %s twice", w.describe(&w.recs[i]), column)
				}
				columns[column] = true
				dates[column] = append(dates[column], w.recs[i].Date)
				alone = append(alone, c)
			}
		}
		slices.SortFunc(alone, cell.Compare)
		if got, want := fmt.Sprint(encoded(t, l, w.schema, w.recs)), fmt.Sprint(alone); got != want {
			t.Errorf("together the records are\n%s\nand one by one\n%s", got, want)
		}
		for column, on := range dates {
			slices.Sort(on)
			if n := len(on); n > max(1, l.Traits().Versions) || n != len(slices.Compact(on)) {
				t.Errorf("column %s has %d cells", column, n)
			}
		}
	})
}

// TestARowIsOneRecord checks layouts with the trait OneRecord. No two records share a row. Each
// field that is not null is a column of its name.
func TestARowIsOneRecord(t *testing.T) {
	onEach(t, 10, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		if !l.Traits().OneRecord {
			t.Skip("it need not be")
		}
		w := drawWorld(t, r, l, 80)
		rows := map[string]bool{}
		for i := range w.recs {
			rec := &w.recs[i]
			rows[string(l.AppendRow(nil, w.schema, rec))] = true
			values := map[string][]byte{}
			for _, c := range encoded(t, l, w.schema, w.recs[i:i+1]) {
				values[string(c.Qualifier)] = c.Value
			}
			for f, v := range rec.Values {
				name := w.schema.Kinds[rec.Kind].Fields[f].Name
				if got, there := values[name]; there != (v != nil) || !bytes.Equal(got, v) {
					t.Errorf("%s: the column %s is %q, want %q", w.describe(rec), name, got, v)
				}
			}
		}
		if len(rows) != len(w.recs) {
			t.Errorf("%d records are in %d rows", len(w.recs), len(rows))
		}
	})
}

func TestCellsStopWhereTheyAreNotTaken(t *testing.T) {
	onEach(t, 3, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		w := drawWorld(t, r, l, 1)
		enc, full := l.Encoder(w.schema, "d"), errors.New("full")
		enc.Add(&w.recs[0])
		n := 0
		err := enc.Cells(l.AppendRow(nil, w.schema, &w.recs[0]), func(*cell.Cell) error { n++; return full })
		if !errors.Is(err, full) || n != 1 {
			t.Errorf("%d cells, then %v; want one and %v", n, err, full)
		}
	})
}

// A reading is one query to a stored world, and the rows and ranges that it reads.
type reading struct {
	w      *world
	l      layout.Layout
	want   layout.Want
	reads  *layout.Reads
	asked  func(user string) bool
	must   []behaviour.Record // the result
	may    []behaviour.Record
	ranges *part
	rows   *part // nil where they cannot be told
}

// drawReading draws a query of some of the users, and of others who may not exist.
func drawReading(t *testing.T, r *rand.Rand, l layout.Layout, w *world) *reading {
	t.Helper()
	q := &reading{w: w, l: l, want: w.drawWant(r)}
	var err error
	if q.reads, err = l.Reads(w.schema, q.want); err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{users[r.IntN(len(users))]: true, numbers[r.IntN(len(numbers))]: true}
	for _, rec := range w.recs {
		if r.IntN(3) == 0 {
			asked[string(rec.User)] = true
		}
	}
	q.asked = func(user string) bool { return asked[user] }
	q.must, q.may = w.result(q.want, q.asked)
	q.ranges, q.rows = &part{columns: q.reads.Columns}, &part{columns: q.reads.Columns, rows: []string{}}
	for user := range asked {
		key := l.AppendUserKey(nil, []byte(user))
		if ranges := rangesOf(t, q.reads, key); q.ranges != nil && ranges != nil {
			q.ranges.ranges = append(q.ranges.ranges, ranges...)
		} else {
			q.ranges = nil
		}
		if rows := rowsOf(t, q.reads, key); q.rows != nil && rows != nil {
			q.rows.rows = append(q.rows.rows, rows...)
		} else {
			q.rows = nil
		}
	}
	if q.rows != nil {
		slices.Sort(q.rows.rows)
	}
	if q.ranges == nil {
		return drawReading(t, r, l, w) // days without end
	}
	return q
}

// many is the number of ranges beyond which a test does not list them: all possible days, day by
// day.
const many = 3000

// rangesOf are the ranges of a user, checked to ascend and to end somewhere; nil if they
// are too many.
func rangesOf(t *testing.T, reads *layout.Reads, key []byte) [][2]string {
	t.Helper()
	out := [][2]string{}
	done := reads.Ranges(key, func(start, stop []byte) bool {
		out = append(out, [2]string{string(start), string(stop)})
		return len(out) < many
	})
	for i, r := range out {
		if len(r[0]) == 0 || r[0] >= r[1] {
			t.Fatalf("key %q: the range [%q, %q) is empty, or has no end", key, r[0], r[1])
		}
		if i > 0 && out[i-1][1] > r[0] {
			t.Fatalf("key %q: the range [%q, %q) comes after one that ends at %q", key, r[0], r[1], out[i-1][1])
		}
	}
	if !done && len(out) < many {
		t.Fatalf("key %q: Ranges says it was stopped, after %d ranges", key, len(out))
	}
	if len(out) >= many {
		return nil
	}
	checkStops(t, len(out), func(yield func() bool) bool {
		return reads.Ranges(key, func(_, _ []byte) bool { return yield() })
	})
	return out
}

// rowsOf are the rows of a user, checked to ascend; nil if they cannot be told.
func rowsOf(t *testing.T, reads *layout.Reads, key []byte) []string {
	t.Helper()
	if reads.Rows == nil {
		return nil
	}
	out := []string{}
	done := reads.Rows(key, func(row []byte) bool {
		out = append(out, string(row))
		return len(out) < many
	})
	for i := 1; i < len(out); i++ {
		if out[i-1] >= out[i] {
			t.Fatalf("key %q: row %q comes after %q", key, out[i], out[i-1])
		}
	}
	if len(out) >= many {
		return nil
	}
	if !done {
		t.Fatalf("key %q: Rows says it was stopped, after %d rows", key, len(out))
	}
	checkStops(t, len(out), func(yield func() bool) bool {
		return reads.Rows(key, func([]byte) bool { return yield() })
	})
	return out
}

// checkStops checks that each, which yields n things, stops after any of them.
func checkStops(t *testing.T, n int, each func(yield func() bool) bool) {
	t.Helper()
	if n == 0 {
		return
	}
	at, i := n/2+1, 0
	if each(func() bool { i++; return i < at }) || i != at {
		t.Fatalf("told to stop at %d of %d, it went on to %d", at, n, i)
	}
}

// TestReadsGiveTheResult checks that the rows or ranges of a query have exactly its events, in whatever
// order the table returns the cells, and whether or not the table leaves out cells of other times.
func TestReadsGiveTheResult(t *testing.T) {
	onEach(t, 40, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		w := drawWorld(t, r, l, r.IntN(80))
		s := stored(t, r, l, w)
		for range 6 {
			q := drawReading(t, r, l, w)
			q.checkColumns(t)
			for way, give := range ways {
				all := give(s)
				q.check(t, way+", by ranges", q.ranges.of(all))
				q.check(t, way+", by ranges and time", q.timely(q.ranges).of(all))
				if q.rows != nil {
					q.check(t, way+", by rows", q.rows.of(all))
				}
				q.check(t, way+", all there is", all)
			}
			q.checkOthers(t, ways["merged"](s))
			q.checkTimes(t, ways["merged"](s))
		}
	})
}

// timely is p of the milliseconds that the query is about.
func (q *reading) timely(p *part) *part {
	first, last := q.want.Span.From.Start(q.w.zone).UnixMicro(), q.want.Span.To.End(q.w.zone).UnixMicro()-1
	if q.want.Times != nil {
		first, last = max(first, q.want.Times.First), min(last, q.want.Times.Last)
	}
	timely := *p
	timely.millis = &[2]int64{behaviour.Millis(first), behaviour.Millis(last)}
	return &timely
}

// check decodes cells, twice with one decoder, and compares with the result.
func (q *reading) check(t *testing.T, way string, cells []*cell.Cell) {
	t.Helper()
	d := q.l.Decoder(q.w.schema, q.want)
	for range 2 {
		recs, err := found(q.l, q.w.schema, d, cells, q.asked)
		if err != nil {
			t.Fatalf("%s: %s: %v", q, way, err)
		}
		if !complete(recs, q.must, q.may) {
			t.Fatalf("%s: %s: the events are\n%s\nwant\n%s\nand perhaps\n%s", q, way, q.w.described(recs), q.w.described(q.must), q.w.described(q.may))
		}
	}
}

// checkColumns checks that HBase would not lose columns.
func (q *reading) checkColumns(t *testing.T) {
	t.Helper()
	for i, p := range q.reads.Columns.Prefixes {
		for j, o := range q.reads.Columns.Prefixes {
			if i != j && bytes.HasPrefix(o, p) {
				t.Fatalf("%s: prefix %q begins %q: HBase would lose columns", q, p, o)
			}
		}
	}
}

// checkOthers checks that no cell of another user is read.
func (q *reading) checkOthers(t *testing.T, all []*cell.Cell) {
	t.Helper()
	for _, c := range all {
		user, err := q.l.AppendUser(nil, q.l.UserKey(c.Row))
		if err != nil {
			t.Fatal(err)
		}
		if !q.asked(string(user)) && (q.ranges.hasRow(string(c.Row)) || q.rows != nil && q.rows.hasRow(string(c.Row))) {
			t.Fatalf("%s: row %q of user %q is read", q, c.Row, user)
		}
	}
}

// checkTimes checks that a query with Timed reads reads only cells of its times, to the second.
func (q *reading) checkTimes(t *testing.T, all []*cell.Cell) {
	t.Helper()
	if !q.reads.Timed {
		return
	}
	timely := q.timely(q.ranges)
	first, last := timely.millis[0]-1000, timely.millis[1]+1000
	for _, c := range q.ranges.of(all) {
		if c.Time < first || c.Time > last {
			t.Fatalf("%s: %s is read, which is not of the times from %d to %d", q, c, first, last)
		}
	}
}

func (q *reading) String() string {
	text := fmt.Sprintf("%s, kinds %d, %s, fields %t", q.w.schema.Zone, q.want.Kinds, q.want.Span, q.want.Fields)
	if q.want.Times != nil {
		text += fmt.Sprintf(", times %+v", *q.want.Times)
	}
	return text
}

// TestSchemasGrow decodes cells that were written before a kind got more fields, and before there
// were other kinds. The new fields are null.
func TestSchemasGrow(t *testing.T) {
	onEach(t, 20, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		w := drawWorld(t, r, l, 40)
		cells := encoded(t, l, w.schema, w.recs)
		grown := &world{schema: &behaviour.Schema{Zone: w.schema.Zone}, zone: w.zone}
		for i, k := range w.schema.Kinds {
			k.Fields = slices.Clone(k.Fields)
			for j := range r.IntN(4) {
				k.Fields = append(k.Fields, behaviour.Field{Name: fmt.Sprintf("new%d", j), Type: behaviour.String})
			}
			between := behaviour.Kind{ID: k.ID - 1, Name: fmt.Sprintf("new_%d", i)}
			if k.ID > 1 {
				grown.schema.Kinds = append(grown.schema.Kinds, between)
			}
			grown.schema.Kinds = append(grown.schema.Kinds, k)
		}
		for _, rec := range w.recs {
			rec.Kind, _ = grown.schema.KindByID(w.schema.Kinds[rec.Kind].ID)
			rec.Values = slices.Grow(slices.Clone(rec.Values), 4)[:len(grown.schema.Kinds[rec.Kind].Fields)]
			grown.recs = append(grown.recs, rec)
		}
		all := layout.Want{Span: always}
		for k := range grown.schema.Kinds {
			all.Kinds = append(all.Kinds, k)
		}
		recs, err := found(l, grown.schema, l.Decoder(grown.schema, all), cells, func(string) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		if !complete(recs, grown.recs, nil) {
			t.Errorf("came back as\n%s\nwant\n%s", grown.described(recs), grown.described(grown.recs))
		}
	})
}

// TestFewFieldsAreFewCells where fields have cells of their own.
func TestFewFieldsAreFewCells(t *testing.T) {
	s := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play"}}}
	rec := behaviour.Record{User: []byte("42")}
	few := layout.Want{Kinds: []int{0}, Span: always, Fields: [][]bool{make([]bool, 6)}}
	few.Fields[0][1] = true
	for i := range 6 {
		s.Kinds[0].Fields = append(s.Kinds[0].Fields, behaviour.Field{Name: fmt.Sprintf("f%d", i), Type: behaviour.String})
		rec.Values = append(rec.Values, []byte("v"))
	}
	for _, name := range names() {
		l := named(t, name)
		reads, err := l.Reads(s, few)
		if err != nil {
			t.Fatal(err)
		}
		cells := encoded(t, l, s, []behaviour.Record{rec})
		n := 0
		for _, c := range cells {
			if hasColumn(reads.Columns, c.Qualifier) {
				n++
			}
		}
		if few := n < len(cells); few != (l.Traits().FieldCells > 0) || n == 0 {
			t.Errorf("%s: %d of %d cells are read for one field of six", name, n, len(cells))
		}
	}
}

// TestTellersTell checks that a Teller finds the record of a cell without the cell's value.
func TestTellersTell(t *testing.T) {
	onEach(t, 20, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		w := drawWorld(t, r, l, 60)
		type where struct{ row, qualifier string }
		rows := map[string]layout.RecordID{}
		told := map[where]map[int64]layout.RecordID{}
		for i, rec := range w.recs {
			for _, c := range encoded(t, l, w.schema, w.recs[i:i+1]) {
				at := where{string(c.Row), string(c.Qualifier)}
				if told[at] == nil {
					told[at] = map[int64]layout.RecordID{}
				}
				told[at][c.Time] = layout.RecordID{Date: rec.Date, Kind: rec.Kind, ID: rec.ID}
			}
		}
		cells := encoded(t, l, w.schema, w.recs)
		if r.IntN(2) == 0 {
			r.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		}
		teller := l.Teller(w.schema)
		var from lender
		for _, c := range cells {
			want := told[where{string(c.Row), string(c.Qualifier)}][c.Time]
			c.Value = nil
			if got, ok := teller.Tell(from.lend(c)); !ok || got != want {
				t.Fatalf("%s: cell %s is told to be of %+v, %t; want %+v", w.schema.Zone, c, got, ok, want)
			}
			row := string(c.Row)
			if first, ok := rows[row]; ok && l.Traits().DayRows && (first.Date != want.Date || first.Kind != want.Kind) {
				t.Fatalf("row %q has records of %+v and %+v", row, first, want)
			}
			rows[row] = want
		}
	})
}

// foreign is a schema that has no kind in common with those that are drawn.
var foreign = &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 12345, Name: "foreign", Fields: []behaviour.Field{{Name: "f", Type: behaviour.String}}}}}

// TestStrangeCellsAreRefused checks that strange cells are refused in every state of the teller
// and of the decoder. The error of the decoder names the row. For a strange column the teller may
// use the row alone.
func TestStrangeCellsAreRefused(t *testing.T) {
	onEach(t, 10, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		w := drawWorld(t, r, l, 10)
		all := layout.Want{Span: always}
		for k := range w.schema.Kinds {
			all.Kinds = append(all.Kinds, k)
		}
		for i := range w.recs {
			good := encoded(t, l, w.schema, w.recs[i:i+1])[0]
			for name, spoil := range map[string]func(*cell.Cell){
				"no row":            func(c *cell.Cell) { c.Row = []byte("no row") },
				"another qualifier": func(c *cell.Cell) { c.Qualifier = []byte("other,") },
				"a long qualifier":  func(c *cell.Cell) { c.Qualifier = append(c.Qualifier, "and more"...) },
			} {
				bad := good.Clone()
				spoil(bad)
				teller, d := l.Teller(w.schema), l.Decoder(w.schema, all)
				if _, ok := teller.Tell(good); !ok {
					t.Fatalf("%s is refused", good)
				}
				row := layout.RecordID{Date: w.recs[i].Date, Kind: w.recs[i].Kind, ID: layout.NoID}
				if told, ok := teller.Tell(bad); ok && (!l.Traits().DayRows || bytes.Equal(bad.Row, []byte("no row")) || told != row) {
					t.Errorf("%s: the teller takes %s for %+v", name, bad, told)
				}
				_, err := found(l, w.schema, d, []*cell.Cell{good, bad}, func(string) bool { return true })
				if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", bad.Row)) {
					t.Errorf("%s: the decoder says of %s: %v; want an error that names the row", name, bad, err)
				}
			}
			if told, ok := l.Teller(foreign).Tell(good); ok {
				t.Errorf("a teller of another schema takes %s for %+v", good, told)
			}
			d := l.Decoder(foreign, layout.Want{Kinds: []int{0}, Span: always})
			if _, err := found(l, foreign, d, []*cell.Cell{good}, func(string) bool { return true }); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", good.Row)) {
				t.Errorf("a decoder of another schema says of %s: %v; want an error that names the row", good, err)
			}
		}
	})
}

// skipping is a Decoder that skips foreign cells.
type skipping struct {
	layout.Decoder
	skipped layout.Foreign
}

func (s *skipping) Add(c *cell.Cell) error { return s.skipped.Skip(s.Decoder.Add(c)) }

// TestForeignCellsChangeNothing puts rows and columns of others between the cells of
// records: without them the records are the same.
func TestForeignCellsChangeNothing(t *testing.T) {
	onEach(t, 10, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		w := drawWorld(t, r, l, 30)
		all := layout.Everything(w.schema, always)
		everybody := func(string) bool { return true }
		cells := encoded(t, l, w.schema, w.recs)
		want, err := found(l, w.schema, l.Decoder(w.schema, all), cells, everybody)
		if err != nil {
			t.Fatal(err)
		}
		var mixed []*cell.Cell
		var others int64
		for _, c := range cells {
			for _, spoil := range []func(*cell.Cell){
				func(*cell.Cell) {},
				func(c *cell.Cell) { c.Qualifier = []byte("other,") },
				func(c *cell.Cell) { c.Qualifier = append([]byte("other,"), 0, 0, 0, 0, 0, 0, 0, 1) },
			} {
				x := c.Clone()
				spoil(x)
				mixed = append(mixed, x)
			}
			others += 2
		}
		first := 0
		for first < len(cells) && bytes.Equal(cells[first].Row, cells[0].Row) {
			first++
		}
		x := cells[0].Clone()
		x.Row = []byte("no row")
		mixed = slices.Insert(mixed, 3*first, x, x) // between two rows
		d := &skipping{Decoder: l.Decoder(w.schema, all)}
		got, err := found(l, w.schema, d, mixed, everybody)
		if err != nil {
			t.Fatal(err)
		}
		if !complete(got, want, nil) {
			t.Errorf("with cells of others the records are %s, want %s", w.described(got), w.described(want))
		}
		if others += 2; d.skipped.Cells != others || d.skipped.First == "" {
			t.Errorf("skipped %+v, want %d cells and the first", d.skipped, others)
		}
	})
}

// TestTheLatestComeFirst checks layouts that store the newest record first: one row, or one
// column, is one record, in the reverse order of the trail, and a query reads only its times.
func TestTheLatestComeFirst(t *testing.T) {
	onEach(t, 40, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		newest := l.Traits().Newest
		if newest == layout.NotNewest {
			t.Skip("they do not")
		}
		w := drawWorld(t, r, l, 60)
		q := drawReading(t, r, l, w)
		q.want.Kinds = q.want.Kinds[:0]
		for k := range w.schema.Kinds {
			q.want.Kinds = append(q.want.Kinds, k)
		}
		cells := q.ranges.of(ways["merged"](stored(t, r, l, w)))
		got := map[string][]trail.Event{}
		for i, c := range cells {
			if again := i > 0 && bytes.Equal(cells[i-1].Row, c.Row); again && newest == layout.NewestRows {
				t.Fatalf("row %q has two cells", c.Row)
			}
			recs, err := found(l, w.schema, l.Decoder(w.schema, q.want), []*cell.Cell{c}, q.asked)
			if err != nil || len(recs) != 1 {
				t.Fatalf("%s: cell %s holds %d records that are asked for, %v", q, c, len(recs), err)
			}
			got[string(recs[0].User)] = append(got[string(recs[0].User)], trail.Event{Time: recs[0].Time, Kind: uint16(recs[0].Kind), ID: recs[0].ID})
		}
		n := 0
		for user, events := range got {
			if !slices.IsSortedFunc(events, func(a, b trail.Event) int { return trail.Compare(&b, &a) }) {
				t.Errorf("%s: the events of user %q come as %+v", q, user, events)
			}
			n += len(events)
		}
		if must, _ := w.result(q.want, q.asked); n != len(must) {
			t.Errorf("%s: %d records are read, want %d", q, n, len(must))
		}
	})
}

// TestFuzzyMatchesTheDays checks that the fuzzy filter of a query matches the days of the query
// for every user, and no others.
func TestFuzzyMatchesTheDays(t *testing.T) {
	onEach(t, 20, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		w := drawWorld(t, r, l, 60)
		for range 10 {
			q := w.drawWant(r)
			reads, err := l.Reads(w.schema, q)
			if err != nil {
				t.Fatal(err)
			}
			if reads.Fuzzy == nil {
				continue
			}
			for i := range w.recs {
				rec := &w.recs[i]
				row := l.AppendRow(nil, w.schema, rec)
				match := slices.ContainsFunc(reads.Fuzzy, func(f layout.Fuzzy) bool { return matches(t, f, row) })
				if match != q.Span.Has(rec.Date) {
					t.Fatalf("%s: row %q of %s matches: %t", q.Span, row, rec.Date, match)
				}
			}
		}
	})
}

func matches(t *testing.T, f layout.Fuzzy, row []byte) bool {
	t.Helper()
	if len(f.Any) != len(f.Row) || len(f.Row) == 0 {
		t.Fatalf("%d bytes, of which %d are said to be any", len(f.Row), len(f.Any))
	}
	if len(row) < len(f.Row) {
		return false
	}
	for i := range f.Row {
		if !f.Any[i] && row[i] != f.Row[i] {
			return false
		}
	}
	return true
}

// TestAFullBatchIsAnError decodes records into batches that are too small for all of their
// values.
func TestAFullBatchIsAnError(t *testing.T) {
	onEach(t, 20, func(t *testing.T, r *rand.Rand, l layout.Layout) {
		w := drawWorld(t, r, l, 40)
		cells := encoded(t, l, w.schema, w.recs)
		decode := func(most int) (*trail.Batch, error) {
			b := &trail.Batch{Most: most}
			d := l.Decoder(w.schema, layout.Everything(w.schema, always))
			d.Into(b, func([]byte) (uint32, bool) { return 0, true })
			for _, c := range cells {
				if err := d.Add(c); err != nil {
					return b, err
				}
			}
			return b, d.Flush()
		}
		whole, err := decode(0)
		if err != nil {
			t.Fatal(err)
		}
		n := whole.Used()
		if _, err := decode(n + 64); err != nil { // an event is added behind its values
			t.Errorf("%d bytes do not fit in as many: %v", n, err)
		}
		if _, err := decode(1 + r.IntN(n-64)); !errors.Is(err, trail.ErrFull) {
			t.Errorf("%d bytes fit in less: %v, want ErrFull", n, err)
		}
	})
}

func TestSplitPointsAscend(t *testing.T) {
	for _, name := range names() {
		splits := named(t, name).Traits().Splits
		if splits == nil {
			continue
		}
		for _, regions := range []int{1, 2, 3, 16, 100, 1000} {
			points := splits(regions)
			if len(points) != regions-1 {
				t.Errorf("%s: %d regions have %d points between them", name, regions, len(points))
			}
			last := []byte{}
			for _, p := range points {
				if bytes.Compare(last, p) >= 0 {
					t.Errorf("%s: of %d regions, point %q comes after %q", name, regions, p, last)
				}
				last = p
			}
		}
	}
}
