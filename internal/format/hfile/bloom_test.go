package hfile

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"usertrail/internal/cell"
)

func bloomRows(n int) []cell.Cell {
	cells := make([]cell.Cell, n)
	for i := range cells {
		cells[i] = cell.Cell{Row: fmt.Appendf(nil, "user%07d,20140901", i), Family: []byte("f"), Qualifier: []byte("q"), Type: cell.Put}
	}
	return cells
}

// TestBloomNeverDenies uses more rows than one chunk can hold.
func TestBloomNeverDenies(t *testing.T) {
	cells := bloomRows(120_000)
	r := open(t, write(t, Options{Bloom: RowBloom}, cells))
	if len(r.bloom.chunks) != 2 {
		t.Errorf("%d chunks", len(r.bloom.chunks))
	}
	for i := range cells {
		if has, err := r.MayContain(cells[i].Row); err != nil || !has {
			t.Fatalf("row %s: %t, %v", cells[i].Row, has, err)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	wrong := 0
	const asked = 20_000
	for range asked {
		has, err := r.MayContain(fmt.Appendf(nil, "user%07d,2014090%d", rnd.IntN(len(cells)), 2+rnd.IntN(8)))
		if err != nil {
			t.Fatal(err)
		}
		if has {
			wrong++
		}
	}
	if share := float64(wrong) / asked; share > 0.02 {
		t.Errorf("the filter does not exclude a fraction of %.3f of the absent rows, want about 0.01", share)
	}
	if has, err := r.MayContain([]byte("a row before all")); has || err != nil {
		t.Errorf("before the first row: %t, %v", has, err)
	}
}

func TestBloomOfPrefixes(t *testing.T) {
	r := open(t, write(t, Options{Bloom: PrefixBloom, BloomPrefix: 11}, bloomRows(1000)))
	for row, want := range map[string]bool{
		"user0000007": true, "user0000007,20990101": true,
		"user0001000,20140901": false, "user": false,
	} {
		if has, err := r.MayContain([]byte(row)); has != want || err != nil {
			t.Errorf("%s: %t, %v", row, has, err)
		}
	}
	if r.bloom.keys != 1000 {
		t.Errorf("%d keys", r.bloom.keys)
	}
}

// TestBloomKeysAreCountedOnce uses rows of many columns and versions.
func TestBloomKeysAreCountedOnce(t *testing.T) {
	var cells []cell.Cell
	for row := range 10 {
		for qualifier := range 5 {
			for version := range 3 {
				cells = append(cells, cell.Cell{
					Row: fmt.Appendf(nil, "r%d", row), Qualifier: fmt.Appendf(nil, "q%d", qualifier),
					Time: int64(9 - version), Type: cell.Put,
				})
			}
		}
	}
	for typ, want := range map[BloomType]int64{RowBloom: 10, RowColBloom: 50, PrefixBloom: 1} {
		r := open(t, write(t, Options{Bloom: typ, BloomPrefix: 1}, cells))
		if r.bloom.keys != want {
			t.Errorf("%s: %d keys, want %d", typ, r.bloom.keys, want)
		}
		if err := r.Verify(nil); err != nil {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

// TestNoBloomDeniesNothing also covers a filter of columns, which cannot decide about a row
// alone.
func TestNoBloomDeniesNothing(t *testing.T) {
	for _, typ := range []BloomType{NoBloom, RowColBloom} {
		if has, err := open(t, write(t, Options{Bloom: typ}, three())).MayContain([]byte("other")); !has || err != nil {
			t.Errorf("%s: %t, %v", typ, has, err)
		}
	}
}
