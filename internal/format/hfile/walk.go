package hfile

import (
	"bytes"
	"iter"
)

// A Block describes one block of a file, for programs that display files.
type Block struct {
	Offset       int64
	Type         BlockType
	Size         int    // on disk, header and checksums included
	Stored       int    // bytes of the payload as stored
	Uncompressed int    // bytes of the payload
	Previous     int64  // offset of the previous block of the same kind, or -1
	Cells        int    // of a data block
	FirstRow     []byte // of a data block
	FirstKey     []byte // of a data block: the whole key of its first cell
	Payload      []byte // decompressed, valid until the next block
}

// Blocks iterates over all blocks of the file in the order of its bytes, and checks each.
// It ends after the first error.
func (r *Reader) Blocks() iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		s := newScanner(r, 0, r.size-trailerLen)
		cur := cursor{layout: r.layout}
		for s.next() {
			b, err := describe(s, &cur)
			if !yield(b, err) || err != nil {
				return
			}
		}
		if s.err != nil {
			yield(Block{}, s.err)
		}
	}
}

// describe returns a Block for the scanner's current block.
func describe(s *scanner, cur *cursor) (Block, error) {
	h := &s.header
	b := Block{
		Offset:       s.offset,
		Type:         h.kind,
		Size:         h.size(),
		Stored:       h.stored - headerLen,
		Uncompressed: h.uncompressed,
		Previous:     h.prev,
	}
	var err error
	if b.Payload, err = s.payload(); err != nil || !h.kind.data() {
		return b, err
	}
	if err := cur.open(h.kind, b.Payload); err != nil {
		return b, corrupt(s.offset, "%w", err)
	}
	for cur.next() {
		if b.Cells == 0 {
			b.FirstRow = bytes.Clone(cur.cell.Row)
			b.FirstKey = appendKey(nil, &cur.cell)
		}
		b.Cells++
	}
	if cur.err != nil {
		return b, corrupt(s.offset, "cell %d: %w", b.Cells, cur.err)
	}
	return b, nil
}
