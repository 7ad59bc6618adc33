package hfile

import (
	"encoding/binary"
	"fmt"
	"io"

	"usertrail/internal/cell"
)

// A Reader holds a file's index, trailer and file info. Many goroutines may use it at
// once. It does not close the underlying io.ReaderAt.
type Reader struct {
	r       io.ReaderAt
	size    int64
	trailer Trailer
	codec   Codec
	info    map[string][]byte
	layout  layout
	root    node
	middle  []byte // the bytes after the root's entries
	bloom   *bloomFilter
	times   timeRange

	firstRow, lastRow []byte
}

// Open reads the trailer, the index and the file info of a file of size bytes. The Reader and
// its Iterators use r until their last call. r must allow concurrent calls of ReadAt.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	if size < trailerLen {
		return nil, corrupt(0, "a file of %d bytes has no room for a trailer", size)
	}
	var b [trailerLen]byte
	if err := readAt(r, b[:], size-trailerLen); err != nil {
		return nil, err
	}
	trailer, err := parseTrailer(b[:], size)
	if err != nil {
		return nil, err
	}
	x := &Reader{r: r, size: size, trailer: trailer, codec: trailer.Codec}
	if err := x.readLoadOnOpen(); err != nil {
		return nil, err
	}
	return x, x.readLayout()
}

// readLoadOnOpen reads the blocks between the scanned part and the trailer.
func (r *Reader) readLoadOnOpen() error {
	t := &r.trailer
	s := newScanner(r, t.LoadOnOpen, r.size-trailerLen)
	for s.next() {
		if r.codec == ZSTD && isFrame(s.stored[headerLen:s.header.stored]) {
			r.codec = ZSTDPlain
		}
		payload, err := s.payload()
		if err != nil {
			return err
		}
		if err := r.load(s.header.kind, s.offset, payload); err != nil {
			return corrupt(s.offset, "%w", err)
		}
	}
	if s.err == nil && (r.info == nil || r.middle == nil) {
		return corrupt(t.LoadOnOpen, "no file info or no root of the index")
	}
	return s.err
}

// load parses a block of the load-on-open section, and keeps no reference to its payload.
func (r *Reader) load(kind BlockType, at int64, payload []byte) error {
	var err error
	switch kind {
	case RootIndex:
		// The second root is the index of the meta blocks, which the Reader does not need.
		if at == r.trailer.LoadOnOpen {
			var rest []byte
			rest, err = r.root.parseRoot(payload, r.trailer.RootEntries)
			r.middle = append([]byte{}, rest...)
		}
	case FileInfo:
		if at != r.trailer.FileInfo {
			return fmt.Errorf("file info where the trailer has it at %d", r.trailer.FileInfo)
		}
		r.info, err = parseInfo(payload)
	case BloomMeta:
		r.bloom, err = parseBloom(r, payload)
	case DeleteBloomMeta:
	default:
		return fmt.Errorf("a %s among the blocks to load on opening", kind)
	}
	return err
}

// readLayout reads the entries of file info that are needed to read cells.
func (r *Reader) readLayout() error {
	at := r.trailer.FileInfo
	if v, ok := r.info[infoIndexEncoding]; ok && string(v) != "NONE" {
		return fmt.Errorf("hfile: index encoding %.64q: %w", v, ErrUnsupported)
	}
	l := &r.layout
	l.encoding = NoEncoding
	if v, ok := r.info[infoEncoding]; ok {
		l.encoding = Encoding(v)
	}
	if _, ok := l.encoding.id(); !ok {
		return fmt.Errorf("hfile: encoding %.64q: %w", l.encoding, ErrUnsupported)
	}
	_, l.tail.tags = r.info[infoMaxTagsLen]
	if v, ok := r.info[infoTagsCompress]; ok && l.encoding != NoEncoding && l.encoding != RowIndex {
		l.compressedTags = len(v) > 0 && v[0] != 0
	}
	if v, ok := r.info[infoKeyValue]; ok {
		l.tail.mvcc = len(v) == 4 && binary.BigEndian.Uint32(v) == 1
	}
	r.times = allTimes
	if v, ok := r.info[infoTimeRange]; ok {
		var err error
		if r.times, err = parseTimeRange(v); err != nil {
			return corrupt(at, "%w", err)
		}
	}
	if r.trailer.Cells == 0 {
		return nil
	}
	var last cell.Cell
	if err := parseKey(&last, r.info[infoLastKey]); err != nil {
		return corrupt(at, "file info: last key: %w", err)
	}
	r.lastRow, r.firstRow = last.Row, keyRow(r.root.key(0))
	if r.bloom != nil {
		return r.bloom.describe(r.info, at)
	}
	return nil
}

// Cells returns the number of cells in the file.
func (r *Reader) Cells() int64 { return r.trailer.Cells }

// FirstRow returns the row of the first cell according to the index, nil for an empty file.
// The caller must not change it.
func (r *Reader) FirstRow() []byte { return r.firstRow }

// LastRow returns the row of the last cell according to file info, nil for an empty file. The
// caller must not change it.
func (r *Reader) LastRow() []byte { return r.lastRow }

// Info returns the file info. The caller must not change it.
func (r *Reader) Info() map[string][]byte { return r.info }

// Trailer returns the file's trailer.
func (r *Reader) Trailer() Trailer { return r.trailer }

// Codec returns the codec of the blocks. Unlike the trailer's codec, it distinguishes the two
// layouts of ZSTD.
func (r *Reader) Codec() Codec { return r.codec }

// Encoding returns the encoding of the data blocks.
func (r *Reader) Encoding() Encoding { return r.layout.encoding }

// Bloom returns the kind of keys in the file's Bloom filter.
func (r *Reader) Bloom() BloomType {
	if r.bloom == nil {
		return NoBloom
	}
	return r.bloom.typ
}

// MayContain reports whether the file may have cells of row, according to the Bloom filter.
// False is certain. Without a filter of rows or row prefixes the result is true. Chunks of
// the filter that were needed stay in memory.
func (r *Reader) MayContain(row []byte) (bool, error) {
	if r.bloom == nil {
		return true, nil
	}
	return r.bloom.mayContain(row)
}
