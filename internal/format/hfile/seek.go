package hfile

import (
	"bytes"
	"encoding/binary"
	"math"

	"usertrail/internal/cell"
)

// A target is the position before all possible cells of a column. Without family and
// qualifier it is the position before a row.
type target struct{ row, family, qualifier []byte }

// reachedBy reports whether key, which has been checked, does not sort after t. This holds if
// key sorts before every cell of the column, or is the very first possible key of the column.
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

// before reports whether t sorts before c.
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

// SeekGE moves to the first cell whose row does not sort before row, forwards or backwards.
// It returns false if there is none. If the row is further on in the current block, SeekGE
// reads and decompresses nothing.
func (it *Iterator) SeekGE(row []byte) bool { return it.SeekColumn(row, nil, nil) }

// shortRow is the number of cells of a row that NextRow skips one by one before it seeks the
// next row.
const shortRow = 8

// NextRow moves to the first cell of the row after the current row, and returns false if
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

// SeekColumn moves to the first cell that does not sort before the cells of a column. That
// cell belongs to the column, to a later column of the row, or to a later row. Otherwise
// SeekColumn behaves like SeekGE.
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

// ahead reports whether a scan from the current cell finds t in the current block, or else at
// the beginning of the next block.
func (it *Iterator) ahead(t *target) bool {
	if !it.valid || t.before(&it.cur.cell) {
		return false
	}
	x := &it.nodes[len(it.nodes)-1]
	return x.at+1 < x.n && !t.reachedBy(x.key(x.at+1))
}

// find loads the block that covers t and moves to before its first cell. If the current cell
// is before t in the same block, find does not move.
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
