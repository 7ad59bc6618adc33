// Package record parses each delivered line into a record of a behaviour.
//
//	file ── Open ──▶ Reader ── Next ──▶ Chunk ── Parse ──▶ Sink: Keep, Skip, Reject
//	        decompressed,      cut between     one Parser     every record
//	        decoded to UTF-8   two records     a goroutine    exactly once
//
// There are two stages, so that many cores can parse one file. A Reader
// decompresses and decodes one file and cuts its text into chunks of whole
// records. It is for one goroutine. A Parser turns chunks into records. It
// depends on nothing outside the chunk, so chunks may be parsed in any order, by one
// Parser in each goroutine. Neither starts goroutines.
//
// Independent processes can also read a large file in ranges: Begins finds an offset at
// which a record begins, and OpenRange opens the part of the file between two such offsets.
//
// # The text of a file
//
// Offsets count bytes of the text: the file decompressed, and in UTF-8. A byte
// order mark of UTF-8 is counted, but is part of no record; a byte order mark of UTF-16 is
// not counted. If files are joined into one, a later record may begin with byte order marks.
// They are part of no column and of no "$line". The record's offset is the offset of the first of them.
// Lines are physical lines, counted from 1, whatever they hold. A record is
//
//	csv             fields up to a newline outside quotes
//	tsv, blanks,    one line
//	jsonl
//
//	1,play,"Bat
//	man ""II"""⏎    one record of two lines: 1 | play | Bat⏎man "II"
//
// A line ends in \n or \r\n; the last line may also end at the end of the file. An empty
// line is no record. In blanks, a line of blanks and tabs counts as empty.
//
// # A mistake costs one record
//
// In csv a field is quoted if its first character is a quote. These are mistakes: a quote
// inside an unquoted field; anything but a delimiter or the end of the line after the
// closing quote; a quote that is not closed in the file or within Format.MaxLine
// bytes of the record's beginning. The bad record is then its first line
// alone. The next record begins with the next line. An open quote therefore costs
// one line and not the rest of the file, and each line belongs to one record
// whatever the size of the chunks. A line longer than MaxLine is a bad record, and
// never held in memory.
//
// If the columns have names, by a header or by Format.Names, a record has as
// many columns as there are names. If they have none, a record has at least as many
// columns as the format needs.
//
// # Null
//
// In csv, tsv and blanks the empty text is null, quoted or not, and so are
// Format.Nulls. In jsonl null, a missing member and Format.Nulls are null. "" is the
// empty string, unless Format.Nulls has it. If a pattern does not match, or selects one of Format.Nulls, the value is null. A record with a null user
// or time is a bad record.
//
// # Values
//
// A text is used as it is written, blanks included. An int64 may be written as 7.0 or
// 4.0128e+10 if that is an integer that fits into 64 bits. A double may be NaN or Inf in any
// case. A bool is true, t, yes, 1, false, f, no or 0, in any case. A date is the day that is
// written, whatever offset is written with it.
//
// # Time
//
// Digits beyond the microsecond are cut off. A time of day that a change of
// offset skips or repeats is read with the offset before the change: in New York,
// 2017-03-12 02:30 (skipped) is 03:30 EDT, and 2017-11-05 01:30 (repeated) is the
// first of the two, EDT. If neither the text nor the job has a year, it is the year in
// which the time is nearest to the date of the file's path.
package record

import "usertrail/internal/behaviour"

// DefaultMaxLine is the default limit for the bytes of one record, without its line end.
const DefaultMaxLine = 1 << 20

// A Chunk holds whole records of a file, in the order of the file.
type Chunk struct {
	Data   []byte
	Offset int64 // of Data's first byte in the file's text
	Line   int64 // number of the line that Data begins in

	// Long is a line after Data that was too long to hold, nil if there is none. Parse passes
	// it to its sink after the records of Data.
	Long *Reject
}

// A Sink receives the records of a chunk in order. If a method returns an error, Parse stops
// and returns it unchanged.
type Sink interface {
	// Keep receives a good record. Record.ID is its offset in the file's text. The record and
	// its bytes are valid until Keep returns. Keep may change the record, and replace its
	// Values.
	Keep(*behaviour.Record) error
	// Skip receives a record that the job does not want. It is valid until Skip returns.
	Skip(*Skipped) error
	// Reject receives a record that cannot be used. Its Raw is valid until Reject returns.
	Reject(*Reject) error
}
