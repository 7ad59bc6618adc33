package hfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"usertrail/internal/cell"
)

// A layout describes how the cells of a file's data blocks are written.
type layout struct {
	encoding       Encoding
	tail           tail
	compressedTags bool
}

// A cursor iterates over the cells of one block. Its cell refers to the block and to the
// cursor's own buffers. The cell is valid until the next call.
type cursor struct {
	layout
	cell    cell.Cell
	sameRow bool // the cell's row equals the row of the previous cell in the block

	id    uint16 // of the encoding
	block []byte // the cells
	pos   int    // of the next cell
	first bool   // the next cell is the block's first
	err   error

	// Parts of the previous cell, for encodings that refer to it. row includes the two length
	// bytes.
	keyLen int
	row    []byte
	qual   []byte // the qualifier, if it was assembled here
	joined bool   // qual holds the qualifier
	key    []byte // the whole key, for PREFIX

	dict tagDict // for compressed tags
	tags []byte  // the cell's tags, if they were compressed
}

var (
	errCellEnds = errors.New("a cell ends after its block")
	errCell     = errors.New("a cell's lengths do not add up")
	errNoCells  = errors.New("a data block without cells")
)

// open puts c before the first cell of a data block's payload.
func (c *cursor) open(kind BlockType, payload []byte) error {
	c.block, c.err = nil, nil
	id, _ := c.encoding.id()
	c.id = id
	if (kind == EncodedBlock) != (id != 0) || !kind.data() {
		return fmt.Errorf("a %s in a file of encoding %s", kind, c.encoding)
	}
	if id == 0 {
		c.block = payload
		c.rewind()
		return nil
	}
	if len(payload) < 2 || binary.BigEndian.Uint16(payload) != id {
		return fmt.Errorf("encoding %.4x, want %s", payload, c.encoding)
	}
	return c.openEncoded(payload[2:])
}

// openEncoded reads the part of the payload after the encoding's id.
func (c *cursor) openEncoded(b []byte) error {
	if len(b) < 4 {
		return errCellEnds
	}
	c.block = b[4:]
	switch c.encoding {
	case RowIndex:
		cells, err := rowIndexCells(b)
		if err != nil {
			return err
		}
		c.block = cells
	case Diff:
		// The family is stored once, before the first cell.
		if len(b) < 5 || int(b[4]) > maxFamily || len(b) < 5+int(b[4]) {
			return errCellEnds
		}
		c.cell.Family = b[5 : 5+int(b[4])]
		c.block = b[5+int(b[4]):]
	}
	c.rewind()
	return nil
}

// rowIndexCells removes the table of rows that follows the cells.
func rowIndexCells(b []byte) ([]byte, error) {
	n := int(binary.BigEndian.Uint32(b[len(b)-4:]))
	if n > len(b)-8 {
		return nil, errCellEnds
	}
	rows := int(binary.BigEndian.Uint32(b[n:]))
	if rows != (len(b)-8-n)/4 || (len(b)-8-n)%4 != 0 {
		return nil, fmt.Errorf("a table of %d rows in %d bytes", rows, len(b)-8-n)
	}
	return b[:n], nil
}

// rewind moves back to before the first cell.
func (c *cursor) rewind() {
	c.pos, c.first, c.sameRow = 0, true, false
	c.dict.clear()
}

// next moves to the next cell. It returns false at the end of the block. If the next cell
// cannot be read, it returns false and sets err.
func (c *cursor) next() bool {
	if c.pos >= len(c.block) {
		return false
	}
	switch c.id {
	case idFastDiff:
		return c.nextFastDiff()
	case idDiff:
		return c.nextDiff()
	case idPrefix:
		return c.nextPrefix()
	}
	return c.nextPlain()
}

// fail ends the block with an error, because nothing after the bad cell can be trusted.
func (c *cursor) fail(err error) bool {
	c.err, c.pos = err, len(c.block)
	return false
}

// nextPlain reads a cell that does not refer to the previous cell.
func (c *cursor) nextPlain() bool {
	b := c.block[c.pos:]
	if len(b) < 8 {
		return c.fail(errCellEnds)
	}
	key, value := int(int32(binary.BigEndian.Uint32(b))), int(int32(binary.BigEndian.Uint32(b[4:])))
	if key < keyOverhead || value < 0 || key > len(b)-8 || value > len(b)-8-key {
		return c.fail(errCell)
	}
	old := c.cell.Row
	if err := parseKey(&c.cell, b[8:8+key]); err != nil {
		return c.fail(err)
	}
	c.cell.Value = b[8+key : 8+key+value : 8+key+value]
	c.sameRow = !c.first && bytes.Equal(old, c.cell.Row)
	c.first = false
	return c.nextTail(c.pos+8+key+value, true)
}

// nextTail reads the tail that follows the value at p and ends the cell there. If plain is
// set, the tags' length has two bytes.
func (c *cursor) nextTail(p int, plain bool) bool {
	b := c.block
	if c.tail.tags {
		n := 0
		if plain {
			if p+2 > len(b) {
				return c.fail(errCellEnds)
			}
			n, p = int(binary.BigEndian.Uint16(b[p:])), p+2
		} else {
			n, p = ci(b, p)
		}
		switch {
		case c.compressedTags && n > 0:
			p = c.expandTags(p, n)
		case p > len(b) || n > len(b)-p:
			p = beyond
		default:
			c.cell.Tags = b[p : p+n : p+n]
			p += n
		}
		if p > len(b) {
			return c.fail(errCellEnds)
		}
	}
	if c.tail.mvcc {
		if p < len(b) && b[p] == 0 {
			c.cell.MVCC, c.pos = 0, p+1
			return true
		}
		var v int64
		v, p = vint(b, p)
		c.cell.MVCC = uint64(v)
	}
	if p > len(b) {
		return c.fail(errCellEnds)
	}
	c.pos = p
	return true
}
