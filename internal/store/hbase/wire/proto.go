package wire

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrMalformed is wrapped by every error about bytes that do not follow the protocol.
var ErrMalformed = errors.New("malformed message")

// An Appender appends its encoding to dst and returns the longer slice.
type Appender interface {
	Append(dst []byte) []byte
}

// Raw is an Appender of encoded bytes. Raw(nil) is also the message without fields.
type Raw []byte

// Append appends r unchanged.
func (r Raw) Append(dst []byte) []byte { return append(dst, r...) }

func appendUint(dst []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, num, protowire.VarintType), v)
}

func appendBool(dst []byte, num protowire.Number, v bool) []byte {
	return appendUint(dst, num, protowire.EncodeBool(v))
}

func appendBytes(dst []byte, num protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, num, protowire.BytesType), v)
}

func appendString(dst []byte, num protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(dst, num, protowire.BytesType), v)
}

// appendNonzero appends an optional field, unless it is zero.
func appendNonzero(dst []byte, num protowire.Number, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return appendUint(dst, num, v)
}

// begin opens the nested message num and returns the start of its fields. It reserves one
// byte for the length. end makes more room if necessary.
func begin(dst []byte, num protowire.Number) ([]byte, int) {
	dst = append(protowire.AppendTag(dst, num, protowire.BytesType), 0)
	return dst, len(dst)
}

// end closes the nested message whose fields start at start.
func end(dst []byte, start int) []byte {
	size := len(dst) - start
	if size < 0x80 {
		dst[start-1] = byte(size)
		return dst
	}
	var length [10]byte
	n := protowire.AppendVarint(length[:0], uint64(size))
	dst = append(dst, n[1:]...)
	copy(dst[start-1+len(n):], dst[start:start+size])
	copy(dst[start-1:], n)
	return dst
}

// A decoder iterates over the fields of one message. After an error next returns false,
// and done returns the error.
type decoder struct {
	rest []byte
	num  protowire.Number
	typ  protowire.Type
	n    uint64 // value of a number
	b    []byte // value of bytes, clipped
	err  error
}

// next moves to the next field.
func (d *decoder) next() bool {
	if d.err != nil || len(d.rest) == 0 {
		return false
	}
	num, typ, n := protowire.ConsumeTag(d.rest)
	if n < 0 {
		d.fail(n)
		return false
	}
	d.num, d.typ, d.rest = num, typ, d.rest[n:]
	switch typ {
	case protowire.VarintType:
		d.n, n = protowire.ConsumeVarint(d.rest)
	case protowire.BytesType:
		d.b, n = protowire.ConsumeBytes(d.rest)
		d.b = d.b[:len(d.b):len(d.b)]
	default:
		n = protowire.ConsumeFieldValue(num, typ, d.rest)
	}
	if n < 0 {
		d.fail(n)
		return false
	}
	d.rest = d.rest[n:]
	return true
}

func (d *decoder) fail(code int) {
	d.err = fmt.Errorf("field %d: %w: %w", d.num, ErrMalformed, protowire.ParseError(code))
}

// refuse ends the iteration with an error about a field that is well formed but has a
// wrong value.
func (d *decoder) refuse(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("field %d: %w: %s", d.num, ErrMalformed, fmt.Sprintf(format, args...))
	}
}

// want reports whether the field has a wire type.
func (d *decoder) want(typ protowire.Type) bool {
	if d.typ != typ {
		d.refuse("wire type %d, not %d", d.typ, typ)
	}
	return d.err == nil
}

// done returns the error of the iteration over the message called name.
func (d *decoder) done(name string) error {
	if d.err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, d.err)
}

func (d *decoder) uint64(to *uint64) {
	if d.want(protowire.VarintType) {
		*to = d.n
	}
}

func (d *decoder) uint32(to *uint32) {
	if d.want(protowire.VarintType) {
		*to = uint32(d.n)
	}
}

// count reads an int32 that is a count.
func (d *decoder) count(to *int) {
	switch {
	case !d.want(protowire.VarintType):
	case d.n > math.MaxInt32:
		d.refuse("count of %d", int64(d.n))
	default:
		*to = int(d.n)
	}
}

func (d *decoder) bool(to *bool) {
	if d.want(protowire.VarintType) {
		*to = d.n != 0
	}
}

// bytes reads bytes that alias the message.
func (d *decoder) bytes(to *[]byte) {
	if d.want(protowire.BytesType) {
		*to = d.b
	}
}

func (d *decoder) string(to *string) {
	if d.want(protowire.BytesType) {
		*to = string(d.b)
	}
}

// message decodes a nested message.
func (d *decoder) message(decode func([]byte) error) {
	if d.want(protowire.BytesType) {
		if err := decode(d.b); err != nil {
			d.err = fmt.Errorf("field %d: %w", d.num, err)
		}
	}
}

// numbers reads one number of a repeated field, or many packed ones.
func (d *decoder) numbers(take func(uint64)) {
	if d.typ == protowire.VarintType {
		take(d.n)
		return
	}
	if !d.want(protowire.BytesType) {
		return
	}
	for b := d.b; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			d.fail(n)
			return
		}
		take(v)
		b = b[n:]
	}
}
