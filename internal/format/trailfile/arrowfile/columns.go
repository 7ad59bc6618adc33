package arrowfile

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

// A column collects the values of a column of a record batch, in Arrow's form:
//
//	valid  one bit for each row, the least significant first; empty unless nullable
//	data   the values, little endian; bools as bits; the bytes of all strings
//	ends   for strings: 0, and where each string ends in data
//
// The value of a null is zero, or an empty string. A column fills buffers directly, which is
// several times as fast as Arrow's builders, because it takes many rows at once. The memory is
// used again for the next batch.
type column struct {
	*trailfile.Column
	of    arrow.DataType
	rows  int
	nulls int
	valid []byte
	data  []byte
	ends  []int32
}

func newColumn(c *trailfile.Column) *column {
	out := &column{Column: c, of: typeOf(c)}
	out.reset()
	return out
}

// reset removes all rows and keeps the memory.
func (c *column) reset() {
	c.rows, c.nulls = 0, 0
	c.valid, c.data, c.ends = c.valid[:0], c.data[:0], append(c.ends[:0], 0)
}

// add adds the rows from up to to of v.
func (c *column) add(v *trailfile.Values, from, to int) {
	var valid []bool
	if c.Nullable {
		valid = v.Valid[from:to]
		c.addValid(valid)
	}
	switch c.Type {
	case behaviour.String:
		c.addStrings(v, valid, from, to)
	case behaviour.Double:
		c.data = addFixed(c.data, v.Double[from:to], valid)
	case behaviour.Day:
		c.data = addFixed(c.data, v.Small[from:to], valid)
	case behaviour.Bool:
		c.addBools(v.Small[from:to], valid)
	default:
		c.data = addFixed(c.data, v.Int[from:to], valid)
	}
	c.rows += to - from
}

func (c *column) addValid(valid []bool) {
	c.valid = growBits(c.valid, c.rows+len(valid))
	for i, ok := range valid {
		if ok {
			bitutil.SetBit(c.valid, c.rows+i)
		} else {
			c.nulls++
		}
	}
}

func (c *column) addBools(values []int32, valid []bool) {
	c.data = growBits(c.data, c.rows+len(values))
	for i, v := range values {
		if v != 0 && (valid == nil || valid[i]) {
			bitutil.SetBit(c.data, c.rows+i)
		}
	}
}

// growBits lengthens a bitmap to n bits. The new bits are 0.
func growBits(bits []byte, n int) []byte {
	for len(bits) < int(bitutil.BytesForBits(int64(n))) {
		bits = append(bits, 0)
	}
	return bits
}

// addFixed appends values of a fixed size as bytes. If valid is not nil, it marks the values
// that are not null.
func addFixed[T int32 | int64 | float64](data []byte, values []T, valid []bool) []byte {
	if len(values) == 0 {
		return data
	}
	from := len(data)
	data = append(data, unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))...)
	if valid != nil {
		added := unsafe.Slice((*T)(unsafe.Pointer(&data[from])), len(values))
		for i, ok := range valid {
			if !ok {
				added[i] = 0
			}
		}
	}
	return data
}

func (c *column) addStrings(v *trailfile.Values, valid []bool, from, to int) {
	switch {
	case c.Names != nil:
		for _, code := range v.Code[from:to] {
			c.data = append(c.data, c.Names[code]...)
			c.ends = append(c.ends, int32(len(c.data)))
		}
	case valid == nil || v.NullBytes(from, to) == 0:
		shift := int32(len(c.data)) - int32(v.Str.Off[from])
		c.data = append(c.data, v.Str.Data[v.Str.Off[from]:v.Str.Off[to]]...)
		for _, end := range v.Str.Off[from+1 : to+1] {
			c.ends = append(c.ends, int32(end)+shift)
		}
	default:
		for i, ok := range valid {
			if ok {
				c.data = append(c.data, v.Str.At(from+i)...)
			}
			c.ends = append(c.ends, int32(len(c.data)))
		}
	}
}

// array returns the rows as an array. It is valid until reset.
func (c *column) array() arrow.Array {
	var valid *memory.Buffer
	if c.nulls > 0 {
		valid = memory.NewBufferBytes(c.valid)
	}
	buffers := []*memory.Buffer{valid, memory.NewBufferBytes(c.data)}
	if c.Type == behaviour.String {
		buffers = []*memory.Buffer{valid, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(c.ends)), buffers[1]}
	}
	data := array.NewData(c.of, c.rows, buffers, nil, c.nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}
