package hbasetest

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// A field is one field of a received message.
type field struct {
	num protowire.Number
	n   uint64
	b   []byte
}

// fields holds the fields of one message, in order.
type fields []field

// fieldsOf parses a message. It supports the wire types of our client: varints and bytes.
func fieldsOf(b []byte) (fields, error) {
	var all fields
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		f := field{num: num}
		switch typ {
		case protowire.VarintType:
			f.n, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			f.b, n = protowire.ConsumeBytes(b)
		default:
			return nil, errors.New("neither varint nor bytes")
		}
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		all = append(all, f)
	}
	return all, nil
}

func (f fields) has(num protowire.Number) bool {
	for _, x := range f {
		if x.num == num {
			return true
		}
	}
	return false
}

func (f fields) number(num protowire.Number) uint64 {
	for _, x := range f {
		if x.num == num {
			return x.n
		}
	}
	return 0
}

func (f fields) bytes(num protowire.Number) []byte {
	for _, x := range f {
		if x.num == num {
			return x.b
		}
	}
	return nil
}

// all returns the values of a repeated field of bytes.
func (f fields) all(num protowire.Number) [][]byte {
	var all [][]byte
	for _, x := range f {
		if x.num == num {
			all = append(all, x.b)
		}
	}
	return all
}

// sub returns a nested message. A missing one has no fields.
func (f fields) sub(num protowire.Number) (fields, error) { return fieldsOf(f.bytes(num)) }

// A message is a message to send.
type message []byte

func (m *message) number(num protowire.Number, v uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, num, protowire.VarintType), v)
}

func (m *message) bool(num protowire.Number, v bool) { m.number(num, protowire.EncodeBool(v)) }

func (m *message) bytes(num protowire.Number, v []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, num, protowire.BytesType), v)
}

func (m *message) string(num protowire.Number, v string) { m.bytes(num, []byte(v)) }
