// Package record reads each delivered line and cleans it into a behaviour.
//
//	file ── Open ──▶ Reader ── Next ──▶ Chunk ── Parse ──▶ Sink: Keep, Skip, Reject
//	        decompressed,      cut between     one Parser     every record
//	        decoded to UTF-8   two records     a goroutine    exactly once
//
// There are two stages, so that one file is parsed on many cores. A Reader
// decompresses and decodes one file and cuts its text into chunks of whole
// records; it is used by one goroutine. A Parser turns chunks into behaviours; it
// depends on nothing outside the chunk, so chunks may be parsed in any order, by
// as many Parsers as there are goroutines. Neither starts goroutines.
//
// A large file can also be read in ranges, by processes that know nothing of each other:
// Begins says where in it a record begins, and OpenRange is Open for what stands between
// two such places.
//
// # The text of a file
//
// Offsets count bytes of the text: the file decompressed, and in UTF-8. A byte
// order mark of UTF-8 is counted, but is part of no record; one of UTF-16 is not
// counted. Lines are physical lines, counted from 1, whatever they hold. A record is
//
//	csv             fields up to a newline that stands outside quotes
//	tsv, blanks,    one line
//	jsonl
//
//	1,play,"Bat
//	man ""II"""⏎    one record of two lines: 1 | play | Bat⏎man "II"
//
// A line ends in \n or \r\n, the last one also at the end of the file. A line
// that holds nothing is no record (in blanks, nothing but blanks and tabs).
//
// # What is wrong costs one record
//
// In csv a field is quoted if its first character is a quote. A quote inside an
// unquoted field, anything but a delimiter or the end of the line after the
// closing quote, a quote that is not closed in the file or within Format.MaxLine
// bytes of the record's beginning: the record is then its first line alone, and is
// rejected; the next record begins with the next line. So a quote left open costs
// one line and not the rest of the file, and each line belongs to one record
// whatever the size of the chunks. A line longer than MaxLine is rejected, and
// never held in memory.
//
// Where the columns have names, by header or by Format.Names, a record has as
// many columns as there are names; where they have none, at least as many as
// the format asks for.
//
// # Null
//
// In csv, tsv and blanks the empty text is null, quoted or not, and so are
// Format.Nulls. In jsonl null is null, as is a member that is not there; "" is the
// empty string. A pattern that does not match gives null. A null user or time
// rejects the record.
//
// # Values
//
// A text is taken as it stands, blanks included. An int64 may be written as 7.0 or
// 4.0128e+10 if that is an integer; what does not fit is no int64. A double may be
// NaN or Inf in any case. A bool is true, t, yes, 1, false, f, no or 0, in any case.
// A date is the day that is written, whatever offset stands beside it.
//
// # Time
//
// Digits beyond the microsecond are cut off. A time of day that a change of
// offset skips or repeats is taken with the offset before the change: in New York,
// 2017-03-12 02:30 (skipped) is 03:30 EDT, and 2017-11-05 01:30 (repeated) is the
// first of the two, EDT. Where the text names no year and the job none either,
// it is the year that brings the time nearest to the date of the file's path.
package record

import "usertrail/internal/behaviour"

// DefaultMaxLine is the most bytes one record may have, its line end not
// counted, where the format does not say.
const DefaultMaxLine = 1 << 20

// A Chunk is whole records of a file, one after the other as they stand there.
type Chunk struct {
	Data   []byte
	Offset int64 // of Data's first byte in the file's text
	Line   int64 // number of the line in which Data begins

	// Long is a line after Data that was too long to hold, nil if there is none.
	// Parse hands it to its sink after the records of Data.
	Long *Reject
}

// A Sink takes the records of a chunk in their order. An error it returns ends
// Parse, which returns it as it is.
type Sink interface {
	// Keep takes a good record, of which Record.ID is the offset in the file's
	// text. The record and its bytes are valid until Keep returns. Keep may change the
	// record, and give it other Values.
	Keep(*behaviour.Record) error
	// Skip counts a record of a behaviour that the job does not name.
	Skip() error
	// Reject takes a record that cannot be used. Its Raw is valid until Reject
	// returns.
	Reject(*Reject) error
}
