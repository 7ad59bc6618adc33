package hfile

import (
	"bytes"
	"encoding/binary"
	"math"

	"usertrail/internal/cell"
)

// A target is the place before all cells of a column that there could be. Without
// family and qualifier it is the place before a row.
type target struct{ row, family, qualifier []byte }

// reachedBy says whether key, which has been checked, does not come after t: it
// comes before every cell of the column, or is the very first key that the column
// could have.
func (t *target) reachedBy(key []byte) bool {
	row := 2 + int(binary.BigEndian.Uint16(key))
	if c := bytes.Compare(key[2:row], t.row); c != 0 {
		return c < 0
	}
	family := row + 1 + int(key[row])
	if c := bytes.Compare(key[row+1:family], t.family); c != 0 {
		return c < 0
	}
	end := len(key) - 9
	if c := bytes.Compare(key[family:end], t.qualifier); c != 0 {
		return c < 0
	}
	return binary.BigEndian.Uint64(key[end:]) == math.MaxInt64 && key[end+8] == byte(typeMaximum)
}

// before says whether t comes before c.
func (t *target) before(c *cell.Cell) bool {
	n := bytes.Compare(c.Row, t.row)
	return n > 0 || n == 0 && t.beforeColumn(c)
}

// beforeColumn is before for a cell of t's row.
func (t *target) beforeColumn(c *cell.Cell) bool {
	if n := bytes.Compare(c.Family, t.family); n != 0 {
		return n > 0
	}
	return bytes.Compare(c.Qualifier, t.qualifier) >= 0
}

// SeekGE goes to the first cell whose row is not before row, forwards or
// backwards, and returns false if there is none. A row that lies ahead in the
// current block is found without reading or decompressing anything.
func (it *Iterator) SeekGE(row []byte) bool { return it.SeekColumn(row, nil, nil) }

// shortRow is how many cells of a row are passed over one by one before the next row is
// sought.
const shortRow = 8

// NextRow goes to the first cell of the row after the one at hand, and returns false if
// there is none.
func (it *Iterator) NextRow() bool {
	it.after = append(append(it.after[:0], it.Cell().Row...), 0)
	for range shortRow {
		if !it.Next() {
			return false
		}
		if !it.SameRow() {
			return true
		}
	}
	return it.SeekGE(it.after)
}

// SeekColumn goes to the first cell that is not before the cells of a column, as
// SeekGE does to a row: to one of that column, of a later one of the row, or of a
// later row.
func (it *Iterator) SeekColumn(row, family, qualifier []byte) bool {
	it.same = false
	if it.err != nil || it.r.root.n == 0 {
		return it.end()
	}
	t := &target{row, family, qualifier}
	if !it.ahead(t) && !it.find(t) {
		return false
	}
	if it.pass(t) {
		it.valid = true
		return true
	}
	// The whole block is before t, so the result is the first cell of the next block.
	if it.cur.err != nil {
		return it.stop()
	}
	if !it.advance() || !it.load(true) || !it.step() {
		return false
	}
	if !t.before(&it.cur.cell) {
		return it.fail(corrupt(it.block, "the index leads past the block where row %.64x would be", row))
	}
	return true
}

// pass moves to the first cell of the block after t, and reports whether there is one.
func (it *Iterator) pass(t *target) bool {
	n := -1 // how the cell's row compares with t's
	for first := true; it.cur.next(); first = false {
		if first || !it.cur.sameRow {
			n = bytes.Compare(it.cur.cell.Row, t.row)
		}
		if n > 0 || n == 0 && t.beforeColumn(&it.cur.cell) {
			return true
		}
	}
	return false
}

// ahead says whether a scan from here on finds t in the current block, or else at
// the beginning of the next.
func (it *Iterator) ahead(t *target) bool {
	if !it.valid || t.before(&it.cur.cell) {
		return false
	}
	x := &it.nodes[len(it.nodes)-1]
	return x.at+1 < x.n && !t.reachedBy(x.key(x.at+1))
}

// find loads the block where t would be and goes to before its first cell, or stays
// where it is if that is before t in the same block.
func (it *Iterator) find(t *target) bool {
	root := &it.nodes[0]
	root.at = max(root.before(t), 0)
	if !it.descend(0, t) {
		return false
	}
	x := &it.nodes[len(it.nodes)-1]
	if offset, _ := x.place(x.at); offset != it.block {
		return it.load(false)
	}
	if !it.valid || t.before(&it.cur.cell) {
		it.cur.rewind()
	}
	return true
}
