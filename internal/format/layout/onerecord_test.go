package layout_test

import (
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/trail"
)

// layoutsOfText are those whose rows are text.
func layoutsOfText(t *testing.T) []layout.Layout {
	return []layout.Layout{layout.Game{}, layout.GameTime{}, named(t, "fixed")}
}

// TestPlainColumnsAsked checks the requested columns: they have the first field and the marker
// of each kind, and no name that begins with another requested name.
func TestPlainColumnsAsked(t *testing.T) {
	s := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{
		{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.String}, {Name: "play", Type: behaviour.String}, {Name: "playlist", Type: behaviour.String}}},
		{ID: 2, Name: "visit", Fields: []behaviour.Field{{Name: "titles", Type: behaviour.String}, {Name: "Page", Type: behaviour.String}}},
	}}
	for _, l := range []layout.Layout{layout.Game{}, named(t, "fixed")} {
		for _, c := range []struct {
			kinds  []int
			fields [][]bool
			want   []string
		}{
			{[]int{0, 1}, nil, []string{"Page", "_", "play", "title"}},
			{[]int{1}, nil, []string{"Page", "_", "titles"}},
			{[]int{0}, [][]bool{{false, false, true}, {true, true}}, []string{"_", "playlist", "title"}},
			{[]int{1}, [][]bool{{true, true, true}, {false, false}}, []string{"_", "titles"}},
		} {
			q := layout.Want{Kinds: c.kinds, Span: behaviour.Span{From: 0, To: 1}, Fields: c.fields}
			checkTexts(t, l.Name()+": columns", prefixesAsked(t, l, s, q), c.want...)
		}
	}
}

// TestSpoiledTextIsAnErrorThatNamesIt decodes damaged cells. The error names the row and the
// text. Tell returns false, unless only the value of the cell is damaged.
func TestSpoiledTextIsAnErrorThatNamesIt(t *testing.T) {
	change := func(old, text string) func(*cell.Cell) {
		return func(c *cell.Cell) { c.Row = []byte(strings.Replace(string(c.Row), old, text, 1)) }
	}
	value := func(v string) func(*cell.Cell) { return func(c *cell.Cell) { c.Value = []byte(v) } }
	for _, l := range layoutsOfText(t) {
		for _, c := range []struct {
			layouts string
			spoil   func(c *cell.Cell)
			want    string
			told    bool
		}{
			{"game game-time fixed", func(c *cell.Cell) { c.Row = c.Row[:8] }, "not a row of the layout", false},
			{"game game-time fixed", func(c *cell.Cell) { c.Row = append(c.Row, '0') }, "not a row of the layout", false},
			{"game game-time", change("09-01", "09-31"), "not a row of the layout", false},
			{"fixed", change("0901", "0931"), "not a row of the layout", false},
			{"fixed", change("0901", "0900"), "not a row of the layout", false},
			{"game fixed", change("_0000000274877907004", "_9999999999999999999"), "not a row of the layout", false},
			{"game", change("play", "plai"), `no behaviour is called "plai"`, false},
			{"game-time", func(c *cell.Cell) { c.Qualifier[0] = 'P' }, `no behaviour is called "Play"`, false},
			{"game-time", func(c *cell.Cell) { c.Qualifier = c.Qualifier[:7] }, "not a field and a column ID", false},
			{"fixed", change("00003", "00004"), "no behaviour has the ID 4", false},
			{"fixed", change("00003", "99999"), "not a row of the layout", false},
			{"game fixed", func(c *cell.Cell) { c.Qualifier = []byte("Titles") }, `qualifier "Titles" is none of play's columns`, false},
			{"game game-time", func(c *cell.Cell) { c.Time += 1000 }, "has the timestamp 1409529601000", false},
			{"game game-time", func(c *cell.Cell) { c.Time-- }, "has the timestamp 1409529599999", false},
			{"game fixed", value("1000"), `"1000" are not the microseconds`, true},
			{"game fixed", value("-1"), `"-1" are not the microseconds`, true},
			{"game-time", value(""), "does not begin with the microseconds", true},
			{"game-time", value("\xe8\x07"), "does not begin with the microseconds", true},
			{"game-time", value("\x80\x00"), "does not begin with the microseconds", true},
			{"game-time", value("\x01\x05a"), "not a packed record with the 3 fields of play", true},
		} {
			if !slices.Contains(strings.Fields(c.layouts), l.Name()) {
				continue
			}
			bad := inCells(t, l, september, played("42"))[0]
			c.spoil(bad)
			err := decode(l, september, bad)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `row "`) {
				t.Errorf("%s, %s: %v; want an error that names the row and says %q", l.Name(), bad, err, c.want)
			}
			if told, ok := l.Teller(september).Tell(bad); ok != c.told {
				t.Errorf("%s, %s: is told to be %+v, %v", l.Name(), bad, told, ok)
			}
		}
	}
}

// TestCellsOfTwoRecordsInOneRow cannot be where a row names its record.
func TestCellsOfTwoRecordsInOneRow(t *testing.T) {
	for _, l := range []layout.Layout{layout.Game{}, named(t, "fixed")} {
		cells := inCells(t, l, september, played("42"))
		if err := decode(l, september, cells[0], cells[1], cells[0]); err == nil || !strings.Contains(err.Error(), `qualifier "_" comes twice`) {
			t.Errorf("%s: a column that comes twice: %v", l.Name(), err)
		}
		cells[1].Time++
		if err := decode(l, september, cells...); err == nil || !strings.Contains(err.Error(), `qualifier "seconds" has the timestamp 1409529600001`) {
			t.Errorf("%s: a column of another time: %v", l.Name(), err)
		}
		enc := l.Encoder(september, "d")
		enc.Add(played("42"))
		enc.Add(played("42"))
		err := enc.Cells([]byte("row"), func(c *cell.Cell) error { t.Errorf("%s: emits %s", l.Name(), c); return nil })
		if err == nil || !strings.Contains(err.Error(), "2 records have the column ID 274877907004") {
			t.Errorf("%s: two records of one ID: %v", l.Name(), err)
		}
	}
}

func TestUnknownZoneOfTextIsAnError(t *testing.T) {
	nowhere := &behaviour.Schema{Zone: "Middle/Earth", Kinds: september.Kinds}
	for _, l := range layoutsOfText(t) {
		if _, err := l.Reads(nowhere, layout.Want{Kinds: []int{0}}); err == nil || !strings.Contains(err.Error(), nowhere.Zone) {
			t.Errorf("%s: reads with %v, want an error that names the zone", l.Name(), err)
		}
		if l.Name() == "fixed" {
			continue // its rows hold the date
		}
		c := inCells(t, l, nowhere, played("42"))[0]
		if err := decode(l, nowhere, c); err == nil || !strings.Contains(err.Error(), nowhere.Zone) {
			t.Errorf("%s: decoded with %v, want an error that names the zone", l.Name(), err)
		}
		if told, ok := l.Teller(nowhere).Tell(c); ok {
			t.Errorf("%s: is told to be %+v", l.Name(), told)
		}
	}
}

func TestTextCostsNoMemoryOfItsOwn(t *testing.T) {
	for _, l := range layoutsOfText(t) {
		var recs []*behaviour.Record
		var cells []*cell.Cell
		for i := range 100 {
			r := played("42")
			r.ID += int64(i)
			r.Time += int64(i) * 1_000_000
			recs = append(recs, r)
			cells = append(cells, inCells(t, l, september, r)...)
		}
		enc := l.Encoder(september, "d")
		var row []byte
		n := 0
		count := func(*cell.Cell) error { n++; return nil }
		allocs := testing.AllocsPerRun(10, func() {
			for _, r := range recs {
				if err := l.Fits(september, r); err != nil {
					t.Fatal(err)
				}
				enc.Add(r)
				row = l.AppendRow(row[:0], september, r)
				if err := enc.Cells(row, count); err != nil {
					t.Fatal(err)
				}
			}
		})
		if allocs > 0 || n != 11*len(cells) {
			t.Errorf("%s: encoding 100 records 11 times gives %d cells and takes %v new pieces of memory each time, want %d and none", l.Name(), n, allocs, 11*len(cells))
		}
		var b trail.Batch
		d := l.Decoder(september, layout.Want{Kinds: []int{0}, Span: behaviour.AllDays})
		teller := l.Teller(september)
		user := func([]byte) (uint32, bool) { return 0, true }
		allocs = testing.AllocsPerRun(10, func() {
			b.Reset()
			d.Into(&b, user)
			for _, c := range cells {
				if _, ok := teller.Tell(c); !ok {
					t.Fatalf("%s: %s is of no record", l.Name(), c)
				}
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
