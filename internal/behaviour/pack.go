package behaviour

import (
	"encoding/binary"
	"errors"
)

var errPacked = errors.New("packed record is damaged")

// A packed record is a record without its user and column ID:
//
//	kind | int64 time | int32 date | each value: uvarint length + 1, or 0 for null; bytes
//
// A kind below 255 is one byte. Another kind is the byte 255 and the kind in two bytes. Numbers
// are big endian. The values are the bytes of cells.
const (
	packedHead = 8 + 4
	largeKind  = 255
)

// AppendPacked appends r in the form that Unpack reads.
func AppendPacked(dst []byte, r *Record) []byte {
	if r.Kind < largeKind {
		dst = append(dst, byte(r.Kind))
	} else {
		dst = append(dst, largeKind, byte(r.Kind>>8), byte(r.Kind))
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.Time))
	dst = binary.BigEndian.AppendUint32(dst, uint32(r.Date))
	for _, v := range r.Values {
		if v == nil {
			dst = append(dst, 0)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(v))+1)
		dst = append(dst, v...)
	}
	return dst
}

// Unpack is the inverse of AppendPacked. r's values refer to b. Its user and column ID do not
// change.
func (r *Record) Unpack(b []byte) error {
	if len(b) < 1+packedHead {
		return errPacked
	}
	if r.Kind, b = int(b[0]), b[1:]; r.Kind == largeKind {
		if r.Kind, b = int(binary.BigEndian.Uint16(b)), b[2:]; len(b) < packedHead {
			return errPacked
		}
	}
	r.Time = int64(binary.BigEndian.Uint64(b))
	r.Date = Date(int32(binary.BigEndian.Uint32(b[8:])))
	r.Values = r.Values[:0]
	for b = b[packedHead:]; len(b) > 0; {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used)+1 {
			return errPacked
		}
		b = b[used:]
		if n == 0 {
			r.Values = append(r.Values, nil)
			continue
		}
		r.Values = append(r.Values, b[:n-1:n-1])
		b = b[n-1:]
	}
	return nil
}
