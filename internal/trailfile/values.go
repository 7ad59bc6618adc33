package trailfile

import "github.com/parquet-go/parquet-go/format"

// values are those of one column of the row group that is being gathered: of the
// rows that have one, in order.
type values interface {
	// len is how many there are.
	len() int
	// size is how many bytes they take in pages, about.
	size() int
	// encoding is that of the data pages.
	encoding() format.Encoding
	// dictionary appends the body of the dictionary page and says how many
	// entries it has; 0 means that there is none.
	dictionary(dst []byte) ([]byte, int)
	// encode appends the values from..to as they stand in a data page.
	encode(dst []byte, from, to int) []byte
	// bounds returns the least and the greatest of the values from..to, of which
	// there is at least one, valid until reset; not ok if there is no saying.
	bounds(from, to int) (lo, hi []byte, ok bool)
	// compare orders what bounds returned.
	compare(a, b []byte) int
	// reset forgets all values and keeps the memory.
	reset()
}
