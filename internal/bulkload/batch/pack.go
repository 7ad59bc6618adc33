package batch

import (
	"encoding/binary"
	"fmt"

	"usertrail/internal/behaviour"
)

// A packed record is the payload of a record in the sorter: the index of its
// input, 4 bytes, big endian, and the result of behaviour.AppendPacked.
func appendPacked(dst []byte, input int, r *behaviour.Record) []byte {
	return behaviour.AppendPacked(binary.BigEndian.AppendUint32(dst, uint32(input)), r)
}

// unpack is the inverse of appendPacked. r's values refer to b.
func unpack(b []byte, r *behaviour.Record) (input int, err error) {
	if input, err = inputOf(b); err != nil {
		return 0, err
	}
	return input, r.Unpack(b[4:])
}

// inputOf returns the input of a packed record.
func inputOf(b []byte) (int, error) {
	if len(b) < 4 {
		return 0, fmt.Errorf("packed record of %d bytes is damaged", len(b))
	}
	return int(binary.BigEndian.Uint32(b)), nil
}
