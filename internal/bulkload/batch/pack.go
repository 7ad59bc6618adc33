package batch

import (
	"encoding/binary"
	"fmt"

	"usertrail/internal/behaviour"
)

// A packed record is the payload of a record in the sorter:
//
//	index of its input, 4 bytes, big endian | uvarint text+1 | behaviour.AppendPacked
//
// text is the number of the text that names the behaviour, -1 if the path names it.
func appendPacked(dst []byte, input, text int, r *behaviour.Record) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(input))
	return behaviour.AppendPacked(binary.AppendUvarint(dst, uint64(text+1)), r)
}

// unpack is the inverse of appendPacked. r's values refer to b.
func unpack(b []byte, r *behaviour.Record) (input, text int, err error) {
	if input, err = inputOf(b); err != nil {
		return 0, 0, err
	}
	n, used := binary.Uvarint(b[4:])
	if used <= 0 {
		return 0, 0, damaged(b)
	}
	return input, int(n) - 1, r.Unpack(b[4+used:])
}

func damaged(b []byte) error { return fmt.Errorf("packed record of %d bytes is damaged", len(b)) }

// inputOf returns the input of a packed record.
func inputOf(b []byte) (int, error) {
	if len(b) < 4 {
		return 0, damaged(b)
	}
	return int(binary.BigEndian.Uint32(b)), nil
}
