package hfile

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"usertrail/internal/cell"
)

// slowEncoder encodes a block in the simplest way that follows the drawing in the package
// comment. It is the oracle for the encoders.
type slowEncoder struct {
	encoding Encoding
	tail
	cells []cell.Cell
	sum   int
}

func (e *slowEncoder) kind() BlockType {
	if e.encoding == NoEncoding {
		return DataBlock
	}
	return EncodedBlock
}

func (e *slowEncoder) reset() { e.cells, e.sum = nil, 0 }

func (e *slowEncoder) filled() int {
	if e.encoding == RowIndex {
		_, rows := e.plainCells()
		return e.sum + 4*len(rows)
	}
	return e.sum
}

func (e *slowEncoder) add(f *follower) {
	c := *f.Clone()
	c.MVCC = f.mvcc
	e.cells = append(e.cells, c)
	e.sum += 8 + f.keyLen + len(f.Value) + e.size(f)
}

func (e *slowEncoder) payload() []byte {
	id, _ := e.encoding.id()
	b := binary.BigEndian.AppendUint16(nil, id)
	switch e.encoding {
	case NoEncoding:
		cells, _ := e.plainCells()
		return cells
	case RowIndex:
		cells, rows := e.plainCells()
		b = append(b, cells...)
		b = binary.BigEndian.AppendUint32(b, uint32(len(rows)))
		for _, r := range rows {
			b = binary.BigEndian.AppendUint32(b, uint32(r))
		}
		return binary.BigEndian.AppendUint32(b, uint32(len(cells)))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(e.sum))
	if e.encoding == Diff {
		b = append(append(b, byte(len(e.cells[0].Family))), e.cells[0].Family...)
	}
	for i := range e.cells {
		var prev *cell.Cell
		if i > 0 {
			prev = &e.cells[i-1]
		}
		switch e.encoding {
		case Prefix:
			b = e.prefix(b, &e.cells[i], prev)
		case Diff:
			b = e.diff(b, &e.cells[i], prev)
		case FastDiff:
			b = e.fastDiff(b, &e.cells[i], prev)
		}
		b = e.appendTail(b, &e.cells[i])
	}
	return b
}

// plainCells returns the cells without encoding, and the start of each row.
func (e *slowEncoder) plainCells() ([]byte, []int) {
	var b []byte
	var rows []int
	for i := range e.cells {
		c := &e.cells[i]
		if i == 0 || !bytes.Equal(c.Row, e.cells[i-1].Row) {
			rows = append(rows, len(b))
		}
		key := appendKey(nil, c)
		b = binary.BigEndian.AppendUint32(b, uint32(len(key)))
		b = binary.BigEndian.AppendUint32(b, uint32(len(c.Value)))
		b = append(append(b, key...), c.Value...)
		if e.tags {
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(c.Tags))), c.Tags...)
		}
		if e.mvcc {
			b = appendVint(b, int64(c.MVCC))
		}
	}
	return b, rows
}

func (e *slowEncoder) appendTail(b []byte, c *cell.Cell) []byte {
	if e.tags {
		b = append(appendCI(b, len(c.Tags)), c.Tags...)
	}
	if e.mvcc {
		b = appendVint(b, int64(c.MVCC))
	}
	return b
}

// slowCommon is the number of leading bytes that the keys of c and prev share.
func slowCommon(c, prev *cell.Cell, withTime bool) int {
	if prev == nil {
		return 0
	}
	a, b := appendKey(nil, c), appendKey(nil, prev)
	if len(c.Row) != len(prev.Row) {
		return equalBytes(a[:2], b[:2])
	}
	n := equalBytes(c.Row, prev.Row)
	if n < len(c.Row) {
		return 2 + n
	}
	n += 2 + 1 + len(c.Family) + equalBytes(c.Qualifier, prev.Qualifier)
	if withTime && bytes.Equal(c.Qualifier, prev.Qualifier) {
		n += equalBytes(a[len(a)-9:], b[len(b)-9:])
	}
	return n
}

func equalBytes(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// slowRest returns the part of c's key after common bytes, without family, time and type.
func slowRest(c *cell.Cell, common int) []byte {
	row := append(binary.BigEndian.AppendUint16(nil, uint16(len(c.Row))), c.Row...)
	if common < len(row) {
		return append(row[common:], c.Qualifier...)
	}
	return c.Qualifier[common-len(row)-1-len(c.Family):]
}

func (e *slowEncoder) prefix(b []byte, c, prev *cell.Cell) []byte {
	key, common := appendKey(nil, c), slowCommon(c, prev, true)
	b = appendCI(b, len(key)-common)
	b = appendCI(b, len(c.Value))
	b = appendCI(b, common)
	return append(append(b, key[common:]...), c.Value...)
}

func (e *slowEncoder) fastDiff(b []byte, c, prev *cell.Cell) []byte {
	if prev == nil {
		b = appendCI(append(b, 0), keyLen(c))
		b = append(appendCI(b, len(c.Value)), 0)
		return append(appendKey(b, c), c.Value...)
	}
	now, old := be64(c.Time), be64(prev.Time)
	equal := min(equalBytes(now, old), 7)
	sameValue := bytes.Equal(c.Value, prev.Value)
	flag := byte(equal)
	var lengths, rest []byte
	if keyLen(c) == keyLen(prev) {
		flag |= 0x08
	} else {
		lengths = appendCI(lengths, keyLen(c))
	}
	if len(c.Value) == len(prev.Value) {
		flag |= 0x10
	} else {
		lengths = appendCI(lengths, len(c.Value))
	}
	rest = append(rest, now[equal:]...)
	if c.Type == prev.Type {
		flag |= 0x20
	} else {
		rest = append(rest, byte(c.Type))
	}
	if sameValue {
		flag |= 0x40
	} else {
		rest = append(rest, c.Value...)
	}
	common := slowCommon(c, prev, false)
	b = append(append(b, flag), lengths...)
	b = append(appendCI(b, common), slowRest(c, common)...)
	return append(b, rest...)
}

func (e *slowEncoder) diff(b []byte, c, prev *cell.Cell) []byte {
	flag, v := byte(0), c.Time
	var lengths []byte
	if prev != nil && keyLen(c) == keyLen(prev) {
		flag |= 0x01
	} else {
		lengths = appendCI(lengths, keyLen(c))
	}
	if prev != nil && len(c.Value) == len(prev.Value) {
		flag |= 0x02
	} else {
		lengths = appendCI(lengths, len(c.Value))
	}
	if prev != nil && c.Type == prev.Type {
		flag |= 0x04
	}
	if prev != nil && littleBytes(prev.Time-c.Time) < littleBytes(c.Time) {
		flag |= 0x08
		v = prev.Time - c.Time
	}
	n := littleBytes(v)
	flag |= byte(n-1) << 4
	if v < 0 {
		flag |= 0x80
		v = -v
	}
	common := slowCommon(c, prev, false)
	b = append(append(b, flag), lengths...)
	b = append(appendCI(b, common), slowRest(c, common)...)
	b = append(b, binary.LittleEndian.AppendUint64(nil, uint64(v))[:n]...)
	if flag&0x04 == 0 {
		b = append(b, byte(c.Type))
	}
	return append(b, c.Value...)
}

// littleBytes returns the number of bytes, at least one, of |v|.
func littleBytes(v int64) int {
	if v < 0 {
		v = -v
	}
	return max((bits.Len64(uint64(v))+7)/8, 1)
}
