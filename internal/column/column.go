// Package column makes qualifiers:
//
//	field , column ID          "programme," 00 00 00 00 00 00 00 2a
//
// The column ID is eight bytes, big endian, not negative: it sorts, as bytes, in
// the order of the numbers. A field's name cannot hold the separator and the ID
// has one length, so a qualifier is read from its end and never searched.
//
// # Column ID
//
// A user can play many times a day; the ID keeps the plays apart. It must never
// change once given, so it says where in the delivered files a record stands,
// and nothing that differs between two runs:
//
//	bits 62..38   the file's number, from its path below the logs' root
//	bits 37..0    the byte offset of the record in the file's decompressed text
//
// Numbers come from Number; where two paths of a table meet in one, the later
// delivered takes the next free number, and the table's ledger remembers it.
//
// # Prefix trap
//
// HBase's MultipleColumnPrefixFilter silently loses columns when one requested
// prefix is the beginning of another ("play" and "playlist"). A prefix made here
// always ends in the separator, which no field holds, so none is the beginning
// of another; Prefixes checks it all the same.
package column

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
)

const (
	// Separator ends a field's name in a qualifier. It sorts before every
	// character a name can have, so prefixes sort as names do.
	Separator = ','

	// Marker is the field of the cell that marks a record whose first field is
	// null, or whose time has microseconds that the cell's timestamp would lose.
	// No field of a job can be called so. Its value is empty or the microseconds
	// within the millisecond, one to three digits.
	Marker = "_"

	idLen      = 8
	offsetBits = 38

	// MaxOffset is the largest offset an ID can say: 256 GiB less one byte.
	MaxOffset = 1<<offsetBits - 1
	// Numbers is how many files one table can tell apart.
	Numbers = 1 << (63 - offsetBits)
)

// ID is the column ID of the record at offset in the file with a number.
func ID(number uint32, offset int64) int64 { return int64(number)<<offsetBits | offset }

// Place is the inverse of ID.
func Place(id int64) (number uint32, offset int64) {
	return uint32(id >> offsetBits), id & MaxOffset
}

// Number is the number that a file asks for by its path below the logs' root,
// slashes between its parts. free says whether a number is still to be had.
func Number(path string, free func(uint32) bool) (uint32, error) {
	n := uint32(xxhash.Sum64String(path) % Numbers)
	for range Numbers {
		if free(n) {
			return n, nil
		}
		n = (n + 1) % Numbers
	}
	return 0, fmt.Errorf("column: all %d file numbers are taken", Numbers)
}

// AppendPrefix appends what all qualifiers of a field begin with.
func AppendPrefix(dst []byte, field string) []byte {
	return append(append(dst, field...), Separator)
}

// Append appends the qualifier of a field and a column ID.
func Append(dst []byte, field string, id int64) []byte {
	return binary.BigEndian.AppendUint64(AppendPrefix(dst, field), uint64(id))
}

// Parse splits a qualifier. The field refers to q's bytes.
func Parse(q []byte) (field []byte, id int64, err error) {
	n := len(q) - idLen
	if n < 2 || q[n-1] != Separator {
		return nil, 0, fmt.Errorf("column: qualifier %q is not a field and a column ID", q)
	}
	field, id = q[:n-1], int64(binary.BigEndian.Uint64(q[n:]))
	if id < 0 || bytes.IndexByte(field, Separator) >= 0 {
		return nil, 0, fmt.Errorf("column: qualifier %q is not a field and a column ID", q)
	}
	return field, id, nil
}

// Prefixes returns the sorted prefixes of fields, each once, fit for HBase's
// MultipleColumnPrefixFilter: none is the beginning of another.
func Prefixes(fields []string) ([][]byte, error) {
	var out [][]byte
	for _, f := range fields {
		out = append(out, AppendPrefix(nil, f))
	}
	slices.SortFunc(out, bytes.Compare)
	out = slices.CompactFunc(out, bytes.Equal)
	for i := 1; i < len(out); i++ {
		if bytes.HasPrefix(out[i], out[i-1]) {
			return nil, fmt.Errorf("column: prefix %q is the beginning of %q: HBase would lose columns", out[i-1], out[i])
		}
	}
	return out, nil
}
