package bulkload

import (
	"encoding/binary"
	"errors"

	"usertrail/internal/behaviour"
)

// errPacked says that a record did not come back from shuffle as it went in.
var errPacked = errors.New("packed record is damaged")

// A packed record is what shuffle carries beside row and column ID:
//
//	int32 input | uint8 kind | int64 time | int32 date | each value: uvarint length + 1, or 0 for null; bytes
//
// Numbers are big endian. The values are the bytes that cells will hold.
const packedHead = 4 + 1 + 8 + 4

func appendPacked(dst []byte, input int, r *behaviour.Record) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(input))
	dst = append(dst, byte(r.Kind))
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

// unpack is the inverse of appendPacked. r's values refer to b.
func unpack(b []byte, r *behaviour.Record) (input int, err error) {
	if len(b) < packedHead {
		return 0, errPacked
	}
	input = int(binary.BigEndian.Uint32(b))
	r.Kind = int(b[4])
	r.Time = int64(binary.BigEndian.Uint64(b[5:]))
	r.Date = behaviour.Date(int32(binary.BigEndian.Uint32(b[13:])))
	r.Values = r.Values[:0]
	for b = b[packedHead:]; len(b) > 0; {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used)+1 {
			return 0, errPacked
		}
		b = b[used:]
		if n == 0 {
			r.Values = append(r.Values, nil)
			continue
		}
		r.Values = append(r.Values, b[:n-1:n-1])
		b = b[n-1:]
	}
	return input, nil
}
