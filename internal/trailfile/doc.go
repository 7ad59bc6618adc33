// Package trailfile writes trails as Parquet and opens Parquet files to be looked
// at. It is the last step of an extract: what comes in are batches of rows in their
// final order, what goes out is one file of the result. It is the only doorstep of
// parquet-go. Its schemas and batches are those of every format; the others are
// written by the packages below it, and one suite asks the same of all of them.
//
// # Promised
//
// The same schema, options and rows give the same bytes, however the rows are
// cut into batches and whatever the Writer wrote before. Rows must come in order
// of user and, where a user has more than one, of time, which is asserted, and
// every string must be UTF-8; what is not, is an error, because a false claim in a
// file misleads its readers. A Writer is for one goroutine and keeps no reference to
// a Batch. It holds one row group in memory, encoded as far as it can be before the
// group is complete.
//
// # Columns
//
// In the long shape a row is a behaviour:
//
//	user_id    BYTE_ARRAY  STRING                  dictionary
//	date       INT32       DATE                    plain
//	time       INT64       TIMESTAMP(us, UTC)      plain
//	behaviour  BYTE_ARRAY  STRING                  dictionary
//	id         INT64                               plain
//	step_1, …  INT64       TIMESTAMP(us, UTC)      plain, where a sequence was asked for
//	…          each field, optional:
//	           string BYTE_ARRAY STRING, int64 INT64, double DOUBLE, bool BOOLEAN,
//	           timestamp INT64 TIMESTAMP(us, UTC), date INT32 DATE
//
// less the one that partitions the answer. In the wide shape it is a user:
//
//	user_id                                        as above
//	PLAY_count INT64                               plain, and so on for each behaviour:
//	PLAY_first, PLAY_last
//	           INT64       TIMESTAMP(us, UTC)      plain, optional
//	PLAY_days  INT64                               plain
//	step_1, …                                      as above
//
// A string column has a dictionary, unless the values at the start of the file
// are almost all different or the dictionary outgrows its limit; then it is
// plain in that row group and those after it. No chunk mixes the two.
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
// Levels, in nullable columns only, are one bit a row, 1 where there is a value,
// in the hybrid of runs and packed bits ("RLE"). Values are of the rows that have
// one:
//
//	plain       little endian; strings with 4 bytes of length before; bools 8 in a byte
//	dictionary  bits of an index, 1 byte | indexes in the same hybrid
//
// A page's header carries the CRC-32 of the body as it stands in the file.
//
// A row group has exactly Options.GroupRows rows, the last one what is left, and
// fewer only where a row more would take its strings beyond Options.GroupBytes.
// Within a group a column is cut into pages of equally many rows and of about
// Options.PageBytes.
//
// # Statistics
//
// Null counts stand everywhere and are exact. Bounds in the footer are exact
// values, and absent where one is longer than 256 bytes. Bounds in column
// indexes are cut to 64 bytes, the upper one then raised to the next code point.
// A page of nulls alone is marked so and has empty bounds. Of doubles, a chunk
// with a NaN has neither bounds nor a column index, since readers differ in where
// they sort it, and a zero is -0 as lower and +0 as upper bound.
package trailfile
