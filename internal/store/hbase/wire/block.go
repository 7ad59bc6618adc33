package wire

import (
	"encoding/binary"
	"fmt"

	"usertrail/internal/cell"
)

// The bytes of a cell in a block, in addition to its row, family, qualifier and value.
const (
	blockFixed = 4 + 4 + 4 + keyFixed
	keyFixed   = 2 + 1 + 8 + 1
)

// CellSize returns the number of bytes that AppendCell appends for c.
func CellSize(c *cell.Cell) int {
	return blockFixed + len(c.Row) + len(c.Family) + len(c.Qualifier) + len(c.Value)
}

// AppendCell appends c to a cell block, without its tags and MVCC. A row may have 32767 bytes
// and a family 255.
func AppendCell(dst []byte, c *cell.Cell) []byte {
	key := keyFixed + len(c.Row) + len(c.Family) + len(c.Qualifier)
	dst = binary.BigEndian.AppendUint32(dst, uint32(8+key+len(c.Value)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(key))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(c.Value)))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(c.Row)))
	dst = append(dst, c.Row...)
	dst = append(dst, byte(len(c.Family)))
	dst = append(dst, c.Family...)
	dst = append(dst, c.Qualifier...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.Time))
	dst = append(dst, byte(c.Type))
	return append(dst, c.Value...)
}

// Cells are cells of a block. The zero Cells has none.
type Cells struct {
	block []byte // whole cells
	count int
	err   error
}

// TakeCells cuts the first n cells off a block. It allocates nothing: the cells alias block
// and are valid as long as block.
func TakeCells(block []byte, n int) (Cells, []byte, error) {
	if n < 0 {
		return Cells{}, nil, fmt.Errorf("cell block: %w: count of %d", ErrMalformed, n)
	}
	at := 0
	for i := range n {
		if len(block)-at < 4 {
			return Cells{}, nil, fmt.Errorf("cell block: %w: it ends after %d of %d cells", ErrMalformed, i, n)
		}
		size := int64(binary.BigEndian.Uint32(block[at:]))
		if size > int64(len(block)-at-4) {
			return Cells{}, nil, fmt.Errorf("cell block: %w: cell %d has %d bytes, but only %d are left", ErrMalformed, i, size, len(block)-at-4)
		}
		at += 4 + int(size)
	}
	return Cells{block: block[:at:at], count: n}, block[at:], nil
}

// Len returns the number of cells that Next has not returned yet.
func (s *Cells) Len() int { return s.count }

// Size returns the number of bytes of these cells in the block.
func (s *Cells) Size() int { return len(s.block) }

// Next sets c to the next cell. Its bytes alias the block, clipped. It has no tags and no
// MVCC. Next returns false after the last cell, and on an error, which Err returns.
func (s *Cells) Next(c *cell.Cell) bool {
	if s.count == 0 {
		return false
	}
	size := int(binary.BigEndian.Uint32(s.block))
	if !parseCell(s.block[4:4+size], c) {
		s.err = fmt.Errorf("cell block: %w: lengths within a cell of %d bytes do not add up", ErrMalformed, size)
		s.count = 0
		return false
	}
	s.block = s.block[4+size:]
	s.count--
	return true
}

// Err returns the error that stopped Next.
func (s *Cells) Err() error { return s.err }

// parseCell parses the part of a cell after its length.
func parseCell(b []byte, c *cell.Cell) bool {
	if len(b) < blockFixed-4 {
		return false
	}
	keyLen := int64(binary.BigEndian.Uint32(b))
	valueLen := int64(binary.BigEndian.Uint32(b[4:]))
	if 8+keyLen+valueLen != int64(len(b)) || keyLen < keyFixed {
		return false
	}
	key, value := b[8:8+keyLen:8+keyLen], b[8+keyLen:len(b):len(b)]
	row := int(binary.BigEndian.Uint16(key))
	if keyFixed+row > len(key) {
		return false
	}
	family := int(key[2+row])
	if keyFixed+row+family > len(key) {
		return false
	}
	tail := len(key) - 9
	c.Row = key[2 : 2+row : 2+row]
	c.Family = key[3+row : 3+row+family : 3+row+family]
	c.Qualifier = key[3+row+family : tail : tail]
	c.Time = int64(binary.BigEndian.Uint64(key[tail:]))
	c.Type = cell.Type(key[len(key)-1])
	c.Value = value
	c.Tags, c.MVCC = nil, 0
	return true
}
