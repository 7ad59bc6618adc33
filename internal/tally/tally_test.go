package tally_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/run/invariants"
	"usertrail/internal/tally"
)

func of(cells ...*cell.Cell) tally.Tally {
	var c tally.Counter
	for _, x := range cells {
		c.Add(x)
	}
	return c.Tally
}

// some returns cells of a few rows, in order. Every tenth cell appears twice.
func some(n int) []*cell.Cell {
	rng := rand.New(rand.NewPCG(5, 6))
	var out []*cell.Cell
	for i := range n {
		c := &cell.Cell{
			Row: fmt.Appendf(nil, "row %d", i/7), Family: []byte("d"), Qualifier: fmt.Appendf(nil, "field,%d", i),
			Time: rng.Int64N(1 << 41), Type: cell.Put, Value: fmt.Appendf(nil, "%d", rng.IntN(100)),
		}
		out = append(out, c)
		if i%10 == 0 {
			out = append(out, c)
		}
	}
	return out
}

func TestAnyOrderAndAnyGrouping(t *testing.T) {
	cells := some(1000)
	want := of(cells...)
	if want.Cells != 1100 {
		t.Fatalf("%d cells, want 1100", want.Cells)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for round := range 20 {
		rng.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		if got := of(cells...); got != want {
			t.Fatalf("round %d, another order: %s, want %s", round, got, want)
		}
		var sum tally.Tally
		workers := make([]tally.Counter, 1+rng.IntN(9))
		for _, c := range cells {
			workers[rng.IntN(len(workers))].Add(c)
		}
		for _, w := range workers {
			sum.Add(w.Tally)
		}
		if sum != want {
			t.Fatalf("round %d, %d workers: %s, want %s", round, len(workers), sum, want)
		}
	}
}

func TestSinceIsTheInverseOfAdd(t *testing.T) {
	cells := some(100)
	all, before := of(cells...), of(cells[:40]...)
	if got, want := all.Since(before), of(cells[40:]...); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTwoEqualCellsDoNotCancel(t *testing.T) {
	c := some(1)[0]
	one, two, three := of(c), of(c, c), of(c, c, c)
	if two.Digest == 0 || two.Digest == one.Digest || three.Digest == one.Digest || two.Cells != 2 {
		t.Errorf("once %s, twice %s, three times %s", one, two, three)
	}
}

// TestEveryPartCounts changes one part of a cell at a time, with and without a remembered row
// from an earlier cell.
func TestEveryPartCounts(t *testing.T) {
	base := func() *cell.Cell {
		return &cell.Cell{Row: []byte("row"), Family: []byte("fam"), Qualifier: []byte("qual"), Time: 1 << 40, Type: cell.Put, Value: []byte("value")}
	}
	changes := map[string]func(*cell.Cell){
		"row":                      func(c *cell.Cell) { c.Row = []byte("roW") },
		"longer row":               func(c *cell.Cell) { c.Row = []byte("row\x00") },
		"family":                   func(c *cell.Cell) { c.Family = []byte("faM") },
		"no family":                func(c *cell.Cell) { c.Family = nil },
		"qualifier":                func(c *cell.Cell) { c.Qualifier = []byte("quaL") },
		"no qualifier":             func(c *cell.Cell) { c.Qualifier = nil },
		"time":                     func(c *cell.Cell) { c.Time++ },
		"time, high bits":          func(c *cell.Cell) { c.Time ^= 1 << 55 },
		"negative time":            func(c *cell.Cell) { c.Time = -c.Time },
		"type":                     func(c *cell.Cell) { c.Type = cell.Delete },
		"value":                    func(c *cell.Cell) { c.Value = []byte("valuE") },
		"no value":                 func(c *cell.Cell) { c.Value = nil },
		"zero value":               func(c *cell.Cell) { c.Value = []byte{0} },
		"qualifier and value swap": func(c *cell.Cell) { c.Qualifier, c.Value = c.Value, c.Qualifier },
		"row and qualifier swap":   func(c *cell.Cell) { c.Row, c.Qualifier = c.Qualifier, c.Row },
		"row and family swap":      func(c *cell.Cell) { c.Row, c.Family = c.Family, c.Row },
		"family and qualifier swap": func(c *cell.Cell) {
			c.Family, c.Qualifier = c.Qualifier, c.Family
		},
		"a byte passes from family to qualifier": func(c *cell.Cell) {
			c.Family, c.Qualifier = []byte("fa"), []byte("mqual")
		},
		"a byte passes from qualifier to value": func(c *cell.Cell) {
			c.Qualifier, c.Value = []byte("qua"), []byte("lvalue")
		},
	}
	seen := map[tally.Digest]string{of(base()).Digest: "unchanged"}
	for name, change := range changes {
		c := base()
		change(c)
		got := of(c)
		if other, ok := seen[got.Digest]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[got.Digest] = name

		// The same after a cell of the old row.
		sum := of(base())
		sum.Add(got)
		if after := of(base(), c); after != sum {
			t.Errorf("%s after the unchanged cell: %s, want %s", name, after, sum)
		}
	}
}

// TestValuesOfTwoCellsSwapped simulates a mistake in a merge: all bytes exist, but in the
// wrong cells.
func TestValuesOfTwoCellsSwapped(t *testing.T) {
	c := some(2)
	before := of(c[0], c[2])
	c[0].Value, c[2].Value = []byte("x"), []byte("y")
	one := of(c[0], c[2])
	c[0].Value, c[2].Value = c[2].Value, c[0].Value
	if two := of(c[0], c[2]); one == two || one == before {
		t.Errorf("values swapped between two cells: %s and %s", one, two)
	}
}

func TestTagsAndMVCCDoNotCount(t *testing.T) {
	c := some(1)[0]
	before := of(c)
	c.Tags, c.MVCC = []byte("tags"), 7
	if got := of(c); got != before {
		t.Errorf("got %s, want %s: HBase sets these, not the load", got, before)
	}
}

func TestAddKeepsNoReference(t *testing.T) {
	var c tally.Counter
	x := some(1)[0]
	c.Add(x)
	x = x.Clone()
	row := x.Row
	c.Add(x)
	clear(row)
	invariants.Mangle(row)
	again := some(1)[0]
	c.Add(again)
	if want := of(again, again, again); c.Tally != want {
		t.Errorf("got %s, want %s", c.Tally, want)
	}
}

// TestFamilyIsNotThatOfTheRowBefore checks a cell of the remembered row in another family.
// The counter must not use the remembered hash of row and family.
func TestFamilyIsNotThatOfTheRowBefore(t *testing.T) {
	a := &cell.Cell{Row: []byte("r"), Family: []byte("a"), Qualifier: []byte("q"), Type: cell.Put}
	b := &cell.Cell{Row: []byte("r"), Family: []byte("b"), Qualifier: []byte("q"), Type: cell.Put}
	want := of(a)
	want.Add(of(b))
	if got := of(a, b); got != want {
		t.Errorf("counted together: %s, apart: %s", got, want)
	}
}

// TestSizesAndTextsAreFixed checks the form of tallies, because a later version must read
// them in manifests.
func TestSizesAndTextsAreFixed(t *testing.T) {
	c := &cell.Cell{Row: []byte("row"), Family: []byte("d"), Qualifier: []byte("q,1"), Time: 1409529600000, Type: cell.Put, Value: []byte("value")}
	got := of(c)
	const want = `{"cells":1,"bytes":21,"digest":"6c070a1fc6f1e5f8"}`
	b, err := json.Marshal(got)
	if err != nil || string(b) != want {
		t.Errorf("written as %s, %v; want %s", b, err, want)
	}
	var back tally.Tally
	if err := json.Unmarshal(b, &back); err != nil || back != got {
		t.Errorf("read back as %s, %v", back, err)
	}
	if s := got.String(); s != "1 cells, 21 bytes, digest "+got.Digest.String() || len(got.Digest.String()) != 16 {
		t.Errorf("shown as %s", s)
	}
	if s := tally.Digest(10).String(); s != "000000000000000a" {
		t.Errorf("a small digest is shown as %s", s)
	}
	for _, bad := range []string{"", "xyz", "00000000000000001", "-1"} {
		var d tally.Digest
		if err := d.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is read as digest %s", bad, d)
		}
	}
	if of() != (tally.Tally{}) {
		t.Error("the tally of no cells is not zero")
	}
}

func BenchmarkCounterAdd(b *testing.B) {
	for _, perRow := range []int{1, 8} {
		b.Run(fmt.Sprintf("cells-per-row=%d", perRow), func(b *testing.B) {
			cells := some(1000)
			var bytes int64
			for i, c := range cells {
				c.Row = fmt.Appendf(nil, "%011d,20140901,00003", i/perRow)
				c.Value = []byte("about twenty bytes..")
				bytes += int64(len(c.Row) + len(c.Family) + len(c.Qualifier) + len(c.Value) + 9)
			}
			b.SetBytes(bytes / int64(len(cells)))
			var t tally.Counter
			for i := 0; b.Loop(); i++ {
				t.Add(cells[i%len(cells)])
			}
		})
	}
}
