package hfile

import (
	"math/bits"

	"usertrail/internal/cell"
)

// prefixEncoder is encoding PREFIX.
type prefixEncoder struct {
	tail
	buf []byte
	sum int // plain bytes
	key []byte

	// Fields of the previous cell.
	typ  cell.Type
	time int64
}

func (e *prefixEncoder) kind() BlockType { return EncodedBlock }
func (e *prefixEncoder) filled() int     { return e.sum }
func (e *prefixEncoder) payload() []byte { return withSum(e.buf, e.sum) }

func (e *prefixEncoder) reset() {
	e.buf = appendPreamble(e.buf[:0], idPrefix)
	e.sum = 0
}

func (e *prefixEncoder) add(f *follower) {
	e.key = appendKey(e.key[:0], f.Cell)
	common := e.common(f)
	b := appendCI(e.buf, f.keyLen-common)
	b = appendCI(b, len(f.Value))
	b = appendCI(b, common)
	b = append(append(b, e.key[common:]...), f.Value...)
	e.buf = e.appendTo(b, f)
	e.sum += e.plainSize(f)
	e.typ, e.time = f.Type, f.Time
}

// common returns the number of leading bytes that f's key shares with the previous key.
func (e *prefixEncoder) common(f *follower) int {
	switch {
	case f.first:
		return 0
	case f.sameColumn:
		n := f.keyLen - 9 + bits.LeadingZeros64(uint64(f.Time)^uint64(e.time))/8
		if f.Time == e.time && f.Type == e.typ {
			n++
		}
		return n
	case f.sameRow:
		return 2 + len(f.Row) + 1 + len(f.Family) + f.commonQual
	case len(f.Row) == f.lastRow:
		return 2 + f.commonRow
	case len(f.Row)>>8 == f.lastRow>>8:
		return 1
	}
	return 0
}
