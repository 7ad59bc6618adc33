// Package roll writes and reads rolls. A roll is an index next to each HFile of a table
// of files: the sorted users in the HFile, and for each user the days, the behaviours of
// each day, and the number of records. Its size is a thousandth of the
// data. bulkload writes it together with the HFile. extract decides from the
// rolls who is active before it reads any block of an HFile.
//
// In this package a user is a user key: bytes that a layout makes and that roll does not
// interpret. Users are sorted as bytes, and each is stored once. The same entries give the
// same file.
//
// # Format
//
// A file is blocks, then index, footer and trailer, without gaps:
//
//	+---------+---------+-----+-------+--------+---------+
//	| block 0 | block 1 | ... | index | footer | trailer |
//	+---------+---------+-----+-------+--------+---------+
//
// uv is an unsigned LEB128 number, sv the same in zigzag; fixed numbers are big
// endian; a CRC is CRC32C.
//
// A block holds whole users and is read without any other. It is one zstd frame
// and its checksum:
//
//	zstd frame of raw | CRC of the frame, 4 bytes
//
//	raw, cut when it reaches 4 KiB:
//	uv  n, the users in it, at least 1
//	uv  bytes of shared
//	uv  bytes of lengths
//	uv  bytes of rest
//	uv  bytes of records
//	shared    n × uv   number of first bytes that the user shares with the user
//	                   before it in the block; 0 for the first user
//	lengths   n × uv   number of the user's other bytes, at least 1
//	rest               these other bytes, of all users
//	records   n × uv   the user's records, at least 1
//	days      n ×      in a file of one date:   uv kinds
//	                   in a file of more dates: uv d - 1, then d times
//	                     uv days after the span's first, or, from the second
//	                        on, days after the day before it less one
//	                     uv kinds
//
// kinds is a set of behaviours, and never empty. In a file of version 1 it is a number: bit i is
// the i-th behaviour ID of the footer. In a file of version 2 it is a list, because most users do
// few of many behaviours on a day:
//
//	uv  number of behaviours less one
//	uv  index of the first behaviour ID in the footer
//	uv  for each other behaviour: its index minus the index before it, minus one
//
// A file with at most 64 behaviour IDs has version 1, and a file with more has version 2.
//
// A block stores the same part of all users together. They compress better in this order, and a search
// reads only the first two columns.
//
// index:
//
//	uv  number of blocks, then for each
//	    uv  bytes of the zstd frame
//	    uv  bytes of raw
//	    uv  users
//	    uv  number of first bytes that its first user shares with the first
//	        user of the block before
//	    uv  number of its first user's other bytes; these bytes
//	uv  bytes of the last user of the file, 0 if there is none; the bytes
//
// footer:
//
//	sv  first date of the span, days since 1970-01-01
//	uv  days of the span less one
//	uv  number of behaviour IDs, at most 1,024; each as uv, ascending
//	uv  users; uv user-days; uv records
//	uv  bytes of the index
//	CRC of the index, 4 bytes
//
// trailer, 16 bytes:
//
//	bytes of the footer, 4 | CRC of the footer, 4 | "UTROLL" 00 01
//
// The last byte is the version, 1 or 2.
package roll

import (
	"errors"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
)

// MaxUser is the largest number of bytes of a user: the largest size of an HBase row.
const MaxUser = 1<<15 - 1

// ErrCorrupt is wrapped by errors about files that a Writer cannot have written.
var ErrCorrupt = errors.New("corrupt roll")

// An Entry is a user of the file.
type Entry struct {
	User    []byte
	Days    []Day // the days on which the user has records, ascending
	Records int64

	// sets are the behaviours of each day, if the file has more than mostInWord. Nearly all
	// files have fewer, and a walk over users is faster if a Day is small.
	sets []activity.Set
}

// A Day is a date on which a user has records.
type Day struct {
	Date behaviour.Date
	word uint64 // the behaviours, if the file has at most mostInWord
}

// Kinds returns the behaviours of day i, by the indexes of the behaviour IDs of the file.
func (e *Entry) Kinds(i int) activity.Set {
	if e.sets != nil {
		return e.sets[i]
	}
	return activity.Word(e.Days[i].word)
}

// Meta describes the content of a roll.
type Meta struct {
	IDs  []uint16       // the behaviour IDs, ascending
	Span behaviour.Span // the dates that it may hold

	Users    int64
	UserDays int64 // days of all entries
	Records  int64
	First    []byte // user
	Last     []byte // user

	Blocks int
	Size   int64 // bytes of the file
}
