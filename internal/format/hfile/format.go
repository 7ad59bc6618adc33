package hfile

import (
	"errors"
	"fmt"
)

// ErrCorrupt is wrapped by the error for bytes that no writer of HFiles produces.
var ErrCorrupt = errors.New("corrupt file")

// ErrUnsupported is wrapped by the error for a file that appears to be well formed but uses a
// feature that this package does not read.
var ErrUnsupported = errors.New("not supported")

// corrupt returns an error about the bytes at an offset of the file. It wraps ErrCorrupt,
// unless an argument is an error that wraps ErrUnsupported.
func corrupt(offset int64, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if errors.Is(err, ErrUnsupported) {
		return fmt.Errorf("hfile: offset %d: %w", offset, err)
	}
	return fmt.Errorf("hfile: offset %d: %w: %w", offset, ErrCorrupt, err)
}

// A Codec is the compression of every block's payload, by HBase's name.
type Codec string

// The codecs that are written and read. ZSTD has two formats that exclude each other. Servers
// with HBase's own codec class read only the framed layout. Servers with Hadoop's native
// class read only the plain layout.
const (
	Plain     Codec = "NONE"
	GZ        Codec = "GZ"
	Snappy    Codec = "SNAPPY"
	LZ4       Codec = "LZ4"
	ZSTD      Codec = "ZSTD"       // framed, as org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec
	ZSTDPlain Codec = "ZSTD_PLAIN" // one zstd frame a block, as Hadoop's ZStandardCodec
)

// codecNames are HBase's names by ordinal, the number in the trailer.
var codecNames = [...]string{"LZO", "GZ", "NONE", "SNAPPY", "LZ4", "BZIP2", "ZSTD", "LZMA", "BROTLI"}

// ordinal returns the number that represents c in the trailer.
func (c Codec) ordinal() (uint64, bool) {
	switch c {
	case GZ:
		return 1, true
	case Plain:
		return 2, true
	case Snappy:
		return 3, true
	case LZ4:
		return 4, true
	case ZSTD, ZSTDPlain:
		return 6, true
	}
	return 0, false
}

// codecOf returns the codec that a trailer's number represents. The layout of a ZSTD file is
// detected block by block.
func codecOf(ordinal uint64) (Codec, error) {
	for _, c := range []Codec{Plain, GZ, Snappy, LZ4, ZSTD} {
		if n, _ := c.ordinal(); n == ordinal {
			return c, nil
		}
	}
	if ordinal < uint64(len(codecNames)) {
		return "", fmt.Errorf("hfile: codec %s: %w", codecNames[ordinal], ErrUnsupported)
	}
	return "", fmt.Errorf("hfile: codec %d: %w", ordinal, ErrCorrupt)
}

// An Encoding is the way in which a data block stores cells, by HBase's name.
type Encoding string

// The encodings that are written and read.
const (
	NoEncoding Encoding = "NONE"
	Prefix     Encoding = "PREFIX"
	Diff       Encoding = "DIFF"
	FastDiff   Encoding = "FAST_DIFF"
	RowIndex   Encoding = "ROW_INDEX_V1"
)

// Numbers that encoded payloads begin with.
const (
	idPrefix   = 2
	idDiff     = 3
	idFastDiff = 4
	idRowIndex = 7
)

// id returns the number that payloads of e begin with, 0 for no encoding.
func (e Encoding) id() (uint16, bool) {
	switch e {
	case NoEncoding:
		return 0, true
	case Prefix:
		return idPrefix, true
	case Diff:
		return idDiff, true
	case FastDiff:
		return idFastDiff, true
	case RowIndex:
		return idRowIndex, true
	}
	return 0, false
}

// A BloomType is the kind of keys that a Bloom filter holds, by HBase's name.
type BloomType string

// The Bloom filters that are written and read.
const (
	NoBloom     BloomType = "NONE"
	RowBloom    BloomType = "ROW"
	RowColBloom BloomType = "ROWCOL"
	PrefixBloom BloomType = "ROWPREFIX_FIXED_LENGTH"
)

// Keys of file info.
const (
	infoLastKey       = "hfile.LASTKEY"
	infoAvgKeyLen     = "hfile.AVG_KEY_LEN"
	infoAvgValueLen   = "hfile.AVG_VALUE_LEN"
	infoCreated       = "hfile.CREATE_TIME_TS"
	infoMaxTagsLen    = "hfile.MAX_TAGS_LEN"
	infoTagsCompress  = "hfile.TAGS_COMPRESSED"
	infoKeyValue      = "KEY_VALUE_VERSION"
	infoMaxMVCC       = "MAX_MEMSTORE_TS_KEY"
	infoEncoding      = "DATA_BLOCK_ENCODING"
	infoBulkTime      = "BULKLOAD_TIMESTAMP"
	infoMajor         = "MAJOR_COMPACTION_KEY"
	infoNotMinor      = "EXCLUDE_FROM_MINOR_COMPACTION"
	infoTimeRange     = "TIMERANGE"
	infoEarliestPut   = "EARLIEST_PUT_TS"
	infoDeleteFamily  = "DELETE_FAMILY_COUNT"
	infoBloomType     = "BLOOM_FILTER_TYPE"
	infoLastBloomKey  = "LAST_BLOOM_KEY"
	infoBloomParam    = "BLOOM_FILTER_PARAM"
	infoReserved      = "hfile."
	infoIndexEncoding = "INDEX_BLOCK_ENCODING"
)

// Names of the order of cells. HBase 2.4 to 3 use the first. Other names mean another order,
// for example MetaComparator.
const (
	comparatorName       = "org.apache.hadoop.hbase.KeyValue$KVComparator"
	bloomComparatorClass = "org.apache.hadoop.hbase.CellComparatorImpl"
)
