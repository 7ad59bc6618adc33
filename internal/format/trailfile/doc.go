// Package trailfile writes trails as Parquet, and opens Parquet files for
// inspection. It is the last step of an extract: a Writer receives batches of rows in their
// final order and writes one file of the result. No other package uses parquet-go. All formats
// share its schemas and batches. The packages below it write the other formats, and one test
// suite checks all of them.
//
// # Promises
//
// The same schema, options and rows give the same bytes, however the rows are
// cut into batches and whatever the Writer wrote before. Rows must be sorted
// by user and, within a user, by time, and every string must be UTF-8. A Writer checks
// both and returns an error, because a false claim in a
// file misleads its readers. A Writer is for one goroutine and keeps no reference to
// a Batch. It holds one row group in memory, encoded as far as possible before the
// group is complete.
//
// # Columns
//
// In the long shape a row is an event:
//
//	user_id    BYTE_ARRAY  STRING                  dictionary
//	date       INT32       DATE                    plain
//	time       INT64       TIMESTAMP(us, UTC)      plain
//	behaviour  BYTE_ARRAY  STRING                  dictionary
//	id         INT64                               plain
//	step_1, …  INT64       TIMESTAMP(us, UTC)      plain, if the query has a sequence
//	…          each field, optional:
//	           string BYTE_ARRAY STRING, int64 INT64, double DOUBLE, bool BOOLEAN,
//	           timestamp INT64 TIMESTAMP(us, UTC), date INT32 DATE
//
// The column that partitions the result is left out. In the wide shape a row is a user:
//
//	user_id                                        as above
//	PLAY_count INT64                               plain, and so on for each behaviour:
//	PLAY_first, PLAY_last
//	           INT64       TIMESTAMP(us, UTC)      plain, optional
//	PLAY_days  INT64                               plain
//	step_1, …                                      as above
//
// A string column has a dictionary, unless the values at the start of the file
// are almost all different or the dictionary exceeds its limit. It is then
// plain in that row group and all later ones. No chunk mixes the two.
//
// # Bytes
//
//	"PAR1"
//	row group 0
//	  chunk of user_id    [dictionary page] data page, data page, …
//	  chunk of date                         data page, …
//	  …
//	  Bloom filter of user_id               header, blocks of 32 bytes
//	row group 1, …
//	column indexes        of each group and column: bounds and nulls of each page
//	offset indexes        of each group and column: place and first row of each page
//	footer                FileMetaData
//	4 bytes               length of the footer, little endian
//	"PAR1"
//
// A page is a header, in Thrift's compact protocol, and a body that is compressed
// as a whole. Data pages are of version 1, which every reader knows:
//
//	dictionary page  plain values
//	data page        [length of levels, 4 bytes LE | levels]  values
//
// Only nullable columns have levels: one bit for each row, 1 if the row has a value,
// in the hybrid of runs and packed bits ("RLE"). Rows without a value are left out of the
// values:
//
//	plain       little endian; strings after 4 bytes of length; bools 8 in a byte
//	dictionary  bits of an index, 1 byte | indexes in the same hybrid
//
// A page's header has the CRC-32 of the body as it is in the file.
//
// A row group has exactly Options.GroupRows rows. It has fewer if it is the last group, or
// if another row would take its strings beyond Options.GroupBytes, or if it takes Options.GroupMemory. With Options.Parts a group
// also ends with its part. Rows are sorted in a part only, and there are no page indexes.
// Within a group, the pages of a column have equal numbers of rows, and about
// Options.PageBytes each.
//
// # Statistics
//
// Null counts are always written and are exact. Bounds in the footer are exact
// values; they are left out if one is longer than 256 bytes. Bounds in column
// indexes are cut to 64 bytes, and a cut upper bound is raised to the next code point.
// A page of nulls alone is marked as such and has empty bounds. A chunk of doubles
// with a NaN has neither bounds nor a column index, because readers sort NaN
// differently. A zero is -0 as lower and +0 as upper bound.
package trailfile
