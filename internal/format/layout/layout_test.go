package layout_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/trail"
)

func TestTheDefaultLayoutIsKnown(t *testing.T) {
	if l := named(t, layout.Default); l.Name() != layout.Default {
		t.Errorf("the default layout is %s", l.Name())
	}
}

// TestNamesThatAreNoLayout are refused with what to write instead.
func TestNamesThatAreNoLayout(t *testing.T) {
	for name, says := range map[string]string{
		"":           layout.Default,
		"narrow":     layout.Default,
		"Reversed":   layout.Default,
		"reversed/8": "reversed has no sizes",
		"reversed/":  "",
		"tall/1":     "tall has no sizes",
		"fixed/0":    "fixed",
		"fixed/19":   "fixed",
		"fixed/06":   "fixed",
		"fixed/+6":   "fixed",
		"fixed/six":  "fixed",
		"fixed/6/8":  "fixed",
		"fixed/ 6":   "fixed",
	} {
		l, err := layout.ByName(name)
		switch {
		case says == "" && err == nil:
			if l.Name() != layout.Default {
				t.Errorf("%q is taken for %s", name, l.Name())
			}
		case err == nil:
			t.Errorf("%q is taken for %s", name, l.Name())
		case !strings.Contains(err.Error(), says):
			t.Errorf("%q: %v; want an error that says %s", name, err, says)
		}
	}
}

func TestANameIsRegisteredOnce(t *testing.T) {
	defer func() {
		if said, ok := recover().(string); !ok || !strings.Contains(said, layout.Default) {
			t.Errorf("a second layout of a name: %v", said)
		}
	}()
	layout.Register(layout.Reversed{})
}

// fuzzSchema has a kind without fields, and one with more than the hot five.
func fuzzSchema() *behaviour.Schema {
	return &behaviour.Schema{Zone: "Europe/Berlin", Kinds: []behaviour.Kind{
		{ID: 1, Name: "play", Fields: []behaviour.Field{
			{Name: "title", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64}, {Name: "a", Type: behaviour.Bool}, {Name: "t", Type: behaviour.Timestamp},
			{Name: "d", Type: behaviour.Day}, {Name: "f", Type: behaviour.Double}, {Name: "s", Type: behaviour.String},
		}},
		{ID: 7, Name: "play_list", Fields: []behaviour.Field{{Name: "titles", Type: behaviour.String}, {Name: "title", Type: behaviour.String}}},
		{ID: 65535, Name: "login"},
	}}
}

// FuzzCells decodes two arbitrary cells with a layout. The layout may accept or refuse them, and
// does not panic. Its teller and its decoder agree about every cell.
func FuzzCells(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 8))
	for i, name := range names() {
		l := named(f, name)
		w := &world{schema: fuzzSchema(), zone: zoneOf(f, fuzzSchema())}
		w.draw(f, r, l, 20, usersOf(l)[:3], []behaviour.Date{0, 16314})
		cells := encoded(f, l, w.schema, w.recs)
		for j := 1; j < len(cells); j++ {
			a, b := cells[j-1], cells[j]
			f.Add(uint8(i), a.Row, a.Qualifier, a.Value, a.Time, b.Row, b.Qualifier, b.Value)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, row, qualifier, value []byte, millis int64, row2, qualifier2, value2 []byte) {
		all := names()
		l, s := named(t, all[int(which)%len(all)]), fuzzSchema()
		teller, d := l.Teller(s), l.Decoder(s, layout.Want{Kinds: []int{0, 1, 2}, Span: always})
		var b trail.Batch
		b.Reset()
		d.Into(&b, func(key []byte) (uint32, bool) { return 0, true })
		for _, c := range []*cell.Cell{
			{Row: row, Qualifier: qualifier, Value: value, Time: millis, Type: cell.Put},
			{Row: row2, Qualifier: qualifier2, Value: value2, Time: millis, Type: cell.Put},
		} {
			checkKey(t, l, l.UserKey(c.Row))
			told, ok := teller.Tell(c)
			before := len(b.Events)
			if err := d.Add(c); err != nil {
				break
			}
			if err := d.Flush(); err != nil {
				break
			}
			if len(b.Events) == before || !ok {
				continue
			}
			if e := b.Events[len(b.Events)-1]; (layout.RecordID{Date: behaviour.Date(e.Date), Kind: int(e.Kind), ID: e.ID}) != told {
				t.Fatalf("%s: cell %s is told to be of %+v, and decoded as %+v", l.Name(), c, told, e)
			}
		}
		if _, err := recordsOf(&b, s, []string{"u"}); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzRecords makes records out of bytes. Six bytes choose kind, time, ID and values of a record.
// Decoding returns what was encoded.
func FuzzRecords(f *testing.F) {
	for i := range names() {
		f.Add(uint8(i), "42", []byte{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 255, 255, 255, 255, 2}, int64(0))
		f.Add(uint8(i), "u_\\", []byte{0, 1, 255, 0, 0, 0, 0, 0, 1, 0, 255, 1, 0, 0, 1, 0, 0, 255}, int64(-1))
	}
	f.Fuzz(func(t *testing.T, which uint8, user string, in []byte, base int64) {
		all := names()
		l := named(t, all[int(which)%len(all)])
		w := &world{schema: fuzzSchema(), zone: zoneOf(t, fuzzSchema())}
		user = strings.ToValidUTF8(user, "")
		if user == "" || len(user) > behaviour.MaxUserLen {
			user = "42"
		}
		seen := map[behaviour.Date][]int64{}
		for i := 0; i+6 <= len(in) && len(w.recs) < 100; i += 6 {
			r := behaviour.Record{User: []byte(user), Kind: int(in[i]) % len(w.schema.Kinds), ID: int64(in[i+5]), Time: base%(1<<52) + int64(in[i+1])*1_000_003}
			r.Date = behaviour.DateAt(r.Time, w.zone)
			for f, field := range w.schema.Kinds[r.Kind].Fields {
				r.Values = append(r.Values, fuzzValue(field.Type, in[i+2+f%3]))
			}
			if slices.Contains(seen[r.Date], r.ID) || l.Fits(w.schema, &r) != nil {
				continue
			}
			seen[r.Date] = append(seen[r.Date], r.ID)
			w.recs = append(w.recs, r)
		}
		recs, err := found(l, w.schema, l.Decoder(w.schema, layout.Want{Kinds: []int{0, 1, 2}, Span: always}), encoded(t, l, w.schema, w.recs), func(string) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		if !complete(recs, w.recs, nil) {
			t.Fatalf("%s: came back as\n%s\nwant\n%s", l.Name(), w.described(recs), w.described(w.recs))
		}
	})
}

func fuzzValue(typ behaviour.Type, b byte) []byte {
	if b == 0 {
		return nil
	}
	n := typ.Size()
	if n == 0 {
		n = int(b) % 9
	}
	v := make([]byte, n)
	for i := range v {
		v[i] = b
	}
	switch typ {
	case behaviour.Bool:
		return behaviour.AppendBool(nil, b%2 == 0)
	case behaviour.Day:
		return behaviour.AppendDate(nil, behaviour.Date(b))
	}
	return v
}

// TestANegativeColumnIDIsOfNoRecord checks that the teller and the decoder agree about a column
// with a negative ID.
func TestANegativeColumnIDIsOfNoRecord(t *testing.T) {
	s := fuzzSchema()
	row := []byte("1,20140901,00001")
	c := &cell.Cell{Row: row, Qualifier: []byte("a,\xf7\xff\xff\x06\xda;7\xf4"), Value: []byte{1}, Type: cell.Put}
	l := layout.Reversed{}
	if told, ok := l.Teller(s).Tell(c); !ok || told.ID != layout.NoID {
		t.Errorf("it is told to be of %+v, %t; want no ID", told, ok)
	}
	var b trail.Batch
	b.Reset()
	d := l.Decoder(s, layout.Want{Kinds: []int{0, 1, 2}, Span: always})
	d.Into(&b, func([]byte) (uint32, bool) { return 0, true })
	if err := d.Add(c); err == nil || len(b.Events) > 0 {
		t.Errorf("it is decoded to %+v, %v; want an error", b.Events, err)
	}
}
