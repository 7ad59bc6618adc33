// Package hfile writes and reads HFile version 3, HBase's sorted file of cells.
// A Writer receives the sorted cells of one region. A Reader serves the gets and scans of a
// table. A RegionServer accepts a finished file as it is.
//
// # Promises
//
// A Writer accepts cells in the order of package cell and returns an error for any other order.
// Equal keys are legal, but it is undefined which of them a reader prefers, so remove
// duplicates first. A Writer writes each byte once, front to back. The same cells with the same
// Options give the same bytes. Many goroutines may use a Reader at once; a Writer and an
// Iterator are for one goroutine at a time. No call starts a goroutine. Bytes that a method
// returns are valid until its next call, or as long as its comment states. Bytes that are
// passed in are not kept. Every checksum is verified before the bytes that it covers are used.
// Inconsistent data is an error that wraps ErrCorrupt and names the offset.
//
// Encrypted files, zstd dictionaries, and the codecs LZO, BZIP2, LZMA and BROTLI are not
// supported: the error wraps ErrUnsupported.
//
// # The file
//
// All integers are big endian unless a line states otherwise. vint is Hadoop's variable
// integer, ci a protobuf varint of 32 bits.
//
//	0                 data blocks, and between them leaf index blocks and Bloom
//	                  chunks; they touch each other
//	                  meta blocks, then intermediate index blocks
//	load-on-open      IDXROOT2  the root of the data index
//	                  IDXROOT2  the meta index
//	                  FILEINF2  file info
//	                  BLMFMET2  the places of the Bloom chunks, if there are any
//	size-4096         trailer
//
// # Block
//
//	 0   8  magic   DATABLK*  data               DATABLKE  encoded data
//	                IDXLEAF2  IDXINTE2  IDXROOT2  METABLKc  FILEINF2
//	                BLMFBLK2  Bloom chunk         BLMFMET2  DFBLMET2
//	 8   4  bytes after the header: stored payload and checksums
//	12   4  bytes of the payload before compression
//	16   8  offset of the previous block of the kind, or -1; DATABLK* and
//	        DATABLKE are one kind
//	24   1  checksum type: 0 none, 1 CRC-32, 2 CRC-32C
//	25   4  bytes per checksum, c
//	29   4  33 and the bytes of the stored payload, n
//	33      payload as stored
//	 n      one 4-byte checksum for each c bytes of [0, n), the last for fewer
//
// The codec of the trailer applies to every payload, even if it makes the payload
// longer. GZ is one gzip member, and plain ZSTD one frame. SNAPPY, LZ4 and
// framed ZSTD are Hadoop's groups of chunks:
//
//	repeat  int32 bytes of the group when decoded, 0 is allowed at the end
//	        repeat  int32 length | chunk
//
// A chunk is made from at most 128 KiB, because RegionServers decode into a
// buffer of 256 KiB without checking its size.
//
// # Cell
//
//	int32 keyLen | int32 valueLen | key | value | [uint16 n | tags] | [vint mvcc]
//
//	key: int16 rowLen | row | int8 famLen | family | qualifier | int64 time | uint8 type
//
// All cells have the tags part if file info has hfile.MAX_TAGS_LEN, and the
// mvcc part if KEY_VALUE_VERSION is 1. A block is cells without gaps, or
// one of the encodings below. It ends when it has reached the block
// size, counted without encoding but with ROW_INDEX_V1's starts of rows, and never
// between cells with equal keys. With Options.GroupLen it continues to the end of
// the group of rows, up to four times the size.
//
// A tag is uint16 n | uint8 type | n-1 bytes. If file info has hfile.TAGS_COMPRESSED, tags
// may be compressed in blocks with an encoding other than ROW_INDEX_V1:
// each is ff | ci n | uint8 type | n-1 bytes, or the int16 number of an earlier tag of
// the block. Numbers go up to 126. Then a new tag gets the number of the least recently used
// tag.
//
// # Encodings
//
// An encoded payload begins with int16 id and, except for ROW_INDEX_V1, int32 sum
// of the cells' plain sizes. Each block starts without state. The tail is
// [ci n | tags] [vint mvcc].
//
// common is the number of leading bytes that a key shares with the key before: of
// the two length bytes; if they are equal, also of the row; if that is equal too, also of
// family length, family and qualifier.
//
//	FAST_DIFF, 4   first  00 | ci keyLen | ci valueLen | ci 0 | key | value | tail
//	               then   flag | [ci keyLen] | [ci valueLen] | ci common | rest
//	                      | time without t leading bytes | [type] | [value] | tail
//	               flag   08 same keyLen   10 same valueLen   20 same type
//	                      40 same value    07 t, leading bytes of the time that are equal
//	DIFF, 3        int8 famLen | family, once; then
//	               flag | [ci keyLen] | [ci valueLen] | ci common | rest
//	                      | time, little endian | [type] | value | tail
//	               flag   01 same keyLen   02 same valueLen   04 same type
//	                      08 time is the time before minus this
//	                      70 bytes of the time less one   80 it is negative
//	PREFIX, 2      ci keyLen-common | ci valueLen | ci common | key[common:] | value | tail
//	               common continues into time and type if everything before is equal
//	ROW_INDEX_V1, 7  cells | int32 rows | rows times int32 start of a row | int32 bytes of cells
//
// If common ends before the end of the row, rest is the rest of length and row, and the
// whole qualifier. Otherwise rest is the rest of the qualifier. A part in brackets is left out
// if the flag has the bit for "same".
//
// # Index
//
// A root entry is int64 offset | int32 size on disk | vint length | key, with the
// count in the trailer. Leaves and intermediates can be searched in place:
//
//	int32 n | (n+1) times int32 start of entry i after this table | n times
//	( int64 offset | int32 size on disk | key )
//
// The key K of a block obeys: last key of the block before < K <= first key of
// the block. It is a key of a cell, or a shorter key in between that has type 255,
// the largest time, and no family unless only the qualifier was shortened. The
// key of the file's first block is always the key of a cell. If the index has more than one
// level, the root ends with the middle of the file:
// int64 offset of a leaf | int32 its size | int32 entry in it.
//
// # File info
//
// "PBUF", then varint length and a protobuf message { 1: { 1: key, 2: value } },
// keys ascending.
//
// # Bloom filter
//
// A chunk is an array of bits. BLMFMET2 is
//
//	int32 3 | int64 bytes of all chunks | int32 hashes | int32 hash type, 1 Murmur
//	| int64 keys | int64 keys for which there was room | int32 chunks
//	| vint length, name of the comparator
//	| chunks times ( int64 offset | int32 size on disk | vint length | first key )
//
// Keys are in file order: whole rows, rows cut to a fixed length, or row with
// qualifier. The bits of key k are |int32(h1 + i*h2)| mod bits, i from 0, with
// h1 = murmur(k, 0) and h2 = murmur(k, h1).
//
// # Trailer
//
// The last 4096 bytes: TRABLK"$ | varint length | protobuf message | zeros |
// 03 00 00 03.
//
//	1 offset of FILEINF2             7 cells
//	2 offset of load-on-open         8 levels of the data index, root included
//	3 index bytes, uncompressed      9 offset of the first data block
//	4 all bytes, uncompressed       10 offset of the last data block
//	5 entries of the root           11 comparator's class name
//	6 entries of the meta index     12 codec   13 encryption key
package hfile
