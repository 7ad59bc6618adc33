package trailfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// numbers holds the values of a column of fixed width, in plain encoding.
type numbers[T int32 | int64 | float64] struct {
	data   []T
	width  int // bytes of one
	append func(dst []byte, v []T) []byte
	parse  func(b []byte) T
}

func newInt32s() *numbers[int32] {
	return &numbers[int32]{width: 4, append: appendInt32s, parse: parseInt32}
}

func newInt64s() *numbers[int64] {
	return &numbers[int64]{width: 8, append: appendInt64s, parse: parseInt64}
}

func newDoubles() *numbers[float64] {
	return &numbers[float64]{width: 8, append: appendDoubles, parse: parseDouble}
}

// add adds the valid values of v.
func (n *numbers[T]) add(v []T, valid []bool) { n.data = compact(n.data, v, valid) }

// addAll adds all values of v.
func (n *numbers[T]) addAll(v []T) { n.data = append(n.data, v...) }

func (n *numbers[T]) len() int                            { return len(n.data) }
func (n *numbers[T]) size() int                           { return n.width * len(n.data) }
func (n *numbers[T]) encoding() format.Encoding           { return format.Plain }
func (n *numbers[T]) dictionary(dst []byte) ([]byte, int) { return dst, 0 }
func (n *numbers[T]) reset()                              { n.data = n.data[:0] }

func (n *numbers[T]) encode(dst []byte, from, to int) []byte { return n.append(dst, n.data[from:to]) }

func (n *numbers[T]) bounds(from, to int) (lo, hi []byte, ok bool) {
	least, greatest := n.data[from], n.data[from]
	for _, v := range n.data[from:to] {
		if v != v {
			return nil, nil, false
		}
		least, greatest = min(least, v), max(greatest, v)
	}
	return n.append(nil, []T{least}), n.append(nil, []T{greatest}), true
}

func (n *numbers[T]) compare(a, b []byte) int { return cmp.Compare(n.parse(a), n.parse(b)) }

// doubles differ from other numbers in the bounds of zeros, because each zero may represent
// both.
type doubles struct{ *numbers[float64] }

func (d doubles) bounds(from, to int) (lo, hi []byte, ok bool) {
	lo, hi, ok = d.numbers.bounds(from, to)
	if ok && parseDouble(lo) == 0 {
		lo = appendDoubles(nil, []float64{math.Copysign(0, -1)})
	}
	if ok && parseDouble(hi) == 0 {
		hi = appendDoubles(nil, []float64{0})
	}
	return lo, hi, ok
}

// bools holds the values of a boolean column, 0 or 1 each, in plain encoding.
type bools struct{ data []byte }

// add adds the valid values of v. Every value except 0 is true.
func (b *bools) add(v []int32, valid []bool) {
	for i, x := range v {
		if valid[i] {
			b.data = append(b.data, bit(x != 0))
		}
	}
}

// addAll adds all values of v.
func (b *bools) addAll(v []int32) {
	for _, x := range v {
		b.data = append(b.data, bit(x != 0))
	}
}

func (b *bools) len() int                            { return len(b.data) }
func (b *bools) size() int                           { return (len(b.data) + 7) / 8 }
func (b *bools) encoding() format.Encoding           { return format.Plain }
func (b *bools) dictionary(dst []byte) ([]byte, int) { return dst, 0 }
func (b *bools) reset()                              { b.data = b.data[:0] }

func (b *bools) encode(dst []byte, from, to int) []byte {
	var word byte
	for i, x := range b.data[from:to] {
		word |= x << (i % 8)
		if i%8 == 7 {
			dst = append(dst, word)
			word = 0
		}
	}
	if (to-from)%8 != 0 {
		dst = append(dst, word)
	}
	return dst
}

func (b *bools) bounds(from, to int) (lo, hi []byte, ok bool) {
	least, greatest := byte(1), byte(0)
	for _, x := range b.data[from:to] {
		least, greatest = min(least, x), max(greatest, x)
	}
	return []byte{least}, []byte{greatest}, true
}

func (b *bools) compare(x, y []byte) int { return bytes.Compare(x, y) }

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// compact appends the valid values of src. Nulls occur at random, so it writes each value and
// advances only after valid ones. A branch would be mispredicted half of the time.
func compact[T any](dst, src []T, valid []bool) []T {
	n := len(dst)
	dst = grow(dst, len(src))
	for i, v := range src {
		dst[n] = v
		n += int(bit(valid[i]))
	}
	return dst[:n]
}

func appendInt32s(dst []byte, v []int32) []byte {
	n := len(dst)
	dst = grow(dst, 4*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint32(dst[n+4*i:], uint32(x))
	}
	return dst
}

func appendInt64s(dst []byte, v []int64) []byte {
	n := len(dst)
	dst = grow(dst, 8*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint64(dst[n+8*i:], uint64(x))
	}
	return dst
}

func appendDoubles(dst []byte, v []float64) []byte {
	n := len(dst)
	dst = grow(dst, 8*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint64(dst[n+8*i:], math.Float64bits(x))
	}
	return dst
}

func parseInt32(b []byte) int32    { return int32(binary.LittleEndian.Uint32(b)) }
func parseInt64(b []byte) int64    { return int64(binary.LittleEndian.Uint64(b)) }
func parseDouble(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
