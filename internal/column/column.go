// Package column makes qualifiers:
//
//	field , column ID          "programme," 00 00 00 00 00 00 00 2a
//
// The column ID is eight bytes, big endian, not negative. As bytes it sorts in the order of
// the numbers. A field's name cannot contain the separator, and the ID has a fixed length, so
// Parse reads a qualifier from its end, without a search.
//
// # Column ID
//
// A user can play many times a day; the ID distinguishes the plays. It must never change. It
// therefore encodes the place of a record in the delivered files, and nothing that differs
// between two runs:
//
//	bits 62..38   the file's number, from its path below the logs' root
//	bits 37..0    the byte offset of the record in the file's decompressed text
//
// Number computes a file's number. If two paths of a table have the same number, the later file
// gets the next free number, and the table's ledger stores it.
//
// # Prefix trap
//
// HBase's MultipleColumnPrefixFilter silently loses columns when one requested prefix is a
// prefix of another ("play" and "playlist"). A prefix that this package makes always ends
// with the separator, which no field contains, so no prefix is the beginning of another one.
// Prefixes checks this nevertheless.
package column

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

const (
	// Separator ends a field's name in a qualifier. It sorts before every
	// character of a name, so prefixes sort like names.
	Separator = ','

	// Marker is the field of the cell that marks a record whose first field is null, or whose
	// time has microseconds that the cell's timestamp would lose. A job's field cannot have
	// this name. Its value is empty, or the microseconds within the millisecond with one to
	// three digits.
	Marker = "_"

	idLen      = 8
	offsetBits = 38

	// MaxOffset is the largest offset in an ID: 256 GiB minus one byte.
	MaxOffset = 1<<offsetBits - 1
	// Numbers is the maximum number of delivered files in one table.
	Numbers = 1 << (63 - offsetBits)
)

// ID returns the column ID of the record at offset in the file with a number.
func ID(number uint32, offset int64) int64 { return int64(number)<<offsetBits | offset }

// Place is the inverse of ID.
func Place(id int64) (number uint32, offset int64) {
	return uint32(id >> offsetBits), id & MaxOffset
}

// Number returns the number of a file for its path below the logs' root, with
// slashes between its parts. If that number is not free, it returns the next free number.
// It fails if no number is free.
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

// Escape returns the form of any text that can take the place of a field in a qualifier: \c is a
// comma, and \\ is a backslash.
func Escape(text string) string { return escapes.Replace(text) }

var escapes = strings.NewReplacer(`\`, `\\`, string(Separator), `\c`)

// AppendPrefix appends the prefix of all qualifiers of a field.
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

// Prefixes returns the sorted prefixes of fields, each once, for HBase's
// MultipleColumnPrefixFilter. If one is a prefix of another, it returns an error.
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
