// Package textfile writes trails as lines of text, one for each row, as csv or as
// jsonl, and opens such files to be looked at. It stands beside trailfile, whose
// schemas and batches it takes, and promises the same: the same rows give the same
// bytes, and rows out of order or text that is not UTF-8 are errors.
//
// # Values
//
//	            csv                            jsonl
//	string      as it is, quoted if need be    a string
//	            "" where it is empty
//	int64       digits                         digits
//	double      digits with a point or an exponent, the fewest that tell it
//	            NaN, inf, -inf                 "NaN", "Infinity", "-Infinity"
//	bool        true, false                    true, false
//	timestamp   2014-09-01T08:00:00.250000Z    the same, a string
//	date        2014-09-01                     the same, a string
//	null        nothing                        null
//
// # csv
//
// RFC 4180 in UTF-8, but for the end of a line, which is a line feed alone. The
// first line names the columns. A value is quoted if it is empty or holds a quote, a
// comma or the end of a line, or begins or ends with a blank. So an empty string and
// a null differ, for readers that care: encoding/csv, which cannot write that, does
// not.
//
// # jsonl
//
// Each line is one object with every column, in order: so the first line tells all
// of them, also to readers that look no further. Whole numbers are exact; a reader
// that takes them for doubles loses those beyond 2^53.
package textfile
