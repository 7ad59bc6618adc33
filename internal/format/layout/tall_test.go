package layout_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/trail"
)

// september is the schema of records made by hand.
var september = &behaviour.Schema{Zone: "Asia/Shanghai", Kinds: []behaviour.Kind{
	{ID: 3, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64}, {Name: "end", Type: behaviour.Bool}}},
	{ID: 7, Name: "login"},
}}

// played is at 2014-09-01T00:00:00.000042Z, which is 08:00 in Shanghai.
func played(user string) *behaviour.Record {
	return &behaviour.Record{
		User: []byte(user), Kind: 0, Time: 1_409_529_600_000_042, Date: behaviour.DateOf(2014, 9, 1), ID: 1<<38 + 60,
		Values: [][]byte{[]byte("ab"), behaviour.AppendInt64(nil, 7), nil},
	}
}

func unhex(t *testing.T, s string) string {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// inCells are the cells of the records of one row.
func inCells(t *testing.T, l layout.Layout, s *behaviour.Schema, recs ...*behaviour.Record) []*cell.Cell {
	t.Helper()
	enc := l.Encoder(s, "d")
	var out []*cell.Cell
	for _, r := range recs {
		enc.Add(r)
	}
	err := enc.Cells(l.AppendRow(nil, s, recs[0]), func(c *cell.Cell) error {
		out = append(out, c.Clone())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkCells compares the drawings of cells.
func checkCells(t *testing.T, got []*cell.Cell, want ...cell.Cell) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got the cells %v, want %d", got, len(want))
	}
	for i := range want {
		want[i].Family, want[i].Type = []byte("d"), cell.Put
		if got[i].String() != want[i].String() {
			t.Errorf("cell %d is\n%s, want\n%s", i, got[i], &want[i])
		}
	}
}

func TestTallCellIsAsDrawn(t *testing.T) {
	login := &behaviour.Record{User: []byte(`a_b\`), Kind: 1, Time: -1, ID: 42}
	checkCells(t, inCells(t, layout.Tall{}, september, played("u1")), cell.Cell{
		Row:  []byte("u1_" + unhex(t, "7ffafe0a50e43fd5 fffc ffffffbfffffffc3")),
		Time: 1_409_529_600_000, Value: []byte("\x03ab\x09" + unhex(t, "0000000000000007")),
	})
	checkCells(t, inCells(t, layout.Tall{}, september, login), cell.Cell{
		Row: []byte(`a\ub\\_` + unhex(t, "8000000000000000 fff8 ffffffffffffffd5")), Time: -1,
	})
}

func TestTallRangeEndsWithTheUser(t *testing.T) {
	want := layout.Want{Kinds: []int{0}, Span: behaviour.Span{From: 0, To: 0}}
	reads, err := layout.Tall{}.Reads(&behaviour.Schema{Zone: "UTC", Kinds: september.Kinds}, want)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	reads.Ranges([]byte("u1_"), func(start, stop []byte) bool {
		got = append(got, string(start), string(stop))
		return true
	})
	first := "u1_" + unhex(t, "7fffffebe228a000 0000 0000000000000000")
	last := "u1_" + unhex(t, "7fffffffffffffff ffff ffffffffffffffff 00")
	if len(got) != 2 || got[0] != first || got[1] != last {
		t.Errorf("got the ranges %q, want one from %q to %q", got, first, last)
	}
	if reads.Rows != nil {
		t.Error("rows are named, but a row holds a column ID")
	}
}

// layoutsOfWholeRecords are the layouts with one cell for each record.
var layoutsOfWholeRecords = []layout.Layout{layout.Tall{}, layout.Wide{}}

func TestUnreadableRecordIsAnErrorThatNamesIt(t *testing.T) {
	for _, l := range layoutsOfWholeRecords {
		for what, c := range map[string]struct {
			spoil func(c *cell.Cell)
			want  string
		}{
			"value":     {func(c *cell.Cell) { c.Value = c.Value[:5] }, "not a packed record of behaviour 3 with its 3 fields"},
			"row":       {func(c *cell.Cell) { c.Row = c.Row[:2] }, "not a record as the layout " + l.Name()},
			"longer":    {func(c *cell.Cell) { c.Row = append(c.Row, 0) }, "not a record as the layout " + l.Name()},
			"qualifier": {func(c *cell.Cell) { c.Qualifier = append(c.Qualifier, 0) }, "not a record as the layout " + l.Name()},
			"behaviour": {func(c *cell.Cell) {
				c.Row = bytes.Replace(c.Row, []byte{0xff, 0xfc}, []byte{0xff, 0xf0}, 1)
				c.Qualifier = bytes.Replace(c.Qualifier, []byte{0xff, 0xfc}, []byte{0xff, 0xf0}, 1)
			}, "no behaviour has the ID 15"},
		} {
			bad := inCells(t, l, september, played("u1"))[0]
			c.spoil(bad)
			err := decode(l, september, bad)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `row "u1`) {
				t.Errorf("%s, a bad %s: %v; want an error that names the row and says %q", l.Name(), what, err, c.want)
			}
			if told, ok := l.Teller(september).Tell(bad); ok && what != "value" {
				t.Errorf("%s, a bad %s: is told to be %+v", l.Name(), what, told)
			}
		}
	}
}

func TestUnknownZoneIsAnError(t *testing.T) {
	nowhere := &behaviour.Schema{Zone: "Middle/Earth", Kinds: september.Kinds}
	for _, l := range layoutsOfWholeRecords {
		c := inCells(t, l, nowhere, played("u1"))[0]
		if err := decode(l, nowhere, c); err == nil || !strings.Contains(err.Error(), nowhere.Zone) {
			t.Errorf("%s: decoded with %v, want an error that names the zone", l.Name(), err)
		}
		if told, ok := l.Teller(nowhere).Tell(c); ok {
			t.Errorf("%s: is told to be %+v", l.Name(), told)
		}
		if _, err := l.Reads(nowhere, layout.Want{Kinds: []int{0}}); err == nil || !strings.Contains(err.Error(), nowhere.Zone) {
			t.Errorf("%s: reads with %v, want an error that names the zone", l.Name(), err)
		}
	}
}

// decode decodes cells for a query of everything.
func decode(l layout.Layout, s *behaviour.Schema, cells ...*cell.Cell) error {
	var b trail.Batch
	d := l.Decoder(s, layout.Want{Kinds: []int{0, 1}, Span: behaviour.AllDays})
	d.Into(&b, func([]byte) (uint32, bool) { return 0, true })
	for _, c := range cells {
		if err := d.Add(c); err != nil {
			return err
		}
	}
	return d.Flush()
}

func TestTimesOutOfTheSpanReadNothing(t *testing.T) {
	q := layout.Want{Kinds: []int{0}, Span: behaviour.Span{From: 1, To: 2}, Times: &layout.Times{First: 5, Last: 6}}
	for _, l := range layoutsOfWholeRecords {
		reads, err := l.Reads(september, q)
		if err != nil {
			t.Fatal(err)
		}
		if !reads.Ranges([]byte("u1_"), func(start, stop []byte) bool {
			t.Errorf("%s: reads from %q to %q", l.Name(), start, stop)
			return true
		}) {
			t.Errorf("%s: was stopped", l.Name())
		}
		if reads.Rows != nil && !reads.Rows([]byte("u1_"), func(row []byte) bool {
			t.Errorf("%s: reads %q", l.Name(), row)
			return true
		}) {
			t.Errorf("%s: was stopped", l.Name())
		}
	}
}

func TestWholeRecordsCostNoMemoryOfTheirOwn(t *testing.T) {
	for _, l := range layoutsOfWholeRecords {
		var rows [][]*behaviour.Record
		for i := range 100 {
			r := played("u1")
			r.ID += int64(i)
			if l.Name() == "wide" && i > 0 {
				rows[0] = append(rows[0], r)
				continue
			}
			rows = append(rows, []*behaviour.Record{r})
		}
		var cells []*cell.Cell
		for _, recs := range rows {
			cells = append(cells, inCells(t, l, september, recs...)...)
		}
		enc := l.Encoder(september, "d")
		var row []byte
		n := 0
		count := func(*cell.Cell) error { n++; return nil }
		allocs := testing.AllocsPerRun(10, func() {
			for _, recs := range rows {
				for _, r := range recs {
					enc.Add(r)
				}
				row = l.AppendRow(row[:0], september, recs[0])
				if err := enc.Cells(row, count); err != nil {
					t.Fatal(err)
				}
			}
		})
		if allocs > 0 || n != 11*100 {
			t.Errorf("%s: encoding 100 records 11 times gives %d cells and takes %v new pieces of memory each time, want 1100 and none", l.Name(), n, allocs)
		}
		var b trail.Batch
		d := l.Decoder(september, layout.Want{Kinds: []int{0}, Span: behaviour.AllDays})
		user := func([]byte) (uint32, bool) { return 0, true }
		allocs = testing.AllocsPerRun(10, func() {
			b.Reset()
			d.Into(&b, user)
			for _, c := range cells {
				if err := d.Add(c); err != nil {
					t.Fatal(err)
				}
			}
		})
		if allocs > 0 || len(b.Events) != 100 {
			t.Errorf("%s: decoding %d records takes %v new pieces of memory, want none", l.Name(), len(b.Events), allocs)
		}
	}
}
