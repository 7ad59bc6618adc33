package hfile

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"usertrail/internal/cell"
)

// TestSeekFindsWhatASearchFinds seeks rows of the file, near misses, and rows before and
// after all, in random and in ascending order. After each seek it reads some more cells.
func TestSeekFindsWhatASearchFinds(t *testing.T) {
	cells := madeUp(5, 1500)
	for i, opt := range []Options{
		{BlockSize: 500, IndexChunk: 300, indexMinEntries: 3, ShortIndexKeys: true},
		{BlockSize: 500, IndexChunk: 300, indexMinEntries: 3},
		{BlockSize: 3000, Encoding: NoEncoding, Codec: Plain, ShortIndexKeys: true},
		{BlockSize: 3000, Encoding: Prefix},
		{BlockSize: 3000, Encoding: Diff, Codec: GZ},
		{BlockSize: 3000, Encoding: RowIndex, Codec: ZSTD},
		{BlockSize: 700, GroupLen: func(row []byte) int { return min(3, len(row)) }, ShortIndexKeys: true},
	} {
		r := open(t, write(t, opt, cells))
		want := without(cells, opt)
		for _, rising := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/rising=%t", i, rising), func(t *testing.T) {
				targets := seekTargets(cells, rising)
				it := r.Iterator(IterOptions{ReadAhead: 2000})
				for n, row := range targets {
					if err := seek(it, row, want, n%5); err != nil {
						t.Fatalf("target %d: %v", n, err)
					}
				}
			})
		}
	}
}

func seekTargets(cells []cell.Cell, rising bool) [][]byte {
	rnd := rand.New(rand.NewPCG(9, 9))
	targets := [][]byte{nil, {}, {0}, {0xff, 0xff}}
	for range 400 {
		row := cells[rnd.IntN(len(cells))].Row
		switch rnd.IntN(4) {
		case 0:
			row = append(bytes.Clone(row), 0)
		case 1:
			row = row[:rnd.IntN(len(row))]
		case 2:
			row = bytes.Clone(row)
			row[len(row)-1] += byte(rnd.IntN(3))
		}
		targets = append(targets, row)
	}
	if rising {
		slices.SortFunc(targets, bytes.Compare)
	}
	return targets
}

// seek seeks row, compares the result with a search of cells, and then reads some more cells.
func seek(it *Iterator, row []byte, cells []cell.Cell, more int) error {
	i, _ := slices.BinarySearchFunc(cells, row, func(c cell.Cell, row []byte) int { return bytes.Compare(c.Row, row) })
	return follow(it, it.SeekGE(row), cells[i:], more, fmt.Sprintf("row %x", row))
}

// follow compares the result of a seek, and some cells after it, with cells. ok is the seek's
// result.
func follow(it *Iterator, ok bool, cells []cell.Cell, more int, sought string) error {
	for n := 0; n <= more; n++ {
		if it.Err() != nil {
			return it.Err()
		}
		if ok != (n < len(cells)) {
			return fmt.Errorf("%s: found cell %d after it is %t, but there are %d", sought, n, ok, len(cells))
		}
		if !ok {
			return nil
		}
		if err := sameCells([]cell.Cell{*it.Cell()}, cells[n:n+1]); err != nil {
			return fmt.Errorf("%s, cell %d after it: %w", sought, n, err)
		}
		ok = it.Next()
	}
	return nil
}

// A countingReader counts calls and bytes.
type countingReader struct {
	io.ReaderAt
	calls, bytes int
}

func (r *countingReader) ReadAt(b []byte, off int64) (int, error) {
	r.calls++
	r.bytes += len(b)
	return r.ReaderAt.ReadAt(b, off)
}

func TestReadsNoMoreThanItMust(t *testing.T) {
	cells := madeUp(6, 4000)
	b := write(t, Options{BlockSize: 4000, ShortIndexKeys: true}, cells)
	src := &countingReader{ReaderAt: bytes.NewReader(b)}
	r, err := Open(src, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if src.calls > 2 {
		t.Errorf("opening took %d reads", src.calls)
	}
	blocks, largest := dataBlocks(t, r)

	t.Run("a seek reads one block", func(t *testing.T) {
		*src = countingReader{ReaderAt: src.ReaderAt}
		it := r.Iterator(IterOptions{ReadAhead: 1 << 20})
		if !it.SeekGE(cells[2000].Row) || src.calls != 1 || src.bytes > largest {
			t.Errorf("%d reads of %d bytes; the largest block has %d", src.calls, src.bytes, largest)
		}
	})
	t.Run("seeks within a block read nothing", func(t *testing.T) {
		it := r.Iterator(IterOptions{})
		it.First()
		*src = countingReader{ReaderAt: src.ReaderAt}
		for range 5 {
			it.Next()
		}
		row := bytes.Clone(it.Cell().Row)
		for _, target := range [][]byte{cells[0].Row, row, cells[0].Row} {
			if !it.SeekGE(target) {
				t.Fatal(it.Err())
			}
		}
		if src.calls != 0 {
			t.Errorf("%d reads", src.calls)
		}
	})
	t.Run("a seek of a column reads its block, or that and the one before", testColumnSeeks)
	t.Run("a scan reads far ahead", func(t *testing.T) {
		*src = countingReader{ReaderAt: src.ReaderAt}
		if _, err := scan(r, IterOptions{ReadAhead: 64 << 10}); err != nil {
			t.Fatal(err)
		}
		if src.calls > 3+len(b)/(48<<10) || src.calls >= blocks {
			t.Errorf("%d reads for %d blocks in %d bytes", src.calls, blocks, len(b))
		}
	})
	t.Run("without read-ahead each block is read alone", func(t *testing.T) {
		*src = countingReader{ReaderAt: src.ReaderAt}
		if _, err := scan(r, IterOptions{}); err != nil {
			t.Fatal(err)
		}
		if src.calls != blocks {
			t.Errorf("%d reads for %d blocks", src.calls, blocks)
		}
	})
}

// dataBlocks returns the number of data blocks, and the size of the largest one.
func dataBlocks(t *testing.T, r *Reader) (blocks, largest int) {
	t.Helper()
	for block, err := range r.Blocks() {
		if err != nil {
			t.Fatal(err)
		}
		if block.Type.data() {
			largest = max(largest, block.Size)
			blocks++
		}
	}
	return blocks, largest
}

// testColumnSeeks counts the reads of seeks in rows of several blocks.
func testColumnSeeks(t *testing.T) {
	cells := wideRows(4, 20_000)
	b := write(t, Options{BlockSize: 4000, ShortIndexKeys: true}, cells)
	src := &countingReader{ReaderAt: bytes.NewReader(b)}
	r, err := Open(src, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	it := r.Iterator(IterOptions{ReadAhead: 1 << 20})
	*src = countingReader{ReaderAt: src.ReaderAt}
	for n, i := range []int{10_000, 15_000, 5_000} {
		c := &cells[i]
		if !it.SeekColumn(c.Row, c.Family, c.Qualifier) || !bytes.Equal(it.Cell().Qualifier, c.Qualifier) {
			t.Fatalf("column %q:%q: %v", c.Row, c.Qualifier, it.Err())
		}
		if src.calls > 2*(n+1) {
			t.Errorf("%d reads for %d seeks", src.calls, n+1)
		}
	}
}
