package hfile

import (
	"bytes"
	"sync"

	"usertrail/internal/cell"
)

// IterOptions are the options of an Iterator.
type IterOptions struct {
	// ReadAhead is the largest number of bytes of one read while the Iterator reads adjacent
	// blocks in sequence. With 0 each block is read alone. The Iterator's memory is this and
	// one block.
	ReadAhead int
}

// An Iterator iterates over the cells of a file in order. It begins before the first cell.
// Only one goroutine may use it. A Reader may have many Iterators.
type Iterator struct {
	r     *Reader
	fetch fetcher // of data blocks
	index fetcher
	nodes []node // the index from the root down; the last one's entries are data blocks
	cur   cursor
	plain []byte // the block, decompressed
	block int64  // offset of the block in cur, -1 for none
	most  int    // bytes of the largest block so far
	valid bool   // cur has a current cell
	same  bool   // that cell's row equals the row of the previous cell
	row   []byte // scratch: last row of a block
	after []byte // scratch: the lower bound of the next row
	err   error
}

// memory is the set of buffers that an Iterator reads into.
type memory struct{ stored, plain []byte }

var memories = sync.Pool{New: func() any { return new(memory) }}

// Release makes the Iterator's memory available to later Iterators. The Iterator and its
// cells must not be used afterwards. Calling Release is optional.
func (it *Iterator) Release() {
	memories.Put(&memory{it.fetch.buf[:0], it.plain[:0]})
	*it = Iterator{}
}

// Iterator returns an Iterator. Calling its Release is optional.
func (r *Reader) Iterator(opt IterOptions) *Iterator {
	m := memories.Get().(*memory)
	it := &Iterator{
		r: r,
		fetch: fetcher{
			r:     r.r,
			end:   r.trailer.LoadOnOpen,
			ahead: max(opt.ReadAhead, 0),
			next:  -1,
			buf:   m.stored,
			dec:   decompressor{codec: r.trailer.Codec},
		},
		plain: m.plain,
		index: fetcher{r: r.r, end: r.trailer.LoadOnOpen, dec: decompressor{codec: r.trailer.Codec}},
		nodes: make([]node, r.trailer.Levels),
		cur:   cursor{layout: r.layout},
		block: -1,
	}
	it.nodes[0] = r.root
	for i := range it.nodes {
		it.nodes[i].from = -1
	}
	return it
}

// Cell returns the current cell, after a call that returned true. The cell and its bytes are
// valid until the next call that moves the Iterator.
func (it *Iterator) Cell() *cell.Cell { return &it.cur.cell }

// Largest returns the size of the largest block so far: the bytes of its stored and its
// decompressed form together.
func (it *Iterator) Largest() int { return it.most }

// SameRow reports that Next reached the current cell from a cell of the same row. If it
// returns false, the rows may still be equal.
func (it *Iterator) SameRow() bool { return it.same }

// Err returns the error that stopped the Iterator, nil at the end of the file. The error
// remains after later calls.
func (it *Iterator) Err() error { return it.err }

// First moves to the first cell of the file. It returns false if the file has no cells.
func (it *Iterator) First() bool {
	it.same = false
	if it.err != nil || it.r.root.n == 0 {
		return it.end()
	}
	it.nodes[0].at = 0
	return it.descend(0, nil) && it.load(false) && it.step()
}

// Next moves to the next cell. It returns false at the end or after an error. It must not be
// called after that, nor before First or a seek.
func (it *Iterator) Next() bool {
	if it.cur.next() {
		it.same = it.cur.sameRow
		return true
	}
	return it.nextBlock()
}

// nextBlock moves to the first cell of the next block.
func (it *Iterator) nextBlock() bool {
	if it.cur.err != nil || !it.valid {
		return it.stop()
	}
	it.row = append(it.row[:0], it.cur.cell.Row...)
	if !it.advance() || !it.load(true) || !it.step() {
		return false
	}
	it.same = bytes.Equal(it.row, it.cur.cell.Row)
	return true
}

// descend loads the index below nodes[level] at its current entry. On each level it chooses
// the entry that covers t, or the first entry if t is nil.
func (it *Iterator) descend(level int, t *target) bool {
	for ; level+1 < len(it.nodes); level++ {
		x, child := &it.nodes[level], &it.nodes[level+1]
		offset, size := x.place(x.at)
		if child.from != offset && !it.loadNode(child, offset, size) {
			return false
		}
		child.at = 0
		if t != nil {
			child.at = max(child.before(t), 0)
		}
	}
	return true
}

// loadNode reads a block of the index into x's own buffer. It does not change the read-ahead
// of the data blocks.
func (it *Iterator) loadNode(x *node, offset int64, size int) bool {
	x.from = -1
	h, payload, err := it.index.block(x.buf, offset, size, false)
	if err != nil {
		return it.fail(err)
	}
	if it.index.dec.codec == Plain {
		payload = append(x.buf[:0], payload...)
	}
	x.buf = payload
	if h.kind != LeafIndex && h.kind != IntermediateIndex {
		return it.fail(corrupt(offset, "a %s where the index continues", h.kind))
	}
	if err := x.parse(payload); err != nil {
		return it.fail(corrupt(offset, "%w", err))
	}
	x.from = offset
	return true
}

// advance moves to the next entry of the index. At the end it returns false.
func (it *Iterator) advance() bool {
	for level := len(it.nodes) - 1; level >= 0; level-- {
		if x := &it.nodes[level]; x.at+1 < x.n {
			x.at++
			return it.descend(level, nil)
		}
	}
	return it.end()
}

// load reads the data block of the current entry.
func (it *Iterator) load(sequential bool) bool {
	x := &it.nodes[len(it.nodes)-1]
	offset, size := x.place(x.at)
	if sequential && offset <= it.block {
		return it.fail(corrupt(it.block, "the index goes back to %d", offset))
	}
	it.block, it.valid = -1, false
	h, payload, err := it.fetch.block(it.plain, offset, size, sequential)
	if err != nil {
		return it.fail(err)
	}
	if it.fetch.dec.codec != Plain {
		it.plain = payload[:0]
	}
	it.most = max(it.most, size+h.uncompressed)
	if err := it.cur.open(h.kind, payload); err != nil {
		return it.fail(corrupt(offset, "%w", err))
	}
	it.block = offset
	return true
}

// step moves to the first cell of a newly loaded block. A block without cells is corrupt.
func (it *Iterator) step() bool {
	if !it.cur.next() {
		if it.cur.err == nil {
			it.cur.err = errNoCells
		}
		return it.stop()
	}
	it.valid = true
	return true
}

// stop ends the iteration with the cursor's error, if it has one.
func (it *Iterator) stop() bool {
	if it.err == nil && it.cur.err != nil {
		return it.fail(corrupt(it.block, "%w", it.cur.err))
	}
	return it.end()
}

func (it *Iterator) fail(err error) bool {
	it.err = err
	return it.end()
}

// end leaves the Iterator without a current cell.
func (it *Iterator) end() bool {
	it.valid = false
	return false
}
