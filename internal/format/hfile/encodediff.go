package hfile

import (
	"encoding/binary"
	"math/bits"

	"usertrail/internal/cell"
)

// diffEncoder is encoding DIFF.
type diffEncoder struct {
	tail
	buf []byte
	sum int // plain bytes

	// Fields of the previous cell.
	keyLen int
	value  int // bytes
	typ    cell.Type
	time   int64
}

func (e *diffEncoder) kind() BlockType { return EncodedBlock }
func (e *diffEncoder) filled() int     { return e.sum }
func (e *diffEncoder) payload() []byte { return withSum(e.buf, e.sum) }

func (e *diffEncoder) reset() {
	e.buf = appendPreamble(e.buf[:0], idDiff)
	e.sum = 0
}

func (e *diffEncoder) add(f *follower) {
	if f.first {
		e.buf = append(append(e.buf, byte(len(f.Family))), f.Family...)
	}
	flag, time := e.flag(f)
	b := append(e.buf, flag)
	if flag&diffSameKeyLen == 0 {
		b = appendCI(b, f.keyLen)
	}
	if flag&diffSameValLen == 0 {
		b = appendCI(b, len(f.Value))
	}
	if f.first {
		b = binary.BigEndian.AppendUint16(append(b, 0), uint16(len(f.Row)))
		b = append(append(b, f.Row...), f.Qualifier...)
	} else {
		b = f.appendRest(b)
	}
	for n := magnitudeLen(time); n > 0; n-- {
		b = append(b, byte(time))
		time >>= 8
	}
	if flag&diffSameType == 0 {
		b = append(b, byte(f.Type))
	}
	e.buf = e.appendTo(append(b, f.Value...), f)
	e.sum += e.plainSize(f)
	e.keyLen, e.value, e.typ, e.time = f.keyLen, len(f.Value), f.Type, f.Time
}

// flag returns the flag byte of f, which records the parts that equal the previous cell and
// the form of the time. time is the magnitude of the time or, if that needs fewer bytes, of its
// difference to the previous time.
func (e *diffEncoder) flag(f *follower) (flag byte, time uint64) {
	written := f.Time
	if !f.first {
		if f.keyLen == e.keyLen {
			flag |= diffSameKeyLen
		}
		if len(f.Value) == e.value {
			flag |= diffSameValLen
		}
		if f.Type == e.typ {
			flag |= diffSameType
		}
		if less := e.time - f.Time; magnitudeLen(magnitude(less)) < magnitudeLen(magnitude(f.Time)) {
			flag |= diffTime
			written = less
		}
	}
	if written < 0 {
		flag |= diffNegative
	}
	time = magnitude(written)
	return flag | byte(magnitudeLen(time)-1)<<4, time
}

// magnitude returns |v|. It is also right for the least int64.
func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// magnitudeLen returns the number of bytes, at least one, of v.
func magnitudeLen(v uint64) int { return max((bits.Len64(v)+7)/8, 1) }
