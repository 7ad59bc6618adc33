package hfile

import (
	"fmt"
	"strings"
)

// Options are the options of a Writer. The zero value of a field means the default in its
// comment.
type Options struct {
	Codec    Codec    // SNAPPY
	Encoding Encoding // FAST_DIFF

	// BlockSize is the size at which a block closes before its next cell; 64 KiB. The size
	// counts bytes without compression. It counts bytes without encoding, unless the encoding
	// made them longer.
	BlockSize int

	// GroupLen returns the number of leading bytes of a row that identify its group, for
	// example a user. If it is set, a block that has reached BlockSize closes only where the
	// next group begins, or at four times BlockSize. The writer calls it once for a full
	// block and once for each new row that follows.
	GroupLen func(row []byte) int

	IndexChunk     int  // bytes of a leaf of the index; 128 KiB
	ShortIndexKeys bool // shorten index keys as HBase does, instead of each block's own first key

	Bloom       BloomType // NONE
	BloomPrefix int       // leading bytes of a row that ROWPREFIX_FIXED_LENGTH uses

	// Tags adds a tags field to every cell. If it is not set, a cell with tags is an error.
	Tags bool
	// MVCC writes the cells' own write numbers. If it is not set, every number is 0, as files
	// for bulk loading need it.
	MVCC bool

	// Distinct refuses a cell with the key of the cell before it. HBase's own files may have such cells.
	Distinct bool

	// Created is the creation time of the file in milliseconds. The writer never reads the
	// clock.
	Created int64
	// Info holds more entries for file info, such as BULKLOAD_SOURCE_TASK. A name that begins
	// with "hfile." or that the writer uses itself is an error.
	Info map[string][]byte

	unmarked        bool        // leave out the entries of file info that mark a bulk file
	indexMinEntries int         // fewest entries of an intermediate index block; 16
	meta            []metaBlock // named blocks, as others attach to a file
	compressor      compressor  // in place of Codec's
	comparator      string      // in place of HBase's
}

type metaBlock struct {
	name    string
	payload []byte
}

// maxBlockSize bounds BlockSize so that a block of four times this size, plus one cell, fits
// easily in an int32.
const maxBlockSize = 64 << 20

func (o Options) withDefaults() Options {
	if o.Codec == "" {
		o.Codec = Snappy
	}
	if o.Encoding == "" {
		o.Encoding = FastDiff
	}
	if o.BlockSize == 0 {
		o.BlockSize = 64 << 10
	}
	if o.IndexChunk == 0 {
		o.IndexChunk = 128 << 10
	}
	if o.Bloom == "" {
		o.Bloom = NoBloom
	}
	if o.comparator == "" {
		o.comparator = comparatorName
	}
	if o.indexMinEntries == 0 {
		o.indexMinEntries = 16
	}
	return o
}

// validate reports the first option that is not valid.
func (o *Options) validate() error {
	if _, ok := o.Codec.ordinal(); !ok {
		return fmt.Errorf("hfile: codec %q: want NONE, GZ, SNAPPY, LZ4, ZSTD or ZSTD_PLAIN", o.Codec)
	}
	if _, ok := o.Encoding.id(); !ok {
		return fmt.Errorf("hfile: encoding %q: want NONE, PREFIX, DIFF, FAST_DIFF or ROW_INDEX_V1", o.Encoding)
	}
	if o.BlockSize < 1 || o.BlockSize > maxBlockSize {
		return fmt.Errorf("hfile: block size %d is not in 1..%d", o.BlockSize, maxBlockSize)
	}
	if o.IndexChunk < 1 || o.IndexChunk > maxBlockSize {
		return fmt.Errorf("hfile: index chunk %d is not in 1..%d", o.IndexChunk, maxBlockSize)
	}
	switch o.Bloom {
	case NoBloom, RowBloom, RowColBloom:
	case PrefixBloom:
		if o.BloomPrefix < 1 || o.BloomPrefix > maxRow {
			return fmt.Errorf("hfile: Bloom prefix of %d bytes is not in 1..%d", o.BloomPrefix, maxRow)
		}
	default:
		return fmt.Errorf("hfile: Bloom filter %q: want NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH", o.Bloom)
	}
	for name := range o.Info {
		if strings.HasPrefix(name, infoReserved) || ownInfo[name] {
			return fmt.Errorf("hfile: file info %q is the writer's own", name)
		}
	}
	return nil
}

// ownInfo lists the entries that a Writer makes itself, and the entries that would mislead a
// RegionServer about a bulk file.
var ownInfo = map[string]bool{
	infoKeyValue: true, infoMaxMVCC: true, infoEncoding: true, infoBulkTime: true,
	infoMajor: true, infoNotMinor: true, infoTimeRange: true, infoEarliestPut: true,
	infoDeleteFamily: true, infoBloomType: true, infoLastBloomKey: true, infoBloomParam: true,
	infoIndexEncoding: true,
	"MAX_SEQ_ID_KEY":  true, "SKIP_RESET_SEQ_ID": true, "COMPACTION_EVENT_KEY": true,
}
