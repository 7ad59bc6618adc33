package trailfile

import "github.com/parquet-go/parquet-go/format"

// values holds the values of one column of the current row group, in order. It omits rows
// without a value.
type values interface {
	// len returns the number of values.
	len() int
	// size returns the approximate number of bytes of the values in pages.
	size() int
	// encoding returns the encoding of the data pages.
	encoding() format.Encoding
	// dictionary appends the body of the dictionary page and returns its number of entries. 0
	// means that there is no dictionary.
	dictionary(dst []byte) ([]byte, int)
	// encode appends the values from up to to in the form of a data page.
	encode(dst []byte, from, to int) []byte
	// bounds returns the smallest and the greatest of the values from up to to. There is at
	// least one value. The bounds are valid until reset. ok is false if the values have no
	// bounds.
	bounds(from, to int) (lo, hi []byte, ok bool)
	// compare compares two bounds.
	compare(a, b []byte) int
	// reset removes all values and keeps the memory.
	reset()
}
