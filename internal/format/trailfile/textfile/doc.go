// Package textfile writes trails as lines of text, one for each row, as csv or as
// jsonl, and opens such files for inspection. It uses the schemas and batches of trailfile,
// and makes the same promises: the same rows give the same
// bytes, and rows out of order or text that is not UTF-8 are errors.
//
// # Values
//
//	            csv                            jsonl
//	string      the text, quoted if necessary  a string
//	            "" if it is empty
//	int64       digits                         digits
//	double      digits with a point or an exponent, the fewest that are exact
//	            NaN, inf, -inf                 "NaN", "Infinity", "-Infinity"
//	bool        true, false                    true, false
//	timestamp   2014-09-01T08:00:00.250000Z    the same, a string
//	date        2014-09-01                     the same, a string
//	null        nothing                        null
//
// # csv
//
// RFC 4180 in UTF-8, except that a line ends with a line feed alone. The
// first line names the columns. A value is quoted if it is empty, contains a quote, a
// comma or the end of a line, or begins or ends with a blank. An empty string and
// a null therefore differ. Some readers ignore the difference, such as encoding/csv, which
// cannot write it either.
//
// # jsonl
//
// Each line is one object with every column, in order. Readers that infer the columns
// from the first line therefore find all of them. Whole numbers are exact; a reader
// that reads them as doubles rounds numbers beyond 2^53.
package textfile
