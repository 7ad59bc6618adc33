package hfile

import (
	"encoding/binary"

	"usertrail/internal/cell"
)

// nextFastDiff reads a cell of encoding FAST_DIFF.
func (c *cursor) nextFastDiff() bool {
	if c.first {
		return c.firstFastDiff()
	}
	b := c.block
	flag, p := b[c.pos], c.pos+1
	keyLen, valueLen := c.keyLen, len(c.cell.Value)
	if flag&fastSameKeyLen == 0 {
		keyLen, p = ci(b, p)
	}
	if flag&fastSameValLen == 0 {
		valueLen, p = ci(b, p)
	}
	common, p := ci(b, p)
	p = c.rest(p, keyLen, common)
	if flag&fastUnknown != 0 || p > len(b) {
		return c.fail(errCell)
	}
	p = c.fastTime(p, uint(flag&fastTimeBytes))
	if flag&fastSameType == 0 {
		if p >= len(b) {
			return c.fail(errCellEnds)
		}
		c.cell.Type, p = cell.Type(b[p]), p+1
	}
	if flag&fastSameValue == 0 {
		if p > len(b) || valueLen > len(b)-p {
			return c.fail(errCellEnds)
		}
		c.cell.Value = b[p : p+valueLen : p+valueLen]
		p += valueLen
	} else if valueLen != len(c.cell.Value) {
		return c.fail(errCell)
	}
	if p < len(b) && b[p] == 0 && c.tail == (tail{mvcc: true}) {
		c.cell.MVCC, c.pos = 0, p+1
		return true
	}
	return c.nextTail(p, false)
}

// fastTime reads the time at p and returns the position after it. The first equal bytes of
// the time are the same as in the previous cell.
func (c *cursor) fastTime(p int, equal uint) int {
	b := c.block
	old := uint64(c.cell.Time)
	n := 8 - int(equal)
	if p+8 <= len(b) {
		v := binary.BigEndian.Uint64(b[p:]) >> (8 * equal)
		c.cell.Time = int64(old&^(1<<(8*n)-1) | v)
		return p + n
	}
	if p+n > len(b) {
		return beyond
	}
	var v uint64
	for _, x := range b[p : p+n] {
		v = v<<8 | uint64(x)
	}
	c.cell.Time = int64(old&^(1<<(8*n)-1) | v)
	return p + n
}

// firstFastDiff reads the first cell of a block, which is stored completely.
func (c *cursor) firstFastDiff() bool {
	b := c.block
	keyLen, p := ci(b, c.pos+1)
	valueLen, p := ci(b, p)
	common, p := ci(b, p)
	if b[c.pos] != 0 || common != 0 || p > len(b) || keyLen > len(b)-p || valueLen > len(b)-p-keyLen {
		return c.fail(errCell)
	}
	if err := parseKey(&c.cell, b[p:p+keyLen]); err != nil {
		return c.fail(err)
	}
	p += keyLen
	c.cell.Value = b[p : p+valueLen : p+valueLen]
	c.begin(keyLen)
	return c.nextTail(p+valueLen, false)
}

// begin stores the key of c.cell, the first of its block, for the next key to refer to.
func (c *cursor) begin(keyLen int) {
	c.keyLen = keyLen
	c.row = binary.BigEndian.AppendUint16(c.row[:0], uint16(len(c.cell.Row)))
	c.row = append(c.row, c.cell.Row...)
	c.first, c.sameRow, c.joined = false, false, false
}

// rest reads the part of a key at p that follows the common bytes. It is either the end of
// the qualifier, or row and qualifier. rest returns the position after it.
func (c *cursor) rest(p, keyLen, common int) int {
	if common >= len(c.row) {
		return c.restOfQualifier(p, keyLen, common-len(c.row)-1-len(c.cell.Family))
	}
	b := c.block
	rowLen := len(c.row) - 2
	if common < 2 {
		// The length itself differs, so its remaining bytes come first.
		var n [2]byte
		copy(n[:], c.row[:common])
		if p > len(b)-2 {
			return beyond
		}
		p += copy(n[common:], b[p:])
		rowLen, common = int(binary.BigEndian.Uint16(n[:])), 2
		if rowLen > maxRow {
			return beyond
		}
		c.row = append(c.row[:0], n[:]...)
	}
	more := 2 + rowLen - common
	qualLen := keyLen - keyOverhead - rowLen - len(c.cell.Family)
	if p > len(b) || more > len(b)-p || qualLen < 0 || qualLen > len(b)-p-more {
		return beyond
	}
	c.row = append(c.row[:common], b[p:p+more]...)
	p += more
	c.cell.Row = c.row[2:]
	c.cell.Qualifier = b[p : p+qualLen : p+qualLen]
	c.keyLen, c.sameRow, c.joined = keyLen, false, false
	return p + qualLen
}

// restOfQualifier is rest for a key that equals the previous key up to the first same bytes
// of the qualifier.
func (c *cursor) restOfQualifier(p, keyLen, same int) int {
	b, old := c.block, c.cell.Qualifier
	more := keyLen - keyOverhead - (len(c.row) - 2) - len(c.cell.Family) - same
	if same < 0 || same > len(old) || more < 0 || p > len(b) || more > len(b)-p {
		return beyond
	}
	c.keyLen, c.sameRow = keyLen, true
	end := p + more
	if same == 0 {
		c.cell.Qualifier, c.joined = b[p:end:end], false
		return end
	}
	n := same + more
	if !c.joined || n != len(old) {
		c.join(old[:same], n)
	}
	// Most ends are short, and storing eight bytes is cheaper than a call.
	if q := c.qual[same:]; more <= 8 && len(q) >= 8 && p+8 <= len(b) {
		binary.LittleEndian.PutUint64(q, binary.LittleEndian.Uint64(b[p:]))
	} else {
		copy(q, b[p:end])
	}
	return end
}

// join sets the qualifier to n bytes of c.qual that start with begin. c.qual has spare room
// after them.
func (c *cursor) join(begin []byte, n int) {
	if len(c.qual) < n+8 {
		c.qual = make([]byte, 2*n+64)
		c.joined = false
	}
	if !c.joined {
		copy(c.qual, begin)
		c.joined = true
	}
	c.cell.Qualifier = c.qual[:n:n]
}

// Flags of DIFF.
const (
	diffSameKeyLen = 0x01
	diffSameValLen = 0x02
	diffSameType   = 0x04
	diffTime       = 0x08 // the stored number is the previous time minus the time
	diffNegative   = 0x80
)

// nextDiff reads a cell of encoding DIFF.
func (c *cursor) nextDiff() bool {
	b := c.block
	flag, p := b[c.pos], c.pos+1
	if c.first {
		if flag&(diffSameKeyLen|diffSameValLen|diffSameType|diffTime) != 0 {
			return c.fail(errCell)
		}
		c.row = append(c.row[:0], 0, 0)
	}
	keyLen, valueLen := c.keyLen, len(c.cell.Value)
	if flag&diffSameKeyLen == 0 {
		keyLen, p = ci(b, p)
	}
	if flag&diffSameValLen == 0 {
		valueLen, p = ci(b, p)
	}
	common, p := ci(b, p)
	if c.first && common != 0 {
		return c.fail(errCell)
	}
	p = c.rest(p, keyLen, common)
	p = c.diffTime(p, flag)
	if flag&diffSameType == 0 {
		if p >= len(b) {
			return c.fail(errCellEnds)
		}
		c.cell.Type, p = cell.Type(b[p]), p+1
	}
	if p > len(b) || valueLen > len(b)-p {
		return c.fail(errCellEnds)
	}
	c.cell.Value = b[p : p+valueLen : p+valueLen]
	c.first = false
	return c.nextTail(p+valueLen, false)
}

// diffTime reads the time at p, which is stored little endian.
func (c *cursor) diffTime(p int, flag byte) int {
	n := int(flag>>4&7) + 1
	if p > len(c.block)-n {
		return beyond
	}
	var v int64
	for i, x := range c.block[p : p+n] {
		v |= int64(x) << (8 * i)
	}
	if flag&diffNegative != 0 {
		v = -v
	}
	if flag&diffTime != 0 {
		v = c.cell.Time - v
	}
	c.cell.Time = v
	return p + n
}

// nextPrefix reads a cell of encoding PREFIX.
func (c *cursor) nextPrefix() bool {
	b := c.block
	more, p := ci(b, c.pos)
	valueLen, p := ci(b, p)
	common, p := ci(b, p)
	if p > len(b) || more > len(b)-p || valueLen > len(b)-p-more {
		return c.fail(errCellEnds)
	}
	if c.first {
		c.key = c.key[:0]
	}
	if common > len(c.key) {
		return c.fail(errCell)
	}
	old := 2 + len(c.cell.Row)
	c.key = append(c.key[:common], b[p:p+more]...)
	if err := parseKey(&c.cell, c.key); err != nil {
		return c.fail(err)
	}
	c.sameRow = !c.first && common >= old && old == 2+len(c.cell.Row)
	c.first = false
	p += more
	c.cell.Value = b[p : p+valueLen : p+valueLen]
	return c.nextTail(p+valueLen, false)
}
