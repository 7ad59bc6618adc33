package layout_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
)

// always is the span of all dates.
var always = behaviour.AllDays

// A world is a schema and records of it, made up. Their bytes are their own.
type world struct {
	schema *behaviour.Schema
	zone   *time.Location
	recs   []behaviour.Record
}

// users are IDs that a key may mix up, cut short or split in the wrong place.
var users = []string{
	"u1", "u10", "u", "1u", "a_b", "a_", "a", "_", "__", `a\`, `a\u`, `a\ub`, `\`, `\\`, "a,b", ",", ",,", "-", ".", "0", "42", "042",
	"20140901", "张三", "三", "é", "\U0010ffff", "\x00", "u1\x00", "u1 ", strings.Repeat("x", 255), strings.Repeat("_", 255),
	strings.Repeat(`\`, 255), strings.Repeat("三", 85),
}

// numbers are the users of a layout that has room for a few digits.
var numbers = []string{"0", "1", "9", "10", "42", "100", "420", "1000", "123456", "99999", "999999"}

// usersOf are users that fit a layout.
func usersOf(l layout.Layout) []string {
	if strings.HasPrefix(l.Name(), "fixed") {
		return numbers
	}
	return users
}

// zones have half hours, clocks put back and forward, at midnight and over it, a day left
// out, and in the early years offsets of odd seconds.
var zones = []string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Shanghai", "Asia/Kathmandu", "Pacific/Apia", "America/St_Johns", "Asia/Amman"}

// days are those around which behaviours are: the first of all, changes of clocks,
// ordinary ones, and some before 1970.
var days = []string{
	"1970-01-01", "2014-09-01", "2014-09-02", "2013-10-27", "2013-03-31", "2012-10-21", "2013-02-16", "1986-05-04", "2011-12-29", "2011-12-31", "2000-10-29", "2000-09-29",
	"1969-12-31", "1901-01-01", "0002-01-01", "9998-12-31",
}

var kindNames = []string{"play", "playlist", "play_list", "play_", "p", "visit", "节目", "order_2014", "x_y_z", "REMARK",
	"Course viewed", "0", "a,b", `a\cb`, `a\`, "..", "/", "!", "%", "k=v", `"`, strings.Repeat("_", 255), strings.Repeat(",", 255)}

// fieldTypes are the types of fields by name. Some names are prefixes of others, and one is the
// name of a column that a layout makes.
var fieldTypes = map[string]behaviour.Type{
	"a": behaviour.Bool, "ab": behaviour.String, "a_": behaviour.Int64, "a_b": behaviour.Double, "title": behaviour.String, "titles": behaviour.Timestamp,
	"seconds": behaviour.Int64, "REMARK": behaviour.String, "REMARKS": behaviour.Day, "节目": behaviour.String, "t_1": behaviour.Day, "z": behaviour.Double,
	"play": behaviour.String, "q9": behaviour.Bool,
}

func drawSchema(r *rand.Rand) *behaviour.Schema {
	s := &behaviour.Schema{Zone: zones[r.IntN(len(zones))]}
	names := slices.Clone(kindNames)
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i, name := range names[:[]int{1, 1, 2, 3, 5}[r.IntN(5)]] {
		id := []int{1, 7, 300, 9999, 65535}[i]
		s.Kinds = append(s.Kinds, behaviour.Kind{ID: uint16(id), Name: name, Fields: drawFields(r)})
	}
	return s
}

func drawFields(r *rand.Rand) []behaviour.Field {
	var fields []behaviour.Field
	for name, typ := range fieldTypes {
		fields = append(fields, behaviour.Field{Name: name, Type: typ})
	}
	slices.SortFunc(fields, func(a, b behaviour.Field) int { return strings.Compare(a.Name, b.Name) })
	r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return fields[:[]int{0, 1, 3, 5, 6, 12}[r.IntN(6)]]
}

// drawWorld makes n records up, of a few users that fit l.
func drawWorld(t testing.TB, r *rand.Rand, l layout.Layout, n int) *world {
	t.Helper()
	w := &world{schema: drawSchema(r)}
	if err := w.schema.Validate(); err != nil {
		t.Fatal(err)
	}
	w.zone = zoneOf(t, w.schema)
	people := slices.Clone(usersOf(l))
	r.Shuffle(len(people), func(i, j int) { people[i], people[j] = people[j], people[i] })
	people = people[:[]int{1, 2, 4, 8}[r.IntN(4)]]
	around := make([]behaviour.Date, 1+r.IntN(3))
	for i := range around {
		var err error
		if around[i], err = behaviour.ParseDate(days[r.IntN(len(days))]); err != nil {
			t.Fatal(err)
		}
	}
	w.draw(t, r, l, n, people, around)
	return w
}

func zoneOf(t testing.TB, s *behaviour.Schema) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// draw adds records. Their column IDs are unique in a date and kind, and there alone.
func (w *world) draw(t testing.TB, r *rand.Rand, l layout.Layout, n int, people []string, around []behaviour.Date) {
	t.Helper()
	type name struct {
		date behaviour.Date
		kind int
		id   int64
	}
	given := map[name]bool{}
	for len(w.recs) < n {
		rec := behaviour.Record{User: []byte(people[r.IntN(len(people))]), Kind: r.IntN(len(w.schema.Kinds)), ID: drawID(r)}
		rec.Time = w.drawTime(r, around[r.IntN(len(around))])
		rec.Date = behaviour.DateAt(rec.Time, w.zone)
		if given[name{rec.Date, rec.Kind, rec.ID}] {
			continue
		}
		given[name{rec.Date, rec.Kind, rec.ID}] = true
		for _, f := range w.schema.Kinds[rec.Kind].Fields {
			rec.Values = append(rec.Values, drawValue(r, f.Type))
		}
		if err := l.Fits(w.schema, &rec); err != nil {
			t.Fatalf("%s does not fit: %v", w.describe(&rec), err)
		}
		w.recs = append(w.recs, rec)
	}
}

func drawID(r *rand.Rand) int64 {
	return []int64{0, 1, 255, 256, r.Int64N(4), r.Int64N(1 << 38), r.Int64(), math.MaxInt64 - r.Int64N(3)}[r.IntN(8)]
}

// drawTime often returns the time of another record, a time next to it, or the beginning or end
// of a day.
func (w *world) drawTime(r *rand.Rand, day behaviour.Date) int64 {
	if len(w.recs) > 0 && r.IntN(3) == 0 {
		return w.recs[r.IntN(len(w.recs))].Time + []int64{0, 0, 0, 1, -1, 1000, 100_000, 1_000_000, 3_600_000_000}[r.IntN(9)]
	}
	start := day.Start(w.zone).UnixMicro()
	const hour = 3_600_000_000
	switch r.IntN(4) {
	case 0:
		return start + []int64{0, -1, 1, 999, 1000, -1000, 99_999, 100_000, hour, 24*hour - 1}[r.IntN(10)]
	case 1:
		return start + r.Int64N(50*3600)*1_000_000 - 25*hour
	case 2:
		return start + r.Int64N(50*3600*1000)*1000 - 25*hour
	}
	return start + r.Int64N(50*hour) - 25*hour
}

func drawValue(r *rand.Rand, typ behaviour.Type) []byte {
	if r.IntN(4) == 0 {
		return nil
	}
	switch typ {
	case behaviour.String:
		texts := []string{"", "", "v", "a longer value", "\x00\xff", "张三", `"quoted\`, "null", "_", "\u2028<&>", "a,b\n", strings.Repeat("long ", 60)}
		return []byte(texts[r.IntN(len(texts))])
	case behaviour.Int64, behaviour.Timestamp:
		return behaviour.AppendInt64(nil, []int64{0, -1, 1, math.MaxInt64, math.MinInt64, 1<<53 + 1, r.Int64()}[r.IntN(7)])
	case behaviour.Double:
		return behaviour.AppendDouble(nil, []float64{
			0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 0.1, 1e21, math.MaxFloat64, math.SmallestNonzeroFloat64, r.NormFloat64(),
		}[r.IntN(10)])
	case behaviour.Bool:
		return behaviour.AppendBool(nil, r.IntN(2) == 0)
	}
	return behaviour.AppendDate(nil, []behaviour.Date{behaviour.MinDate, -1, 0, 16314, behaviour.MaxDate}[r.IntN(5)])
}

// A mark identifies a record.
type mark struct {
	user     string
	time, id int64
	kind     int
}

func markOf(r *behaviour.Record) mark { return mark{string(r.User), r.Time, r.ID, r.Kind} }

// complete reports whether recs holds each record of must once, and otherwise only records of may.
func complete(recs, must, may []behaviour.Record) bool {
	open := map[mark]*behaviour.Record{}
	for i := range must {
		open[markOf(&must[i])] = &must[i]
	}
	for i := range may {
		open[markOf(&may[i])] = &may[i]
	}
	for i := range recs {
		want := open[markOf(&recs[i])]
		if want == nil || want.Date != recs[i].Date || !slices.EqualFunc(want.Values, recs[i].Values, sameValue) {
			return false
		}
		delete(open, markOf(&recs[i]))
	}
	return !slices.ContainsFunc(must, func(r behaviour.Record) bool { return open[markOf(&r)] != nil })
}

// sameValue reports whether two values are equal. Null and empty differ.
func sameValue(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// describe returns all of a record as text.
func (w *world) describe(r *behaviour.Record) string {
	var b strings.Builder
	kind := w.schema.Kinds[r.Kind]
	fmt.Fprintf(&b, "%.40q %s %s %d of %s", r.User, kind.Name, time.UnixMicro(r.Time).UTC().Format("2006-01-02T15:04:05.000000Z"), r.ID, r.Date)
	for i, v := range r.Values {
		if v == nil {
			fmt.Fprintf(&b, " %s=null", kind.Fields[i].Name)
		} else {
			fmt.Fprintf(&b, " %s=%q", kind.Fields[i].Name, v)
		}
	}
	return b.String()
}

func (w *world) described(recs []behaviour.Record) string {
	out := make([]string, len(recs))
	for i := range recs {
		out[i] = w.describe(&recs[i])
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// drawWant makes a query up.
func (w *world) drawWant(r *rand.Rand) layout.Want {
	var q layout.Want
	for len(q.Kinds) == 0 {
		for k := range w.schema.Kinds {
			if r.IntN(3) > 0 {
				q.Kinds = append(q.Kinds, k)
			}
		}
	}
	q.Span = always
	if r.IntN(4) > 0 {
		from := behaviour.Date(r.IntN(3) - 1)
		if len(w.recs) > 0 {
			from += w.recs[r.IntN(len(w.recs))].Date
		}
		q.Span = behaviour.Span{From: from, To: from + behaviour.Date([]int{0, 0, 1, 2, 40}[r.IntN(5)])}
	}
	if len(w.recs) > 0 && r.IntN(3) == 0 {
		a, b := w.recs[r.IntN(len(w.recs))].Time+r.Int64N(3)-1, w.recs[r.IntN(len(w.recs))].Time+r.Int64N(3)-1
		q.Times = &layout.Times{First: min(a, b), Last: max(a, b)}
	}
	if r.IntN(2) == 0 {
		for _, k := range w.schema.Kinds {
			asked := make([]bool, len(k.Fields))
			for i := range asked {
				asked[i] = r.IntN(2) == 0
			}
			q.Fields = append(q.Fields, asked)
		}
	}
	return q
}

// result returns the records of the users that q requests: the records that must come, and
// those that may, which are out of its Times.
func (w *world) result(q layout.Want, asked func(user string) bool) (must, may []behaviour.Record) {
	for _, r := range w.recs {
		if !slices.Contains(q.Kinds, r.Kind) || !q.Span.Has(r.Date) || !asked(string(r.User)) {
			continue
		}
		r.Values = slices.Clone(r.Values)
		for i := range r.Values {
			if q.Fields != nil && !q.Fields[r.Kind][i] {
				r.Values[i] = nil
			}
		}
		if q.Times == nil || q.Times.First <= r.Time && r.Time <= q.Times.Last {
			must = append(must, r)
		} else {
			may = append(may, r)
		}
	}
	return must, may
}
