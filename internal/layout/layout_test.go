package layout_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/layout"
	"usertrail/internal/rowkey"
	"usertrail/internal/trail"
)

// schema has fields out of the order of their qualifiers, fields that begin
// others' names, and a kind without any.
func schema() *behaviour.Schema {
	return &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{
		{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64}, {Name: "a", Type: behaviour.Bool}}},
		{ID: 7, Name: "playlist", Fields: []behaviour.Field{{Name: "titles", Type: behaviour.String}, {Name: "title", Type: behaviour.String}}},
		{ID: 65535, Name: "login"},
	}}
}

// A rec is a record as the tests draw it; nil values are null.
type rec struct {
	user   string
	kind   int
	micros int64
	id     int64
	values [][]byte
}

func (r rec) date() behaviour.Date {
	d := r.micros / 86_400_000_000
	if r.micros%86_400_000_000 < 0 {
		d--
	}
	return behaviour.Date(d)
}

func (r rec) record() behaviour.Record {
	return behaviour.Record{Kind: r.kind, User: []byte(r.user), Time: r.micros, Date: r.date(), ID: r.id, Values: r.values}
}

func (r rec) String() string {
	return fmt.Sprintf("%q %d %d %d %q", r.user, r.micros, r.kind, r.id, r.values)
}

func inOrder(a, b rec) int {
	return cmp.Or(cmp.Compare(a.user, b.user), cmp.Compare(a.micros, b.micros), cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id))
}

// drawn makes records up: many at one instant, in microseconds and not, before
// 1970 too, with nulls in any field.
func drawn(r *rand.Rand, n int) []rec {
	s := schema()
	out := make([]rec, n)
	for i := range out {
		c := rec{
			user: []string{"u", "u1", "1u", ",", `\`, "张三", strings.Repeat("x", 255)}[r.IntN(7)],
			kind: r.IntN(len(s.Kinds)), id: int64(i)<<38 | r.Int64N(1<<30),
			micros: []int64{0, -1, 1, 999, 1000, 1_409_529_600_000_000, 1_409_529_600_000_001, r.Int64N(1e15) - 5e14}[r.IntN(8)],
		}
		for range s.Kinds[c.kind].Fields {
			c.values = append(c.values, [][]byte{nil, {}, []byte("v"), []byte("a longer value"), {0, 0xff}}[r.IntN(5)])
		}
		out[i] = c
	}
	return out
}

// encoded are the cells of records, row by row, checked to be in HBase's order.
func encoded(t testing.TB, s *behaviour.Schema, recs []rec) []*cell.Cell {
	t.Helper()
	var l layout.Layout = layout.Reversed{}
	rows := map[string][]rec{}
	for _, r := range recs {
		b := r.record()
		row := string(l.AppendRow(nil, s, &b))
		rows[row] = append(rows[row], r)
	}
	enc := l.Encoder(s, "d")
	var out []*cell.Cell
	for row, list := range rows {
		slices.SortFunc(list, func(a, b rec) int { return cmp.Compare(a.id, b.id) })
		for _, r := range list {
			b := r.record()
			enc.Add(&b)
		}
		first := len(out)
		if err := enc.Cells([]byte(row), func(c *cell.Cell) error { out = append(out, c.Clone()); return nil }); err != nil {
			t.Fatal(err)
		}
		for i := first + 1; i < len(out); i++ {
			if cell.Compare(out[i-1], out[i]) >= 0 {
				t.Fatalf("%s does not come before %s", out[i-1], out[i])
			}
		}
	}
	return out
}

// decoded are the records in cells.
func decoded(t testing.TB, s *behaviour.Schema, want layout.Want, cells []*cell.Cell) []rec {
	t.Helper()
	var l layout.Layout = layout.Reversed{}
	var b trail.Batch
	b.Reset()
	var keys []string
	d := l.Decoder(s, want)
	d.Into(&b, func(key []byte) (uint32, bool) {
		i := slices.Index(keys, string(key))
		if i < 0 {
			i, keys = len(keys), append(keys, string(key))
		}
		return uint32(i), true
	})
	for _, c := range cells {
		if err := d.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	var out []rec
	for _, e := range b.Events {
		user, err := l.AppendUser(nil, []byte(keys[e.User]))
		if err != nil {
			t.Fatal(err)
		}
		r := rec{user: string(user), kind: int(e.Kind), micros: e.Time, id: e.ID}
		if r.date() != behaviour.Date(e.Date) {
			t.Fatalf("%s has the date %s, want %s", r, behaviour.Date(e.Date), r.date())
		}
		for i := range s.Kinds[r.kind].Fields {
			r.values = append(r.values, bytes.Clone(b.Value(b.Refs[int(e.Refs)+i])))
		}
		out = append(out, r)
	}
	return out
}

var always = behaviour.Span{From: behaviour.MinDate, To: behaviour.MaxDate}

func checkRoundTrip(t testing.TB, recs []rec) {
	t.Helper()
	s := schema()
	got := decoded(t, s, layout.Want{Kinds: []int{0, 1, 2}, Span: always}, encoded(t, s, recs))
	checkRecords(t, got, recs)
}

func checkRecords(t testing.TB, got, want []rec) {
	t.Helper()
	want = slices.Clone(want)
	slices.SortFunc(got, inOrder)
	slices.SortFunc(want, inOrder)
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Fatalf("came back as\n%s\nwant\n%s", g, w)
	}
	for i := range want {
		for f := range want[i].values {
			if (got[i].values[f] == nil) != (want[i].values[f] == nil) {
				t.Fatalf("%s: value %d: null and empty are mixed up", want[i], f)
			}
		}
	}
}

func TestWhatIsEncodedIsDecoded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		checkRoundTrip(t, drawn(r, r.IntN(40)))
	}
}

// TestRowsMayComeAgain: a table gives the cells of a row file by file.
func TestRowsMayComeAgain(t *testing.T) {
	s, r := schema(), rand.New(rand.NewPCG(2, 2))
	for range 100 {
		recs := drawn(r, 40)
		cells := append(encoded(t, s, recs[:15]), encoded(t, s, recs[15:])...)
		checkRecords(t, decoded(t, s, layout.Want{Kinds: []int{0, 1, 2}, Span: always}, cells), recs)
	}
}

func TestDecoderPassesOverWhatIsNotAsked(t *testing.T) {
	s, r := schema(), rand.New(rand.NewPCG(3, 3))
	for range 50 {
		recs := drawn(r, 60)
		want := layout.Want{Kinds: []int{1, 2}, Span: behaviour.Span{From: 0, To: 16314}}
		got := decoded(t, s, want, encoded(t, s, recs))
		checkRecords(t, got, slices.DeleteFunc(slices.Clone(recs), func(c rec) bool { return c.kind == 0 || !want.Span.Has(c.date()) }))
	}
}

// TestPrefixesAreEnough: with the cells of the asked kinds' prefixes alone, every
// record of those kinds comes out whole.
func TestPrefixesAreEnough(t *testing.T) {
	var l layout.Layout = layout.Reversed{}
	s, r := schema(), rand.New(rand.NewPCG(4, 4))
	for _, kinds := range [][]int{{0}, {1}, {2}, {0, 2}, {0, 1, 2}} {
		prefixes, err := l.Prefixes(s, layout.Want{Kinds: kinds})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range prefixes {
			for j, o := range prefixes {
				if i != j && bytes.HasPrefix(o, p) {
					t.Errorf("prefix %q begins %q: HBase would lose columns", p, o)
				}
			}
		}
		recs := drawn(r, 200)
		cells := slices.DeleteFunc(encoded(t, s, recs), func(c *cell.Cell) bool {
			return !slices.ContainsFunc(prefixes, func(p []byte) bool { return bytes.HasPrefix(c.Qualifier, p) })
		})
		got := decoded(t, s, layout.Want{Kinds: kinds, Span: always}, cells)
		checkRecords(t, got, slices.DeleteFunc(recs, func(c rec) bool { return !slices.Contains(kinds, c.kind) }))
	}
}

// TestOnlyTheAskedFieldsCome: with the cells of the asked fields' prefixes alone, and
// with all cells, every record comes, with the values that were asked for.
func TestOnlyTheAskedFieldsCome(t *testing.T) {
	var l layout.Layout = layout.Reversed{}
	s, r := schema(), rand.New(rand.NewPCG(5, 5))
	for range 100 {
		want := layout.Want{Kinds: []int{0, 1, 2}, Span: always}
		for _, k := range s.Kinds {
			asked := make([]bool, len(k.Fields))
			for i := range asked {
				asked[i] = r.IntN(2) == 0
			}
			want.Fields = append(want.Fields, asked)
		}
		prefixes, err := l.Prefixes(s, want)
		if err != nil {
			t.Fatal(err)
		}
		recs := drawn(r, 100)
		all := encoded(t, s, recs)
		for i := range recs {
			recs[i].values = slices.Clone(recs[i].values)
			for f := range recs[i].values {
				if !want.Has(recs[i].kind, f) {
					recs[i].values[f] = nil
				}
			}
		}
		few := slices.DeleteFunc(slices.Clone(all), func(c *cell.Cell) bool {
			return !slices.ContainsFunc(prefixes, func(p []byte) bool { return bytes.HasPrefix(c.Qualifier, p) })
		})
		checkRecords(t, decoded(t, s, want, all), slices.Clone(recs))
		checkRecords(t, decoded(t, s, want, few), recs)
	}
}

// TestStartAndStopHoldTheSpan compares the rows between Start and Stop with the
// dates and users of many rows.
func TestStartAndStopHoldTheSpan(t *testing.T) {
	var l layout.Layout = layout.Reversed{}
	s := schema()
	users := []string{"u", "u1", "1u", "u2", "2u", ",", ",,", `\`, "-", ".", "0", "20140901", "张三", "三"}
	dates := []behaviour.Date{behaviour.MinDate, -1, 0, 16313, 16314, 16315, behaviour.MaxDate}
	for _, asked := range users {
		key := l.AppendUserKey(nil, []byte(asked))
		for _, from := range dates {
			for _, to := range dates {
				if from > to {
					continue
				}
				span := behaviour.Span{From: from, To: to}
				start, stop := l.AppendStart(nil, key, span), l.AppendStop(nil, key, span)
				for _, user := range users {
					for _, d := range dates {
						for k := range s.Kinds {
							r := behaviour.Record{User: []byte(user), Date: d, Kind: k}
							row := l.AppendRow(nil, s, &r)
							in := bytes.Compare(start, row) <= 0 && bytes.Compare(row, stop) < 0
							if want := user == asked && span.Has(d); in != want {
								t.Fatalf("%q in %s: row %q is in [%q, %q): %t, want %t", asked, span, row, start, stop, in, want)
							}
						}
					}
				}
			}
		}
	}
}

func TestRowsBeginWithTheirUsersKey(t *testing.T) {
	var l layout.Layout = layout.Reversed{}
	s := schema()
	for _, r := range drawn(rand.New(rand.NewPCG(5, 5)), 200) {
		b := r.record()
		row, key := l.AppendRow(nil, s, &b), l.AppendUserKey(nil, b.User)
		if n := l.UserKeyLen(row); !bytes.Equal(row[:n], key) {
			t.Errorf("row %q: key of %d bytes, want %q", row, n, key)
		}
	}
	if n := l.UserKeyLen([]byte("no row")); n != 0 {
		t.Errorf("what is no row has a key of %d bytes", n)
	}
}

// TestRowsTellTheirDayAndKind parses rows that were made, and some that cannot have
// been.
func TestRowsTellTheirDayAndKind(t *testing.T) {
	var l layout.Layout = layout.Reversed{}
	s := schema()
	for _, r := range drawn(rand.New(rand.NewPCG(6, 6)), 200) {
		b := r.record()
		row := l.AppendRow(nil, s, &b)
		if date, kind, ok := l.ParseRow(s, row); !ok || date != b.Date || kind != b.Kind {
			t.Errorf("row %q: %s, kind %d, %t; want %s, kind %d", row, date, kind, ok, b.Date, b.Kind)
		}
	}
	for _, row := range []string{
		"", "x", ",20140901,00001", "u,20141301,00001", "u,20140901,00002", "u,20140901,1", "u,2014-09-01,00001",
		"u,20140901,00001 ", "u,v,20140901,00001", `u\x,20140901,00001`, `\,20140901,00001`, "\xff,20140901,00001",
		strings.Repeat("x", 256) + ",20140901,00001",
	} {
		if date, kind, ok := l.ParseRow(s, []byte(row)); ok {
			t.Errorf("row %q is taken for one of %s and kind %d", row, date, kind)
		}
	}
}

func TestDecoderRefusesWhatItCannotKnow(t *testing.T) {
	s := schema()
	good := encoded(t, s, []rec{{user: "u", kind: 0, micros: 1, id: 5, values: [][]byte{nil, nil, nil}}})[0]
	for name, spoil := range map[string]func(*cell.Cell){
		"no row":              func(c *cell.Cell) { c.Row = []byte("x") },
		"no such date":        func(c *cell.Cell) { c.Row = []byte("u,20141301,00001") },
		"no such behaviour":   func(c *cell.Cell) { c.Row = []byte("u,20140901,00002") },
		"no qualifier":        func(c *cell.Cell) { c.Qualifier = nil },
		"a short qualifier":   func(c *cell.Cell) { c.Qualifier = []byte("_,1234567") },
		"another field":       func(c *cell.Cell) { c.Qualifier = append([]byte("titles,"), c.Qualifier[2:]...) },
		"microseconds in ms":  func(c *cell.Cell) { c.Value = []byte("1000") },
		"microseconds in hex": func(c *cell.Cell) { c.Value = []byte("0x1") },
	} {
		c := good.Clone()
		spoil(c)
		d := layout.Reversed{}.Decoder(s, layout.Want{Kinds: []int{0, 1, 2}, Span: always})
		d.Into(new(trail.Batch), func([]byte) (uint32, bool) { return 0, true })
		if err := d.Add(c); err == nil {
			t.Errorf("%s: %s was taken", name, c)
		} else if name == "no row" && !errors.Is(err, rowkey.ErrNotRow) {
			t.Errorf("%s: %v, want ErrNotRow", name, err)
		}
	}
}

// TestOneCellARecordWhereOneIsEnough counts markers: only records that would not
// be seen, or would lose microseconds, have one.
func TestOneCellARecordWhereOneIsEnough(t *testing.T) {
	s := schema()
	v := []byte("v")
	for _, c := range []struct {
		rec   rec
		cells int
	}{
		{rec{kind: 0, values: [][]byte{v, nil, nil}}, 1},
		{rec{kind: 0, values: [][]byte{v, nil, nil}, micros: 1}, 2},
		{rec{kind: 0, values: [][]byte{v, nil, nil}, micros: 1000}, 1},
		{rec{kind: 0, values: [][]byte{nil, v, v}}, 3},
		{rec{kind: 0, values: [][]byte{nil, nil, nil}}, 1},
		{rec{kind: 2}, 1},
		{rec{kind: 2, micros: -1}, 1},
	} {
		c.rec.user = "u"
		if got := len(encoded(t, s, []rec{c.rec})); got != c.cells {
			t.Errorf("%s has %d cells, want %d", c.rec, got, c.cells)
		}
	}
}

func TestLayoutsAreFoundByName(t *testing.T) {
	if l, err := layout.ByName(layout.Default); err != nil || l.Name() != layout.Default {
		t.Errorf("the default layout: %v, %v", l, err)
	}
	if _, err := layout.ByName("tall"); err == nil || !strings.Contains(err.Error(), layout.Default) {
		t.Errorf("an unknown one: %v, want an error that names those there are", err)
	}
}

// FuzzRoundTrip makes records of bytes: five for each, which choose user, kind,
// time and values.
func FuzzRoundTrip(f *testing.F) {
	f.Add("u", []byte{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 255, 255, 255, 255}, int64(0))
	f.Add("u,\\", []byte{0, 1, 255, 0, 0, 0, 1, 0, 255, 0, 0, 1, 0, 0, 255}, int64(-1))
	f.Fuzz(func(t *testing.T, user string, in []byte, base int64) {
		s := schema()
		base %= 1 << 52
		user = strings.ToValidUTF8(user, "")
		if len(user) > behaviour.MaxUserLen {
			user = strings.ToValidUTF8(user[:behaviour.MaxUserLen], "")
		}
		var recs []rec
		for i := 0; i+5 <= len(in) && len(recs) < 100; i += 5 {
			r := rec{user: user + "x", kind: int(in[i]) % len(s.Kinds), id: int64(i), micros: base + int64(in[i+1])}
			if len(r.user) > behaviour.MaxUserLen {
				r.user = "x"
			}
			for f := range s.Kinds[r.kind].Fields {
				if b := in[i+2+f%3]; b > 0 {
					r.values = append(r.values, bytes.Repeat([]byte{b}, int(b)%9))
				} else {
					r.values = append(r.values, nil)
				}
			}
			recs = append(recs, r)
		}
		checkRoundTrip(t, recs)
	})
}

// FuzzDecode gives a decoder any cells: it refuses or takes them, and does not
// panic.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("u,20140901,00001"), []byte("title,12345678"), []byte("v"), []byte("_,12345678"))
	f.Add([]byte("u,20140901,65535"), []byte("_,12345678"), []byte("999"), []byte("_,12345679"))
	f.Fuzz(func(t *testing.T, row, qualifier, value, second []byte) {
		var b trail.Batch
		b.Reset()
		d := layout.Reversed{}.Decoder(schema(), layout.Want{Kinds: []int{0, 1, 2}, Span: always})
		d.Into(&b, func([]byte) (uint32, bool) { return 0, true })
		for _, q := range [][]byte{qualifier, second} {
			if d.Add(&cell.Cell{Row: row, Qualifier: q, Value: value, Type: cell.Put}) != nil {
				break
			}
		}
		if err := d.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, e := range b.Events {
			if int(e.Refs)+len(schema().Kinds[e.Kind].Fields) > len(b.Refs) {
				t.Fatalf("event %+v has values beyond the %d there are", e, len(b.Refs))
			}
		}
	})
}

// plays are the records of one row, as benchmarks use them.
func plays(n int) []rec {
	out := make([]rec, n)
	for i := range out {
		out[i] = rec{user: "0000012345", micros: 1_409_529_600_000_000 + int64(i)*7_000_000, id: 1<<40 + int64(i)*60, values: [][]byte{[]byte("甄嬛传 第7集"), behaviour.AppendInt64(nil, int64(i)), behaviour.AppendBool(nil, true)}}
	}
	return out
}

func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{1, 10, 1000} {
		b.Run(fmt.Sprintf("records=%d/cells=%d", n, 3*n), func(b *testing.B) {
			s, recs := schema(), plays(n)
			enc := layout.Reversed{}.Encoder(s, "d")
			var l layout.Layout = layout.Reversed{}
			var row []byte
			var bytes int64
			for _, c := range encoded(b, s, recs) {
				bytes += int64(len(c.Row) + len(c.Qualifier) + len(c.Value))
			}
			b.SetBytes(bytes)
			b.ReportAllocs()
			for b.Loop() {
				for i := range recs {
					r := recs[i].record()
					if i == 0 {
						row = l.AppendRow(row[:0], s, &r)
					}
					enc.Add(&r)
				}
				if err := enc.Cells(row, func(*cell.Cell) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{1, 10, 1000} {
		b.Run(fmt.Sprintf("records=%d/cells=%d", n, 3*n), func(b *testing.B) {
			s := schema()
			cells := encoded(b, s, plays(n))
			d := layout.Reversed{}.Decoder(s, layout.Want{Kinds: []int{0}, Span: always})
			var batch trail.Batch
			var bytes int64
			for _, c := range cells {
				bytes += int64(len(c.Row) + len(c.Qualifier) + len(c.Value))
			}
			b.SetBytes(bytes)
			b.ReportAllocs()
			for b.Loop() {
				batch.Reset()
				d.Into(&batch, func([]byte) (uint32, bool) { return 0, true })
				for _, c := range cells {
					if err := d.Add(c); err != nil {
						b.Fatal(err)
					}
				}
				if err := d.Flush(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestRowsNameEveryRow checks that Rows yields just the rows that records of the
// asked kinds and days can have, each once and in order.
func TestRowsNameEveryRow(t *testing.T) {
	l, s := layout.Reversed{}, schema()
	want := layout.Want{Kinds: []int{0, 2}, Span: behaviour.Span{From: -2, To: 2}}
	for _, user := range []string{"u", "u1", ",", `\`, "张三"} {
		var rows []string
		key := l.AppendUserKey(nil, []byte(user))
		l.Rows(s, want, key, func(row []byte) bool { rows = append(rows, string(row)); return true })
		if !slices.IsSorted(rows) || len(rows) != 10 {
			t.Errorf("user %q has the rows %q", user, rows)
		}
		for date := behaviour.Date(-3); date <= 3; date++ {
			for kind := range s.Kinds {
				r := behaviour.Record{User: []byte(user), Kind: kind, Date: date}
				asked := want.Span.Has(date) && slices.Contains(want.Kinds, kind)
				if slices.Contains(rows, string(l.AppendRow(nil, s, &r))) != asked {
					t.Errorf("user %q, kind %d, date %s: asked for is %t, but not among the rows", user, kind, date, asked)
				}
			}
		}
		n := 0
		if l.Rows(s, want, key, func([]byte) bool { n++; return n < 3 }) || n != 3 {
			t.Errorf("Rows goes on after yield has said no: %d rows", n)
		}
	}
}
