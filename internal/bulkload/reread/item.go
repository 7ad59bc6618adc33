package reread

import (
	"encoding/binary"
	"fmt"

	"usertrail/internal/behaviour"
)

// An item is the payload of a record in the sorter. Items of one part, row and column ID are adjacent: first the record
// of the table, then the values of the delivered file.
//
//	0 | behaviour.AppendPacked                               a record of the table; the fields that have a value are not null
//	1 | index of the input, 4 bytes | behaviour.AppendPacked  values
const (
	tagRecord = 0
	tagValues = 1
)

// appendRecord appends the item of a record of the table.
func appendRecord(dst []byte, r *behaviour.Record) []byte {
	return behaviour.AppendPacked(append(dst, tagRecord), r)
}

// appendValues appends the item of the values of a record of an input.
func appendValues(dst []byte, input int, r *behaviour.Record) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, tagValues), uint32(input))
	return behaviour.AppendPacked(dst, r)
}

// An item is an unpacked item. Its values refer to the bytes that were unpacked.
type item struct {
	behaviour.Record
	input int // -1 for a record of the table
}

// isRecord reports whether a packed item is a record of the table.
func isRecord(b []byte) bool { return len(b) > 0 && b[0] == tagRecord }

// unpack is the inverse of appendRecord and appendValues. The column ID does not change.
func (x *item) unpack(b []byte) error {
	switch {
	case isRecord(b):
		x.input = -1
		return x.Unpack(b[1:])
	case len(b) > 5 && b[0] == tagValues:
		x.input = int(binary.BigEndian.Uint32(b[1:]))
		return x.Unpack(b[5:])
	}
	return fmt.Errorf("packed item of %d bytes is damaged", len(b))
}
