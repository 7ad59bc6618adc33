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
//	local time  2014-09-01T16:00:00.250000     the same, a string
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
// # csv for Excel
//
// Excel guesses the type of each value of csv, and changes many: 007 becomes 7, a number
// keeps 15 digits, and a text that begins with = is a formula. Therefore
//
//   - a byte order mark comes first, without which Excel does not read UTF-8;
//   - user IDs, column IDs, whole numbers of more than 15 digits, and texts that Excel could take for
//     another value are formulas whose result is the text: ="007". A text that cannot be in a formula
//     begins with an apostrophe instead;
//   - each separator that Excel has in some country, and after which a text would continue as a formula,
//     has an apostrophe after it;
//   - times have the form 2014-09-01 08:00:00. Excel would show a time with a fraction as 00:00.3.
//
// # jsonl
//
// Each line is one object with every column, in order. Readers that infer the columns
// from the first line therefore find all of them. Whole numbers are exact; a reader
// that reads them as doubles rounds numbers beyond 2^53.
package textfile
