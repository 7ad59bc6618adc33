// Package protofield reads the fields of encoded protobuf messages without generated code
// (https://protobuf.dev/programming-guides/encoding).
package protofield

import (
	"fmt"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Field is one field of a message.
type Field struct {
	Num    protowire.Number
	Type   protowire.Type
	Bytes  []byte // the value if Type is BytesType; part of the message
	Number uint64 // the value if Type is VarintType
}

// All iterates over the fields of a message, in the order in which they are encoded. The values of
// fixed numbers and groups are skipped. A malformed message ends the iteration with an error.
func All(message []byte) iter.Seq2[Field, error] {
	return func(yield func(Field, error) bool) {
		for len(message) > 0 {
			f, n := consume(message)
			if n < 0 {
				yield(Field{}, protowire.ParseError(n))
				return
			}
			if !yield(f, nil) {
				return
			}
			message = message[n:]
		}
	}
}

// consume returns the first field of a message and its length in bytes, or a negative error code of
// protowire.
func consume(message []byte) (f Field, length int) {
	var tag, n int
	if f.Num, f.Type, tag = protowire.ConsumeTag(message); tag < 0 {
		return f, tag
	}
	value := message[tag:]
	switch f.Type {
	case protowire.BytesType:
		f.Bytes, n = protowire.ConsumeBytes(value)
	case protowire.VarintType:
		f.Number, n = protowire.ConsumeVarint(value)
	default:
		n = protowire.ConsumeFieldValue(f.Num, f.Type, value)
	}
	if n < 0 {
		return f, n
	}
	return f, tag + n
}

// Find returns the bytes of the first field with a number. It fails if the message has no such field
// of bytes, or is malformed before it.
func Find(message []byte, num protowire.Number) ([]byte, error) {
	for f, err := range All(message) {
		if err != nil {
			return nil, err
		}
		if f.Num == num && f.Type == protowire.BytesType {
			return f.Bytes, nil
		}
	}
	return nil, fmt.Errorf("field %d is missing", num)
}
