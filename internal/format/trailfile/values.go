package trailfile

import "github.com/parquet-go/parquet-go/format"

// values holds the values of one column of the current row group, in order. Rows without a
// value are left out.
type values interface {
	// len is how many there are.
	len() int
	// size is how many bytes they take in pages, about.
	size() int
	// encoding is that of the data pages.
	encoding() format.Encoding
	// dictionary appends the body of the dictionary page and returns how many
	// entries it has; 0 means that there is none.
	dictionary(dst []byte) ([]byte, int)
	// encode appends the values from..to in the form of a data page.
	encode(dst []byte, from, to int) []byte
	// bounds returns the least and the greatest of the values from..to, of which
	// there is at least one. They are valid until reset. ok is false if the values have no
	// bounds.
	bounds(from, to int) (lo, hi []byte, ok bool)
	// compare orders what bounds returned.
	compare(a, b []byte) int
	// reset forgets all values and keeps the memory.
	reset()
}
