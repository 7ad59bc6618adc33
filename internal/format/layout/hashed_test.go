package layout_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/format/layout"
	"usertrail/internal/trail"
)

// hashedSchema has a kind with every type behind its hot fields, one with a hot field
// that is called as the remark's column, and one without fields.
func hashedSchema() *behaviour.Schema {
	wide := behaviour.Kind{ID: 1, Name: "play"}
	for i := range 5 {
		wide.Fields = append(wide.Fields, behaviour.Field{Name: fmt.Sprint("hot", i), Type: behaviour.String})
	}
	for _, typ := range behaviour.Types {
		wide.Fields = append(wide.Fields, behaviour.Field{Name: "a_" + string(typ), Type: typ})
	}
	return &behaviour.Schema{Zone: "Asia/Shanghai", Kinds: []behaviour.Kind{
		wide,
		{ID: 2, Name: "play_list", Fields: []behaviour.Field{{Name: "REMARK", Type: behaviour.String}, {Name: "REMARKS", Type: behaviour.String}, {Name: "A", Type: behaviour.String}}},
		{ID: 3, Name: "login"},
	}}
}

// hashedCells are the cells of records that have one row.
func hashedCells(t testing.TB, s *behaviour.Schema, recs ...behaviour.Record) []*cell.Cell {
	t.Helper()
	e := layout.Hashed{}.Encoder(s, "d")
	for i := range recs {
		e.Add(&recs[i])
	}
	var out []*cell.Cell
	row := layout.Hashed{}.AppendRow(nil, s, &recs[0])
	if err := e.Cells(row, func(c *cell.Cell) error { out = append(out, c.Clone()); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// hashedRead decodes cells: the events, each with its values.
func hashedRead(s *behaviour.Schema, q layout.Want, cells []*cell.Cell) ([]behaviour.Record, error) {
	var b trail.Batch
	b.Reset()
	d := layout.Hashed{}.Decoder(s, q)
	d.Into(&b, func([]byte) (uint32, bool) { return 0, true })
	for _, c := range cells {
		if err := d.Add(c); err != nil {
			return nil, err
		}
	}
	if err := d.Flush(); err != nil {
		return nil, err
	}
	var out []behaviour.Record
	for _, ev := range b.Events {
		r := behaviour.Record{Kind: int(ev.Kind), Time: ev.Time, Date: behaviour.Date(ev.Date), ID: ev.ID}
		for i := range s.Kinds[ev.Kind].Fields {
			r.Values = append(r.Values, bytes.Clone(b.Value(b.Refs[int(ev.Refs)+i])))
		}
		out = append(out, r)
	}
	return out, nil
}

var hashedAll = layout.Want{Kinds: []int{0, 1, 2}, Span: behaviour.AllDays}

// TestHashedRows compares the hashes of rows with the output of md5sum for the rest of the row.
func TestHashedRows(t *testing.T) {
	s := hashedSchema()
	for _, c := range []struct {
		user string
		kind int
		row  string
	}{
		{"u42", 0, `a2bd_u42_play`},
		{"u42", 1, `810e_u42_play\ulist`},
		{"u42", 2, `744f_u42_login`},
		{"a_b", 2, `002a_a\ub_login`},
		{`a\`, 2, `dd8c_a\\_login`},
		{"张三", 2, `7bda_张三_login`},
	} {
		r := behaviour.Record{User: []byte(c.user), Kind: c.kind}
		row := layout.Hashed{}.AppendRow([]byte("kept"), s, &r)
		if string(row) != "kept"+c.row {
			t.Errorf("user %s's row is %s, want %s", c.user, row[4:], c.row)
		}
		key := layout.Hashed{}.UserKey(row[4:])
		if want := (layout.Hashed{}).AppendUserKey(nil, r.User); !bytes.Equal(key, want) {
			t.Errorf("the user key in %s is %q, want %q", row[4:], key, want)
		}
		if told, ok := (layout.Hashed{}).Teller(s).Tell(&cell.Cell{Row: row[4:], Qualifier: column.Append(nil, "REMARK", 7)}); !ok || told != (layout.RecordID{Kind: c.kind, ID: 7}) {
			t.Errorf("of %s is told %+v, %t", row[4:], told, ok)
		}
	}
}

func TestHashedRefusesOtherRows(t *testing.T) {
	s := hashedSchema()
	for row, says := range map[string]string{
		"24u,20140901,00001": "not a row of the hashed layout",
		"ABCD_u42_login":     "not a row of the hashed layout",
		"0000u42_login":      "not a row of the hashed layout",
		"0000__login":        "not a row of the hashed layout",
		"0000_u42_":          "not a row of the hashed layout",
		"0000_u42_logout":    `no behaviour is called "logout"`,
		"0000_u42_play_list": `no behaviour is called "play_list"`,
		"0000_u42_login":     "its hash is 0000, but of its user and behaviour 744f",
		`0000_u\42_login`:    `a backslash is neither \u nor \\`,
	} {
		c := &cell.Cell{Row: []byte(row), Qualifier: column.Append(nil, "REMARK", 1), Value: []byte("{}")}
		if _, err := hashedRead(s, hashedAll, []*cell.Cell{c}); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), fmt.Sprintf("%q", row)) {
			t.Errorf("row %q: %v, want %s", row, err, says)
		}
		if told, ok := (layout.Hashed{}).Teller(s).Tell(c); ok {
			t.Errorf("of row %q is told %+v", row, told)
		}
		if key := (layout.Hashed{}).UserKey(c.Row); key != nil && strings.HasPrefix(says, "not a row") {
			t.Errorf("row %q has the user key %q", row, key)
		}
	}
}

// TestHashedIsOneRowForEachKind checks that rows and ranges ascend, whatever the order of
// kinds.
func TestHashedIsOneRowForEachKind(t *testing.T) {
	s := hashedSchema()
	reads, err := layout.Hashed{}.Reads(s, hashedAll)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"u1", "u10", "a_b"} {
		var want, rows, ranges []string
		for kind := range s.Kinds {
			want = append(want, string(layout.Hashed{}.AppendRow(nil, s, &behaviour.Record{User: []byte(user), Kind: kind})))
		}
		slices.Sort(want)
		key := layout.Hashed{}.AppendUserKey(nil, []byte(user))
		reads.Rows(key, func(row []byte) bool { rows = append(rows, string(row)); return true })
		reads.Ranges(key, func(start, stop []byte) bool {
			if string(stop) != string(start)+"\x00" {
				t.Errorf("the range of row %q ends at %q", start, stop)
			}
			ranges = append(ranges, string(start))
			return true
		})
		if !slices.Equal(rows, want) || !slices.Equal(ranges, want) {
			t.Errorf("user %s has the rows %q and the ranges %q, want %q", user, rows, ranges, want)
		}
		n := 0
		if reads.Rows(key, func([]byte) bool { n++; return n < 2 }) || n != 2 {
			t.Errorf("rows go on after yield has said no: %d", n)
		}
	}
}

// TestHashedAsksForTheRemark checks that every query requests the remark, also a query of no
// field or of a field without a column.
func TestHashedAsksForTheRemark(t *testing.T) {
	s := hashedSchema()
	none := [][]bool{make([]bool, 11), make([]bool, 3), nil}
	one := [][]bool{make([]bool, 11), {true, false, true}, nil}
	one[0][3], one[0][10] = true, true
	for _, c := range []struct {
		kinds  []int
		fields [][]bool
		want   string
	}{
		{[]int{0, 1, 2}, nil, `["A," "REMARK," "REMARKS," "hot0," "hot1," "hot2," "hot3," "hot4,"]`},
		{[]int{0, 1, 2}, one, `["A," "REMARK," "hot3,"]`},
		{[]int{0, 1, 2}, none, `["REMARK,"]`},
		{[]int{2}, nil, `["REMARK,"]`},
	} {
		reads, err := layout.Hashed{}.Reads(s, layout.Want{Kinds: c.kinds, Fields: c.fields})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%q", reads.Columns.Prefixes); got != c.want || reads.Columns.Bounded() {
			t.Errorf("kinds %v, fields %v: asks for %s, want %s", c.kinds, c.fields, got, c.want)
		}
	}
}

// TestHashedKeepsDaysApart decodes records of several days with the same column ID. A column
// has a version for each day, the latest first.
func TestHashedKeepsDaysApart(t *testing.T) {
	s := hashedSchema()
	const day = 86_400_000_000
	var recs []behaviour.Record
	for i, at := range []int64{3*day + 1, 5 * day, -2*day - 1, 4*day + 999, 3*day + 2} {
		r := behaviour.Record{User: []byte("u42"), Time: at, ID: 7, Values: make([][]byte, 11)}
		if i == 4 {
			r.ID = 8 // of the same time, except for a microsecond
		}
		r.Date = behaviour.Date((at + 8*3_600_000_000) / day)
		if at < 0 {
			r.Date = -2
		}
		r.Values[i], r.Values[10] = []byte(fmt.Sprint("hot ", i)), behaviour.AppendDate(nil, behaviour.Date(i))
		recs = append(recs, r)
	}
	cells := hashedCells(t, s, recs...)
	var text []string
	for i, c := range cells {
		if i > 0 && cell.Compare(cells[i-1], c) >= 0 {
			t.Errorf("%s does not come before %s", cells[i-1], c)
		}
		text = append(text, fmt.Sprintf("%s %d %d %s", c.Qualifier[:len(c.Qualifier)-8], c.Qualifier[len(c.Qualifier)-1], c.Time, c.Value))
	}
	want := []string{
		`REMARK, 7 432000000 {"a_date":"1970-01-02"}`,
		`REMARK, 7 345600000 {"_":999,"a_date":"1970-01-04"}`,
		`REMARK, 7 259200000 {"_":1,"a_date":"1970-01-01"}`,
		`REMARK, 7 -172800001 {"_":999,"a_date":"1970-01-03"}`,
		`REMARK, 8 259200000 {"_":2,"a_date":"1970-01-05"}`,
		"hot0, 7 259200000 hot 0",
		"hot1, 7 432000000 hot 1",
		"hot2, 7 -172800001 hot 2",
		"hot3, 7 345600000 hot 3",
		"hot4, 8 259200000 hot 4",
	}
	if !slices.Equal(text, want) {
		t.Errorf("the cells are\n%s\nwant\n%s", strings.Join(text, "\n"), strings.Join(want, "\n"))
	}
	hashedCompare(t, s, hashedAll, cells, recs)
	some := hashedAll
	some.Span = behaviour.Span{From: 0, To: 3}
	hashedCompare(t, s, some, cells, []behaviour.Record{recs[0], recs[4]})
}

// hashedCompare checks that the records of cells are recs, in whatever order.
func hashedCompare(t testing.TB, s *behaviour.Schema, q layout.Want, cells []*cell.Cell, recs []behaviour.Record) {
	t.Helper()
	got, err := hashedRead(s, q, cells)
	if err != nil {
		t.Fatal(err)
	}
	say := func(recs []behaviour.Record) []string {
		var out []string
		for _, r := range recs {
			text := fmt.Sprint(r.Kind, r.Time, r.Date, r.ID)
			for _, v := range r.Values {
				text += fmt.Sprintf(" %t %q", v == nil, v)
			}
			out = append(out, text)
		}
		slices.Sort(out)
		return out
	}
	if g, w := say(got), say(recs); !slices.Equal(g, w) {
		t.Errorf("came back as\n%s\nwant\n%s", strings.Join(g, "\n"), strings.Join(w, "\n"))
	}
}

// TestHashedFieldsCalledAsTheRemark stand in it.
func TestHashedFieldsCalledAsTheRemark(t *testing.T) {
	s := hashedSchema()
	recs := []behaviour.Record{
		{User: []byte("u"), Kind: 1, ID: 1, Values: [][]byte{[]byte("{"), []byte("{}"), {}}},
		{User: []byte("u"), Kind: 1, ID: 2, Values: [][]byte{nil, nil, nil}},
	}
	cells := hashedCells(t, s, recs...)
	var got []string
	for _, c := range cells {
		got = append(got, fmt.Sprintf("%s%s", c.Qualifier[:len(c.Qualifier)-8], c.Value))
	}
	if want := []string{"A,", `REMARK,{"REMARK":"{"}`, "REMARK,{}", "REMARKS,{}"}; !slices.Equal(got, want) {
		t.Errorf("the cells are %q, want %q", got, want)
	}
	hashedCompare(t, s, hashedAll, cells, recs)
}

// TestRemarksAreJSON checks how each value is written, that encoding/json reads it, and that
// reading it returns the same bits.
func TestRemarksAreJSON(t *testing.T) {
	double := func(f float64) []byte { return behaviour.AppendDouble(nil, f) }
	for _, c := range []struct {
		typ   behaviour.Type
		value []byte
		want  string
	}{
		{behaviour.String, []byte{}, `""`},
		{behaviour.String, []byte("节目 7"), `"节目 7"`},
		{behaviour.String, []byte("\"\\/\t\x00\x1f\x7f\u2028<&>"), "\"\\\"\\\\/\\u0009\\u0000\\u001f\x7f\u2028<&>\""},
		{behaviour.String, []byte("\xff\xfe"), `{"base64":"//4="}`},
		{behaviour.String, []byte("NaN"), `"NaN"`},
		{behaviour.String, []byte(`{"base64":""}`), `"{\"base64\":\"\"}"`},
		{behaviour.Int64, behaviour.AppendInt64(nil, math.MinInt64), "-9223372036854775808"},
		{behaviour.Int64, behaviour.AppendInt64(nil, 1<<53+1), "9007199254740993"},
		{behaviour.Int64, []byte("v"), `{"base64":"dg=="}`},
		{behaviour.Int64, []byte{}, `{"base64":""}`},
		{behaviour.Timestamp, behaviour.AppendInt64(nil, 1_409_529_600_000_001), "1409529600000001"},
		{behaviour.Double, double(0), "0"},
		{behaviour.Double, double(math.Copysign(0, -1)), `"-0"`},
		{behaviour.Double, double(0.1), "0.1"},
		{behaviour.Double, double(1e20), "100000000000000000000"},
		{behaviour.Double, double(1e21), "1e+21"},
		{behaviour.Double, double(-1e-7), "-1e-07"},
		{behaviour.Double, double(math.MaxFloat64), "1.7976931348623157e+308"},
		{behaviour.Double, double(math.SmallestNonzeroFloat64), "5e-324"},
		{behaviour.Double, double(math.NaN()), `"NaN"`},
		{behaviour.Double, double(math.Inf(1)), `"Inf"`},
		{behaviour.Double, double(math.Inf(-1)), `"-Inf"`},
		{behaviour.Double, double(math.Float64frombits(0xfff8_0000_0000_0002)), `{"base64":"//gAAAAAAAI="}`},
		{behaviour.Bool, behaviour.AppendBool(nil, true), "true"},
		{behaviour.Bool, behaviour.AppendBool(nil, false), "false"},
		{behaviour.Bool, []byte{1}, `{"base64":"AQ=="}`},
		{behaviour.Day, behaviour.AppendDate(nil, 16314), `"2014-09-01"`},
		{behaviour.Day, behaviour.AppendDate(nil, behaviour.MinDate), `"0001-01-01"`},
		{behaviour.Day, behaviour.AppendDate(nil, behaviour.MaxDate+1), `{"base64":"ACzAoQ=="}`},
	} {
		s := hashedSchema()
		slot := 5 + slices.Index(behaviour.Types, c.typ)
		r := behaviour.Record{User: []byte("u"), ID: 1, Values: make([][]byte, 11)}
		r.Values[slot] = c.value
		cells := hashedCells(t, s, r)
		if want := fmt.Sprintf(`{"a_%s":%s}`, c.typ, c.want); len(cells) != 1 || string(cells[0].Value) != want || !json.Valid(cells[0].Value) {
			t.Errorf("%s %x: the cells are %s, want a remark %s", c.typ, c.value, cells, want)
		}
		hashedCompare(t, s, hashedAll, cells, []behaviour.Record{r})
	}
}

// TestRemarksOfMoreFields decodes a remark of a later load with a field that this schema lacks.
// The decoder skips that field.
func TestRemarksOfMoreFields(t *testing.T) {
	now, later := hashedSchema(), hashedSchema()
	later.Kinds[0].Fields = append(later.Kinds[0].Fields, behaviour.Field{Name: "more", Type: behaviour.String})
	r := behaviour.Record{User: []byte("u"), ID: 1, Time: 3, Values: make([][]byte, 12)}
	r.Values[11], r.Values[10] = []byte("text"), behaviour.AppendDate(nil, 1)
	cells := hashedCells(t, later, r)
	r.Values = r.Values[:11]
	hashedCompare(t, now, hashedAll, cells, []behaviour.Record{r})
}

func TestDamagedRemarksAreErrors(t *testing.T) {
	s := hashedSchema()
	row := layout.Hashed{}.AppendRow(nil, s, &behaviour.Record{User: []byte("u42")})
	none := hashedAll
	none.Fields = [][]bool{make([]bool, 11), make([]bool, 3), nil}
	for value, some := range map[string]bool{ // whether the damage is noticed only if the query requests a field of the remark
		``: false, `{`: false, `x`: false, `{"_":1000}`: false, `{"_":-1}`: false, `{"_":"1"}`: false, `{"_":1`: false, `[]`: false,
		`{"a_int64":1.5}`: true, `{"a_int64":9223372036854775808}`: true, `{"a_int64":"1"}`: true, `{"a_bool":1}`: true,
		`{"a_double":"nan"}`: true, `{"a_double":1e999}`: true, `{"a_date":"2014-9-1"}`: true, `{"a_date":16314}`: true,
		`{"a_string":null}`: true, `{"a_string":true}`: true, `{"a_string":{}}`: true, `{"a_string":{"base64":"*"}}`: true, `{"a_string":["a"]}`: true,
		`{"a_string":"a" "b"}`: true, `{"a_string":"\x"}`: true, `{"a_int64":01}`: true,
	} {
		c := &cell.Cell{Row: row, Qualifier: column.Append(nil, "REMARK", 1), Value: []byte(value)}
		if got, err := hashedRead(s, hashedAll, []*cell.Cell{c}); err == nil || !strings.Contains(err.Error(), `_u42_play"`) || !strings.Contains(err.Error(), "remark of play") {
			t.Errorf("%s is read as %v, %v; want an error that names the row and the remark", value, got, err)
		}
		if got, err := hashedRead(s, none, []*cell.Cell{c}); !some && err == nil {
			t.Errorf("%s is read as %v where no field is asked for", value, got)
		}
	}
}

func TestStrangeCellsOfHashedAreErrors(t *testing.T) {
	s := hashedSchema()
	row := layout.Hashed{}.AppendRow(nil, s, &behaviour.Record{User: []byte("u42")})
	for _, c := range []struct {
		qualifier []byte
		millis    int64
		says      string
	}{
		{nil, 0, "is none of play's columns"},
		{[]byte("REMARK,1"), 0, "is none of play's columns"},
		{column.Append(nil, "a_date", 1), 0, "is none of play's columns"},
		{column.Append(nil, "REMARK", -1), 0, "is none of play's columns"},
		{column.Append(nil, "REMARK", 1), math.MaxInt64, "timestamp 9223372036854775807 is not in the years 1 to 9999"},
		{column.Append(nil, "hot0", 1), math.MinInt64, "timestamp -9223372036854775808 is not in the years 1 to 9999"},
	} {
		cells := []*cell.Cell{{Row: row, Qualifier: c.qualifier, Time: c.millis, Value: []byte("{}")}}
		if got, err := hashedRead(s, hashedAll, cells); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), `_u42_play"`) {
			t.Errorf("%q at %d is read as %v, %v; want %s", c.qualifier, c.millis, got, err, c.says)
		}
	}
	s.Zone = "Nowhere/Else"
	cells := []*cell.Cell{{Row: row, Qualifier: column.Append(nil, "REMARK", 1), Value: []byte("{}")}}
	if _, err := hashedRead(s, hashedAll, cells); err == nil || !strings.Contains(err.Error(), "Nowhere/Else") {
		t.Errorf("a zone that is not known gives %v", err)
	}
	if told, ok := (layout.Hashed{}).Teller(s).Tell(cells[0]); ok {
		t.Errorf("a zone that is not known tells %+v", told)
	}
}

// TestHashedSplits compares the split points with the points of HBase's HexStringSplit. A test
// in internal/table/live calls HexStringSplit itself, on a cluster.
func TestHashedSplits(t *testing.T) {
	for regions, want := range map[int]string{
		0:  "",
		1:  "",
		2:  "80000000",
		3:  "55555555 aaaaaaaa",
		7:  "24924924 49249248 6db6db6c 92492490 b6db6db4 db6db6d8",
		16: "10000000 20000000 30000000 40000000 50000000 60000000 70000000 80000000 90000000 a0000000 b0000000 c0000000 d0000000 e0000000 f0000000",
	} {
		if got := string(bytes.Join(layout.Hashed{}.Traits().Splits(regions), []byte(" "))); got != want {
			t.Errorf("%d regions are cut at %s, want %s", regions, got, want)
		}
	}
}

// TestHashedSpreadsUsers over the regions, however alike their IDs are.
func TestHashedSpreadsUsers(t *testing.T) {
	s, points := hashedSchema(), layout.Hashed{}.Traits().Splits(16)
	in := make([]int, 16)
	for i := range 16000 {
		row := layout.Hashed{}.AppendRow(nil, s, &behaviour.Record{User: fmt.Appendf(nil, "%010d", i), Kind: i % 3})
		at, _ := slices.BinarySearchFunc(points, row, bytes.Compare)
		in[at]++
	}
	if slices.Min(in) < 800 || slices.Max(in) > 1200 {
		t.Errorf("of 16000 rows the regions have %d, want about 1000 each", in)
	}
}

// FuzzRemark writes values of any bytes, and reads remarks that nobody wrote.
func FuzzRemark(f *testing.F) {
	f.Add([]byte("text"), []byte("12345678"), []byte{0xff}, []byte("1234"), uint16(999), "{}")
	f.Add([]byte("\xff"), behaviour.AppendDouble(nil, math.Inf(1)), []byte{1}, []byte{}, uint16(0), `{"_":7,"a_date":"2014-09-01","a_string":{"base64":"`+base64.StdEncoding.EncodeToString([]byte("x"))+`"}}`)
	f.Fuzz(func(t *testing.T, text, number, truth, day []byte, micros uint16, foreign string) {
		s := hashedSchema()
		r := behaviour.Record{User: []byte("u"), ID: 1, Time: int64(micros), Values: [][]byte{nil, nil, nil, nil, nil, text, number, number, truth, number, day}}
		cells := hashedCells(t, s, r)
		if !json.Valid(cells[0].Value) {
			t.Fatalf("%s is not JSON", cells[0].Value)
		}
		hashedCompare(t, s, hashedAll, cells, []behaviour.Record{r})
		cells[0].Value = []byte(foreign)
		if got, err := hashedRead(s, hashedAll, cells[:1]); err == nil && len(got) != 1 {
			t.Fatalf("%q is read as %v", foreign, got)
		}
	})
}

// BenchmarkRemark is of a record with six fields in its remark.
func BenchmarkRemark(b *testing.B) {
	s, r := hashedSchema(), rand.New(rand.NewPCG(1, 1))
	recs := make([]behaviour.Record, 1000)
	for i := range recs {
		recs[i] = behaviour.Record{User: []byte("u"), ID: int64(i), Time: int64(i) * 1000, Values: [][]byte{
			[]byte("甄嬛传 第7集"), nil, nil, nil, nil, []byte("a title"), behaviour.AppendInt64(nil, r.Int64N(1e6)), behaviour.AppendDouble(nil, r.Float64()),
			behaviour.AppendBool(nil, true), behaviour.AppendInt64(nil, 1_409_529_600_000_000), behaviour.AppendDate(nil, 16314),
		}}
	}
	cells := hashedCells(b, s, recs...)
	few := hashedAll
	few.Fields = [][]bool{make([]bool, 11), make([]bool, 3), nil}
	few.Fields[0][0] = true
	for name, q := range map[string]layout.Want{"fields=all": hashedAll, "fields=hot": few} {
		b.Run("decode/records=1000/"+name, func(b *testing.B) {
			var batch trail.Batch
			d := layout.Hashed{}.Decoder(s, q)
			b.ReportAllocs()
			for b.Loop() {
				batch.Reset()
				d.Into(&batch, func([]byte) (uint32, bool) { return 0, true })
				for _, c := range cells {
					if err := d.Add(c); err != nil {
						b.Fatal(err)
					}
				}
				if len(batch.Events) != len(recs) {
					b.Fatalf("%d events", len(batch.Events))
				}
			}
		})
	}
	b.Run("encode/records=1000", func(b *testing.B) {
		e := layout.Hashed{}.Encoder(s, "d")
		b.ReportAllocs()
		for b.Loop() {
			for i := range recs {
				e.Add(&recs[i])
			}
			if err := e.Cells(cells[0].Row, func(*cell.Cell) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
}
