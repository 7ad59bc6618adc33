package layout_test

import (
	"errors"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/rowkey"
	"usertrail/internal/trail"
)

func reversedSchema() *behaviour.Schema {
	return &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{
		{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64}, {Name: "a", Type: behaviour.Bool}}},
		{ID: 65535, Name: "login"},
	}}
}

// TestReversedRowsTellTheirDayAndKind or are refused: these cannot have been made.
func TestReversedRowsTellTheirDayAndKind(t *testing.T) {
	teller := layout.Reversed{}.Teller(reversedSchema())
	title := []byte("title,12345678")
	if told, ok := teller.Tell(&cell.Cell{Row: []byte("u,20140901,00001"), Qualifier: title}); !ok || told.Date != 16314 || told.Kind != 0 {
		t.Errorf("told %+v, %t", told, ok)
	}
	for _, row := range []string{
		"", "x", ",20140901,00001", "u,20141301,00001", "u,20140901,00002", "u,20140901,1", "u,2014-09-01,00001",
		"u,20140901,00001 ", "u,v,20140901,00001", `u\x,20140901,00001`, `\,20140901,00001`, "\xff,20140901,00001",
		strings.Repeat("x", 256) + ",20140901,00001",
	} {
		if told, ok := teller.Tell(&cell.Cell{Row: []byte(row), Qualifier: title}); ok {
			t.Errorf("row %q is taken for one of %+v", row, told)
		}
	}
}

func TestReversedDecoderRefusesWhatItCannotKnow(t *testing.T) {
	s := reversedSchema()
	good := encoded(t, layout.Reversed{}, s, []behaviour.Record{{User: []byte("u"), Time: 1, ID: 5, Values: make([][]byte, 3)}})[0]
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
		d := layout.Reversed{}.Decoder(s, layout.Want{Kinds: []int{0, 1}, Span: always})
		d.Into(new(trail.Batch), func([]byte) (uint32, bool) { return 0, true })
		if err := d.Add(c); err == nil {
			t.Errorf("%s: %s was taken", name, c)
		} else if name == "no row" && !errors.Is(err, rowkey.ErrNotRow) {
			t.Errorf("%s: %v, want ErrNotRow", name, err)
		}
	}
}

// TestReversedMarksOnlyWhereItMust counts cells: only records that would not be seen, or
// would lose microseconds, have a marker.
func TestReversedMarksOnlyWhereItMust(t *testing.T) {
	s, v := reversedSchema(), []byte("v")
	for _, c := range []struct {
		rec   behaviour.Record
		cells int
	}{
		{behaviour.Record{Values: [][]byte{v, nil, nil}}, 1},
		{behaviour.Record{Values: [][]byte{v, nil, nil}, Time: 1}, 2},
		{behaviour.Record{Values: [][]byte{v, nil, nil}, Time: 1000}, 1},
		{behaviour.Record{Values: [][]byte{nil, v, v}}, 3},
		{behaviour.Record{Values: [][]byte{nil, nil, nil}}, 1},
		{behaviour.Record{Kind: 1}, 1},
		{behaviour.Record{Kind: 1, Time: -1}, 1},
	} {
		c.rec.User = []byte("u")
		if got := len(encoded(t, layout.Reversed{}, s, []behaviour.Record{c.rec})); got != c.cells {
			t.Errorf("%+v has %d cells, want %d", c.rec, got, c.cells)
		}
	}
}
