package behaviour

import "bytes"

// A Test requires that a field has a value in one of some ranges. Null is in no range.
type Test struct {
	Field int // index of the field in its kind
	In    []Range
}

// A Range is a range of values as cells store them, in byte order: from From, included,
// to Before, not included. Nil is no bound.
type Range struct{ From, Before []byte }

// One returns the range of one value.
func One(v []byte) Range { return Range{v, append(bytes.Clone(v), 0)} }

// IsOne reports whether r is the range of one value, which is From.
func (r Range) IsOne() bool {
	n := len(r.From)
	return len(r.Before) == n+1 && r.Before[n] == 0 && bytes.Equal(r.Before[:n], r.From)
}

// Has reports whether a value is in r.
func (r Range) Has(v []byte) bool {
	return bytes.Compare(v, r.From) >= 0 && (r.Before == nil || bytes.Compare(v, r.Before) < 0)
}

// Passes reports whether a value, nil if it is null, is in one of t's ranges.
func (t *Test) Passes(v []byte) bool {
	if v == nil {
		return false
	}
	for _, r := range t.In {
		if r.Has(v) {
			return true
		}
	}
	return false
}
