package cell_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/run/invariants"
)

// ordered returns cells in HBase's order. Neighbours differ in one part.
func ordered() []*cell.Cell {
	c := func(row, family, qualifier string, time int64, typ cell.Type) *cell.Cell {
		return &cell.Cell{Row: []byte(row), Family: []byte(family), Qualifier: []byte(qualifier), Time: time, Type: typ}
	}
	return []*cell.Cell{
		c("a", "d", "", 5, cell.Put),
		c("a", "d", "q", 9, cell.Put),                 // newest first
		c("a", "d", "q", 5, cell.DeleteFamily),        // then the larger type,
		c("a", "d", "q", 5, cell.DeleteColumn),        // so that a delete comes
		c("a", "d", "q", 5, cell.DeleteFamilyVersion), // before what it deletes
		c("a", "d", "q", 5, cell.Delete),
		c("a", "d", "q", 5, cell.Put),
		c("a", "d", "q", -5, cell.Put),
		c("a", "d", "q\x00", 5, cell.Put),
		c("a", "d", "q\xff", 5, cell.Put), // bytes are unsigned
		c("a", "e", "a", 5, cell.Put),
		c("a\x00", "a", "a", 99, cell.Put),
		c("b", "a", "a", 99, cell.Put),
		c("\xe7\x94\xa8", "a", "a", 99, cell.Put),
	}
}

func TestOrderOfCells(t *testing.T) {
	all := ordered()
	for i, a := range all {
		for j, b := range all {
			if got, want := sign(cell.Compare(a, b)), sign(i-j); got != want {
				t.Errorf("%s against %s gives %d, want %d", a, b, got, want)
			}
		}
	}
	shuffled := slices.Clone(all)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	slices.SortFunc(shuffled, cell.Compare)
	if !slices.Equal(shuffled, all) {
		t.Error("sorted cells are not in order")
	}
}

func sign(n int) int { return min(1, max(-1, n)) }

func TestValueTagsAndMVCCDoNotOrder(t *testing.T) {
	a, b := ordered()[0], ordered()[0]
	b.Value, b.Tags, b.MVCC = []byte("v"), []byte("t"), 7
	if c := cell.Compare(a, b); c != 0 {
		t.Errorf("compare as %d, want 0", c)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	c := &cell.Cell{Row: []byte("row"), Family: []byte("f"), Qualifier: []byte("q"), Value: []byte("value"), Tags: []byte("tags"), Time: 3, Type: cell.Put, MVCC: 9}
	before := c.String()
	d := c.Clone()
	for _, b := range [][]byte{c.Row, c.Family, c.Qualifier, c.Value, c.Tags} {
		clear(b)
		invariants.Mangle(b)
	}
	if d.String() != before || string(d.Tags) != "tags" || d.MVCC != 9 {
		t.Errorf("the clone changed to %s, tags %q, MVCC %d", d, d.Tags, d.MVCC)
	}
}

func TestCellsAreShown(t *testing.T) {
	c := &cell.Cell{Row: []byte("24u,20140901,00003"), Family: []byte("d"), Qualifier: []byte("q,\x00"), Time: 12, Type: cell.Put, Value: []byte("节目")}
	if got, want := c.String(), `"24u,20140901,00003"/d:"q,\x00"/12/Put="节目"`; got != want {
		t.Errorf("shown as %s, want %s", got, want)
	}
	for typ, want := range map[cell.Type]string{
		cell.Put: "Put", cell.Delete: "Delete", cell.DeleteFamilyVersion: "DeleteFamilyVersion",
		cell.DeleteColumn: "DeleteColumn", cell.DeleteFamily: "DeleteFamily", 3: "Type(3)",
	} {
		if got := typ.String(); got != want {
			t.Errorf("type %d is shown as %s, want %s", uint8(typ), got, want)
		}
	}
}

// FuzzOrder checks that Compare is an order for arbitrary bytes.
func FuzzOrder(f *testing.F) {
	f.Add("a", "b", "c", int64(1), int64(2), uint8(4), uint8(8))
	f.Add("a", "a", "a", int64(1), int64(1), uint8(4), uint8(4))
	f.Fuzz(func(t *testing.T, x, y, z string, s, u int64, p, q uint8) {
		var all []*cell.Cell
		for _, row := range []string{x, y} {
			for _, qualifier := range []string{y, z} {
				for _, time := range []int64{s, u} {
					for _, typ := range []uint8{p, q} {
						all = append(all, &cell.Cell{Row: []byte(row), Family: []byte(z), Qualifier: []byte(qualifier), Time: time, Type: cell.Type(typ)})
					}
				}
			}
		}
		slices.SortFunc(all, cell.Compare)
		for i, a := range all {
			for _, b := range all[i:] {
				if cell.Compare(a, b) > 0 || cell.Compare(a, b) != -cell.Compare(b, a) {
					t.Fatalf("%s and %s are in no order", a, b)
				}
			}
			if i == 0 {
				continue
			}
			if c := strings.Compare(string(all[i-1].Row), string(a.Row)); c > 0 {
				t.Fatalf("rows %q and %q in the wrong order", all[i-1].Row, a.Row)
			}
		}
	})
}

func BenchmarkCompare(b *testing.B) {
	x := &cell.Cell{Row: []byte("00010086001,20140901,00003"), Family: []byte("d"), Qualifier: []byte("programme,12345678"), Time: 1}
	y := x.Clone()
	for b.Loop() {
		if cell.Compare(x, y) != 0 {
			b.Fatal("equal cells differ")
		}
	}
}
