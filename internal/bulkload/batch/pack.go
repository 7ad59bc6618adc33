package batch

import (
	"encoding/binary"
	"fmt"

	"usertrail/internal/behaviour"
)

// A packed record is the payload of a record in the sorter:
//
//	index of its input, 4 bytes, big endian | uvarint 2*(text+1) | behaviour.AppendPacked
//	index of its input, 4 bytes, big endian | uvarint 2*(text+1)+1 | uvarint marks | behaviour.AppendPacked
//
// The second form is for a record with marks.
func appendPacked(dst []byte, input int, a about, r *behaviour.Record) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(input))
	head := uint64(a.text+1) << 1
	if a.marks == 0 {
		dst = binary.AppendUvarint(dst, head)
	} else {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, head|1), a.marks)
	}
	return behaviour.AppendPacked(dst, r)
}

// An about has the number of a record's text and the record's marks.
type about struct {
	text  int    // number of the text that names the behaviour, -1 if the path names it
	marks uint64 // see record.Parser.Marks
}

// unpack is the inverse of appendPacked. r's values refer to b.
func unpack(b []byte, r *behaviour.Record) (input int, a about, err error) {
	if input, err = inputOf(b); err != nil {
		return 0, a, err
	}
	n, used := binary.Uvarint(b[4:])
	if used <= 0 {
		return 0, a, damaged(b)
	}
	rest := b[4+used:]
	if a.text = int(n>>1) - 1; n&1 == 1 {
		if a.marks, used = binary.Uvarint(rest); used <= 0 {
			return 0, a, damaged(b)
		}
		rest = rest[used:]
	}
	return input, a, r.Unpack(rest)
}

func damaged(b []byte) error { return fmt.Errorf("packed record of %d bytes is damaged", len(b)) }

// inputOf returns the input of a packed record.
func inputOf(b []byte) (int, error) {
	if len(b) < 4 {
		return 0, damaged(b)
	}
	return int(binary.BigEndian.Uint32(b)), nil
}
