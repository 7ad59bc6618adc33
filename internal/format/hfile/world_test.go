package hfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"usertrail/internal/cell"
)

// madeUp returns n cells in order: rows of few and many columns, lengths around 255, equal
// values, times and types close to each other, and some keys twice. Every cell has tags and a
// write number; the writer's options decide whether they are stored.
func madeUp(seed uint64, n int) []cell.Cell {
	rnd := rand.New(rand.NewPCG(seed, 1))
	text := func(max int) []byte {
		b := make([]byte, rnd.IntN(max+1))
		for i := range b {
			b[i] = "aab\x00\xff"[rnd.IntN(5)]
		}
		return b
	}
	cells := make([]cell.Cell, 0, n)
	row := []byte("r")
	for len(cells) < n {
		if rnd.IntN(4) == 0 {
			row = append([]byte("r"), text(8)...)
			if rnd.IntN(8) == 0 {
				row = append(row, bytes.Repeat([]byte{'x'}, 250+rnd.IntN(600))...)
			}
		}
		c := cell.Cell{
			Row:       row,
			Family:    []byte("fam"),
			Qualifier: text(6),
			Time:      []int64{0, 1, 999, 1000, 1 << 40, -5, 1<<63 - 1}[rnd.IntN(7)] + int64(rnd.IntN(2)),
			Type:      []cell.Type{cell.Put, cell.Put, cell.Put, cell.Delete, cell.DeleteColumn}[rnd.IntN(5)],
			Value:     text(3),
			MVCC:      uint64(rnd.IntN(3)) << rnd.IntN(50),
		}
		if rnd.IntN(3) == 0 {
			c.Tags = append([]byte{0, 3, 8}, "ab"...)
		}
		if rnd.IntN(30) == 0 {
			c.Value = bytes.Repeat([]byte("v"), rnd.IntN(5000))
		}
		cells = append(cells, c)
	}
	slices.SortStableFunc(cells, func(a, b cell.Cell) int { return cell.Compare(&a, &b) })
	return cells
}

// without returns cells as they are read back from a file that was written with opt.
func without(cells []cell.Cell, opt Options) []cell.Cell {
	cells = slices.Clone(cells)
	for i := range cells {
		if !opt.Tags {
			cells[i].Tags = nil
		}
		if !opt.MVCC {
			cells[i].MVCC = 0
		}
	}
	return cells
}

// write makes a file of cells. It removes the tags if opt does not store them.
func write(t testing.TB, opt Options, cells []cell.Cell) []byte {
	t.Helper()
	b, _ := writeMeta(t, opt, cells)
	return b
}

func writeMeta(t testing.TB, opt Options, cells []cell.Cell) ([]byte, Meta) {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !opt.Tags {
		cells = without(cells, Options{MVCC: true})
	}
	for i := range cells {
		if err := w.Add(&cells[i]); err != nil {
			t.Fatal(err)
		}
	}
	meta, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), meta
}

func open(t testing.TB, b []byte) *Reader {
	t.Helper()
	r, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// scan returns copies of all cells of a file.
func scan(r *Reader, opt IterOptions) ([]cell.Cell, error) {
	var cells []cell.Cell
	it := r.Iterator(opt)
	for ok := it.First(); ok; ok = it.Next() {
		cells = append(cells, *it.Cell().Clone())
	}
	return cells, it.Err()
}

// sameCells reports the first difference.
func sameCells(got, want []cell.Cell) error {
	for i := range min(len(got), len(want)) {
		g, w := &got[i], &want[i]
		if cell.Compare(g, w) != 0 || !bytes.Equal(g.Value, w.Value) || !bytes.Equal(g.Tags, w.Tags) || g.MVCC != w.MVCC {
			return fmt.Errorf("cell %d is %s tags %x mvcc %d, want %s tags %x mvcc %d", i, g, g.Tags, g.MVCC, w, w.Tags, w.MVCC)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d cells, want %d", len(got), len(want))
	}
	return nil
}
