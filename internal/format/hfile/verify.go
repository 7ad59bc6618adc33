package hfile

import (
	"bytes"
	"cmp"

	"usertrail/internal/cell"
)

// Verify reads the whole file in the order of its bytes, and calls each for every cell. The
// cell is valid during the call. Verify compares the file's statements about itself with its
// content: checksums, the order of cells, each entry of the index, the count, the last key,
// the Bloom filter. each may be nil. If each returns an error, Verify stops and returns this
// error unchanged.
func (r *Reader) Verify(each func(*cell.Cell) error) error { return r.verify(each, false) }

// VerifyDistinct is Verify for a file that was written with Options.Distinct: no two cells have one key. If a key
// repeats, each is still called for all cells.
func (r *Reader) VerifyDistinct(each func(*cell.Cell) error) error { return r.verify(each, true) }

func (r *Reader) verify(each func(*cell.Cell) error, distinct bool) error {
	v := verifier{
		r:        r,
		s:        newScanner(r, 0, r.size-trailerLen),
		cur:      cursor{layout: r.layout},
		index:    r.Iterator(IterOptions{}),
		prev:     -1,
		each:     each,
		distinct: distinct,
	}
	for v.s.next() {
		if !v.s.header.kind.data() {
			if _, err := v.s.payload(); err != nil {
				return err
			}
			continue
		}
		if err := v.block(); err != nil {
			return err
		}
	}
	if v.s.err != nil {
		return v.s.err
	}
	if err := v.end(); err != nil {
		return err
	}
	return v.repeated
}

// A verifier is one call of Verify.
type verifier struct {
	r     *Reader
	s     *scanner
	cur   cursor
	index *Iterator // moved through the index alone
	each  func(*cell.Cell) error

	distinct bool  // no two cells have one key
	repeated error // the first repeated key, if distinct is set

	cells     int64
	blocks    int64
	first     int64 // offset of the first data block
	prev      int64 // offset of the previous data block
	last      cell.Cell
	lastKey   []byte
	bloomKey  []byte
	bloomLast []byte
}

// block checks the scanner's current block, which is a data block.
func (v *verifier) block() error {
	at := v.s.offset
	payload, err := v.s.payload()
	if err != nil {
		return err
	}
	if v.s.header.prev != v.prev {
		return corrupt(at, "previous data block at %d, the header says %d", v.prev, v.s.header.prev)
	}
	if err := v.cur.open(v.s.header.kind, payload); err != nil {
		return corrupt(at, "%w", err)
	}
	if v.cur.next() {
		err = v.entry()
	} else if v.cur.err == nil {
		err = corrupt(at, "%w", errNoCells)
	}
	if err != nil {
		return err
	}
	for more := v.cur.err == nil; more; more = v.cur.next() {
		if err := v.cell(); err != nil {
			return err
		}
	}
	if v.cur.err != nil {
		return corrupt(at, "cell %d: %w", v.cells, v.cur.err)
	}
	if v.blocks == 0 {
		v.first = at
	}
	v.blocks++
	v.prev = at
	return nil
}

// entry checks the index entry of the current block. It runs before the first cell is
// counted.
func (v *verifier) entry() error {
	at := v.s.offset
	if !v.nextEntry() {
		if v.index.err != nil {
			return v.index.err
		}
		return corrupt(at, "no entry of the index leads here")
	}
	x := &v.index.nodes[len(v.index.nodes)-1]
	offset, size := x.place(x.at)
	if offset != at || size != v.s.header.size() {
		return corrupt(at, "a block of %d bytes, the index has one of %d at %d", v.s.header.size(), size, offset)
	}
	if err := v.above(); err != nil {
		return err
	}
	key, first := x.key(x.at), appendKey(nil, &v.cur.cell)
	if compareKeys(key, first) > 0 {
		return corrupt(at, "index key %.64x comes after the block's first, %.64x", key, first)
	}
	if v.blocks == 0 {
		if !bytes.Equal(key, first) {
			return corrupt(at, "the file begins with %.64x, the index with %.64x", first, key)
		}
		return nil
	}
	v.lastKey = appendKey(v.lastKey[:0], &v.last)
	if compareKeys(v.lastKey, key) >= 0 {
		return corrupt(at, "index key %.64x does not come after %.64x, which is in the block before", key, v.lastKey)
	}
	return nil
}

// above checks that the index on each level has the first key of the level below.
func (v *verifier) above() error {
	nodes := v.index.nodes
	for i := len(nodes) - 1; i > 0 && nodes[i].at == 0; i-- {
		if key := nodes[i-1].key(nodes[i-1].at); !bytes.Equal(key, nodes[i].key(0)) {
			return corrupt(nodes[i].from, "the block of the index begins with %.64x, its parent has %.64x", nodes[i].key(0), key)
		}
	}
	return nil
}

// nextEntry moves to the index entry of the next data block.
func (v *verifier) nextEntry() bool {
	if v.blocks > 0 {
		return v.index.advance()
	}
	v.index.nodes[0].at = 0
	return v.r.root.n > 0 && v.index.descend(0, nil)
}

// cell checks the current cell against the previous cell.
func (v *verifier) cell() error {
	c := &v.cur.cell
	if v.cells > 0 {
		switch order, sameFamily := v.order(c), bytes.Equal(v.last.Family, c.Family); {
		case order > 0 || !sameFamily:
			return corrupt(v.s.offset, "cell %d out of order: row %.64x after %.64x", v.cells, c.Row, v.last.Row)
		case order == 0 && v.distinct && v.repeated == nil:
			v.repeated = corrupt(v.s.offset, "cell %d has the key of the cell before it: row %.64x, qualifier %.64x", v.cells, c.Row, c.Qualifier)
		}
	}
	if !v.cur.sameRow || v.cells == 0 {
		v.last.Row = append(v.last.Row[:0], c.Row...)
		v.last.Family = append(v.last.Family[:0], c.Family...)
	}
	v.last.Qualifier = append(v.last.Qualifier[:0], c.Qualifier...)
	v.last.Time, v.last.Type = c.Time, c.Type
	v.cells++
	if v.r.bloom != nil {
		if err := v.inBloom(c); err != nil {
			return err
		}
	}
	if v.each == nil {
		return nil
	}
	return v.each(c)
}

// order compares the last cell with c.
func (v *verifier) order(c *cell.Cell) int {
	if !v.cur.sameRow {
		return cell.Compare(&v.last, c)
	}
	switch d := bytes.Compare(v.last.Qualifier, c.Qualifier); {
	case d != 0:
		return d
	case v.last.Time != c.Time:
		return cmp.Compare(c.Time, v.last.Time)
	}
	return cmp.Compare(c.Type, v.last.Type)
}

// inBloom checks that the Bloom filter has the key of c.
func (v *verifier) inBloom(c *cell.Cell) error {
	f := v.r.bloom
	switch f.typ {
	case RowColBloom:
		v.bloomKey = appendRowCol(v.bloomKey[:0], c.Row, c.Qualifier)
	case PrefixBloom:
		v.bloomKey = append(v.bloomKey[:0], c.Row[:min(len(c.Row), f.prefix)]...)
	default:
		if v.cur.sameRow {
			return nil
		}
		v.bloomKey = append(v.bloomKey[:0], c.Row...)
	}
	if bytes.Equal(v.bloomKey, v.bloomLast) {
		return nil
	}
	v.bloomLast = append(v.bloomLast[:0], v.bloomKey...)
	has, err := f.has(v.bloomKey)
	if err == nil && !has {
		err = corrupt(v.s.offset, "the Bloom filter does not have %.64x", v.bloomKey)
	}
	return err
}

// end makes the checks that need the whole file.
func (v *verifier) end() error {
	t := &v.r.trailer
	at := v.r.size - trailerLen
	if v.cells != t.Cells {
		return corrupt(at, "%d cells, the trailer says %d", v.cells, t.Cells)
	}
	if v.blocks == 0 {
		return nil
	}
	if v.first != t.FirstData || v.prev != t.LastData {
		return corrupt(at, "data blocks from %d to %d, the trailer says %d to %d", v.first, v.prev, t.FirstData, t.LastData)
	}
	if v.index.advance() || v.index.err != nil {
		return corrupt(at, "the index has more than %d data blocks", v.blocks)
	}
	if last := appendKey(nil, &v.last); !bytes.Equal(last, v.r.info[infoLastKey]) {
		return corrupt(at, "the last key is %.64x, file info says %.64x", last, v.r.info[infoLastKey])
	}
	return nil
}
