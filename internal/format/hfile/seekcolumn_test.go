package hfile

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"usertrail/internal/cell"
)

// wideRows returns n cells in order, in a few rows. A row spans many blocks, and some columns
// do too. Qualifiers share prefixes, and some are empty.
func wideRows(seed uint64, n int) []cell.Cell {
	rnd := rand.New(rand.NewPCG(seed, 2))
	qualifier := func() []byte {
		q := []byte{}
		for range rnd.IntN(4) {
			q = append(q, []string{"a", "a", "bb", "\x00", "\xff", "some longer part of a name "}[rnd.IntN(6)]...)
		}
		return q
	}
	column := qualifier()
	cells := make([]cell.Cell, 0, n)
	for len(cells) < n {
		if rnd.IntN(3) > 0 {
			column = qualifier()
		}
		c := cell.Cell{
			Row:       []byte([]string{"r", "ra", "ra\x00", "rb", "rc"}[rnd.IntN(5)]),
			Family:    []byte("fam"),
			Qualifier: column,
			Time:      []int64{math.MaxInt64, 1 << 40, 5, -5}[rnd.IntN(4)],
			Type:      []cell.Type{cell.Put, cell.Put, cell.Delete, cell.DeleteColumn}[rnd.IntN(4)],
			Value:     bytes.Repeat([]byte("v"), rnd.IntN(60)),
		}
		cells = append(cells, c)
	}
	slices.SortStableFunc(cells, func(a, b cell.Cell) int { return cell.Compare(&a, &b) })
	return cells
}

// TestSeekColumnFindsWhatALookThroughAllFinds seeks columns of the file, near misses, and
// columns before and after all of a row, in random and in ascending order, in files of every
// encoding. After each seek it reads some more cells.
func TestSeekColumnFindsWhatALookThroughAllFinds(t *testing.T) {
	for world, cells := range map[string][]cell.Cell{"wide": wideRows(3, 3000), "narrow": madeUp(8, 1500)} {
		for _, opt := range []Options{
			{BlockSize: 300, IndexChunk: 300, indexMinEntries: 3, ShortIndexKeys: true},
			{BlockSize: 300, IndexChunk: 300, indexMinEntries: 3},
			{BlockSize: 500, Encoding: NoEncoding, Codec: Plain, ShortIndexKeys: true},
			{BlockSize: 500, Encoding: Prefix, ShortIndexKeys: true},
			{BlockSize: 500, Encoding: Diff, Codec: GZ, ShortIndexKeys: true},
			{BlockSize: 500, Encoding: RowIndex, Codec: ZSTD, ShortIndexKeys: true},
			{BlockSize: 500, Encoding: FastDiff, Codec: Snappy, ShortIndexKeys: true},
			{BlockSize: 400, GroupLen: func(row []byte) int { return min(2, len(row)) }, ShortIndexKeys: true},
		} {
			want := without(cells, opt)
			r := open(t, write(t, opt, cells))
			for _, rising := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s %d/short=%t/rising=%t", world, opt.Encoding, opt.BlockSize, opt.ShortIndexKeys, rising), func(t *testing.T) {
					it := r.Iterator(IterOptions{ReadAhead: 2000})
					for n, c := range columnTargets(cells, rising) {
						if err := seekColumn(it, c, want, n%5); err != nil {
							t.Fatalf("target %d: %v", n, err)
						}
					}
				})
			}
		}
	}
}

// TestNextRowLeavesTheRow calls NextRow at cells of long and short rows.
func TestNextRowLeavesTheRow(t *testing.T) {
	for world, cells := range map[string][]cell.Cell{"wide": wideRows(3, 600), "narrow": madeUp(8, 600)} {
		for _, encoding := range []Encoding{NoEncoding, Prefix, Diff, FastDiff, RowIndex} {
			opt := Options{BlockSize: 500, Encoding: encoding, ShortIndexKeys: true}
			all := without(cells, opt)
			it := open(t, write(t, opt, cells)).Iterator(IterOptions{})
			for from := range all {
				at := it.First()
				for range from {
					at = at && it.Next()
				}
				want := slices.IndexFunc(all[from:], func(c cell.Cell) bool { return !bytes.Equal(c.Row, all[from].Row) })
				switch got := it.NextRow(); {
				case !at || it.Err() != nil || got != (want >= 0):
					t.Fatalf("%s, %s: from cell %d there is a next row: %t, %v", world, encoding, from, got, it.Err())
				case got && cell.Compare(it.Cell(), &all[from+want]) != 0:
					t.Fatalf("%s, %s: from cell %d the next row begins with %s, want %s", world, encoding, from, it.Cell(), &all[from+want])
				}
			}
		}
	}
}

// columnTargets returns columns to seek. The time and type of each target sort before all
// cells of its column.
func columnTargets(cells []cell.Cell, rising bool) []*cell.Cell {
	rnd := rand.New(rand.NewPCG(9, 9))
	var out []*cell.Cell
	for range 400 {
		c := cells[rnd.IntN(len(cells))].Clone()
		c.Time, c.Type = math.MaxInt64, typeMaximum
		switch rnd.IntN(8) {
		case 0:
			c.Qualifier = append(c.Qualifier, 0)
		case 1:
			c.Qualifier = c.Qualifier[:rnd.IntN(len(c.Qualifier)+1)]
		case 2:
			c.Qualifier = []byte("\xff\xff\xff\xff\xff")
		case 3:
			c.Row = append(c.Row, 0)
		case 4:
			c.Family = []byte([]string{"", "e", "fam\x00", "g"}[rnd.IntN(4)])
		}
		out = append(out, c)
	}
	if rising {
		slices.SortFunc(out, cell.Compare)
	}
	return out
}

// seekColumn seeks c's column, compares the result with a linear search of all cells, and
// then reads some more cells.
func seekColumn(it *Iterator, c *cell.Cell, cells []cell.Cell, more int) error {
	i := slices.IndexFunc(cells, func(x cell.Cell) bool { return cell.Compare(&x, c) >= 0 })
	if i < 0 {
		i = len(cells)
	}
	ok := it.SeekColumn(c.Row, c.Family, c.Qualifier)
	return follow(it, ok, cells[i:], more, fmt.Sprintf("column %q %s:%q", c.Row, c.Family, c.Qualifier))
}
