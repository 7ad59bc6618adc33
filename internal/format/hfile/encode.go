package hfile

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"usertrail/internal/cell"
)

// A follower is a cell, together with the result of comparing it with the cell before it
// in the block. The encoder then only has to compare the values.
type follower struct {
	*cell.Cell
	keyLen     int
	first      bool // first of its block; the fields below are then not set
	lastRow    int  // length of the previous row
	sameRow    bool
	commonRow  int // leading bytes of the row
	commonQual int // leading bytes of the qualifier, if sameRow
	sameColumn bool
	mvcc       uint64
}

// appendRest appends the number of bytes that the key shares with the previous key, and then
// the remaining bytes except time and type.
func (f *follower) appendRest(b []byte) []byte {
	if f.sameRow {
		b = appendCI(b, 2+len(f.Row)+1+len(f.Family)+f.commonQual)
		return append(b, f.Qualifier[f.commonQual:]...)
	}
	if len(f.Row) == f.lastRow {
		b = appendCI(b, 2+f.commonRow)
		return append(append(b, f.Row[f.commonRow:]...), f.Qualifier...)
	}
	if len(f.Row)>>8 == f.lastRow>>8 {
		b = append(b, 1, byte(len(f.Row)))
	} else {
		b = append(b, 0, byte(len(f.Row)>>8), byte(len(f.Row)))
	}
	return append(append(b, f.Row...), f.Qualifier...)
}

// A cellEncoder collects the cells of one data block.
type cellEncoder interface {
	kind() BlockType
	// add appends a cell.
	add(f *follower)
	// filled returns the bytes that count against the block size: the bytes of the
	// cells without encoding or, as in HBase, with encoding if that is more.
	filled() int
	// payload returns the block's payload, valid until reset.
	payload() []byte
	reset()
}

// newEncoder returns the encoder of an encoding that NewWriter has checked.
func newEncoder(e Encoding, t tail) cellEncoder {
	switch e {
	case Prefix:
		return &prefixEncoder{tail: t}
	case Diff:
		return &diffEncoder{tail: t}
	case FastDiff:
		return &fastDiffEncoder{tail: t}
	case RowIndex:
		return &rowIndexEncoder{plainEncoder: plainEncoder{tail: t}}
	}
	return &plainEncoder{tail: t}
}

// tail lists the optional parts that end each cell.
type tail struct {
	tags, mvcc bool
}

// size returns the plain size of f's tail.
func (t tail) size(f *follower) int {
	n := 0
	if t.tags {
		n += 2 + len(f.Tags)
	}
	if t.mvcc {
		n += vintLen(int64(f.mvcc))
	}
	return n
}

// plainSize returns the size of f in a block without encoding.
func (t tail) plainSize(f *follower) int { return 8 + f.keyLen + len(f.Value) + t.size(f) }

// appendTo appends f's tail to a block whose encoding shortens lengths.
func (t tail) appendTo(b []byte, f *follower) []byte {
	if t.tags {
		b = append(appendCI(b, len(f.Tags)), f.Tags...)
	}
	if t.mvcc {
		b = appendVint(b, int64(f.mvcc))
	}
	return b
}

// appendPreamble appends the bytes that encoded payloads begin with: the encoding's id, and
// room for the sum of the cells' plain sizes.
func appendPreamble(b []byte, id uint16) []byte {
	return append(binary.BigEndian.AppendUint16(b, id), 0, 0, 0, 0)
}

// withSum stores the sum of the plain sizes in a payload.
func withSum(payload []byte, sum int) []byte {
	binary.BigEndian.PutUint32(payload[2:], uint32(sum))
	return payload
}

// plainEncoder is encoding NONE.
type plainEncoder struct {
	tail
	buf []byte
}

func (e *plainEncoder) kind() BlockType { return DataBlock }
func (e *plainEncoder) filled() int     { return len(e.buf) }
func (e *plainEncoder) payload() []byte { return e.buf }
func (e *plainEncoder) reset()          { e.buf = e.buf[:0] }

func (e *plainEncoder) add(f *follower) {
	b := binary.BigEndian.AppendUint32(e.buf, uint32(f.keyLen))
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.Value)))
	b = append(appendKey(b, f.Cell), f.Value...)
	if e.tags {
		b = binary.BigEndian.AppendUint16(b, uint16(len(f.Tags)))
		b = append(b, f.Tags...)
	}
	if e.mvcc {
		b = appendVint(b, int64(f.mvcc))
	}
	e.buf = b
}

// Flags of FAST_DIFF. The low three bits are the number of leading bytes that the time shares
// with the previous time.
const (
	fastTimeBytes  = 0x07
	fastSameKeyLen = 0x08
	fastSameValLen = 0x10
	fastSameType   = 0x20
	fastSameValue  = 0x40
	fastUnknown    = 0x80
)

// fastDiffEncoder is encoding FAST_DIFF.
type fastDiffEncoder struct {
	tail
	buf []byte
	sum int // plain bytes

	// Fields of the previous cell. Its value is the value bytes at buf[valueAt:], where a run
	// of equal values was first written.
	keyLen  int
	typ     cell.Type
	time    int64
	valueAt int
	value   int
}

func (e *fastDiffEncoder) kind() BlockType { return EncodedBlock }
func (e *fastDiffEncoder) filled() int     { return e.sum }

func (e *fastDiffEncoder) reset() {
	e.buf = appendPreamble(e.buf[:0], idFastDiff)
	e.sum = 0
}

func (e *fastDiffEncoder) payload() []byte { return withSum(e.buf, e.sum) }

func (e *fastDiffEncoder) add(f *follower) {
	if f.first {
		e.addFirst(f)
	} else {
		e.addNext(f)
	}
	e.keyLen, e.typ, e.time = f.keyLen, f.Type, f.Time
	e.sum += e.plainSize(f)
	e.buf = e.appendTo(e.buf, f)
}

func (e *fastDiffEncoder) addFirst(f *follower) {
	b := append(e.buf, 0)
	b = appendCI(b, f.keyLen)
	b = appendCI(b, len(f.Value))
	b = append(b, 0)
	b = appendKey(b, f.Cell)
	e.valueAt, e.value = len(b), len(f.Value)
	e.buf = append(b, f.Value...)
}

func (e *fastDiffEncoder) addNext(f *follower) {
	at := len(e.buf)
	b := append(e.buf, 0)
	flag := byte(0)
	if f.keyLen == e.keyLen {
		flag |= fastSameKeyLen
	} else {
		b = appendCI(b, f.keyLen)
	}
	same := false
	if len(f.Value) == e.value {
		flag |= fastSameValLen
		if same = bytes.Equal(f.Value, b[e.valueAt:e.valueAt+e.value]); same {
			flag |= fastSameValue
		}
	} else {
		b = appendCI(b, len(f.Value))
	}
	b = f.appendRest(b)

	equal := min(bits.LeadingZeros64(uint64(f.Time)^uint64(e.time))/8, 7)
	flag |= byte(equal)
	b = binary.BigEndian.AppendUint64(b, uint64(f.Time)<<(8*equal))
	b = b[:len(b)-equal]
	if f.Type == e.typ {
		flag |= fastSameType
	} else {
		b = append(b, byte(f.Type))
	}
	if !same {
		e.valueAt, e.value = len(b), len(f.Value)
		b = append(b, f.Value...)
	}
	b[at] = flag
	e.buf = b
}
