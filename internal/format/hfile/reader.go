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
	middle  []byte // what follows the root's entries
	bloom   *bloomFilter
	times   timeRange

	firstRow, lastRow []byte
}

// Open reads the trailer, the index and the file info of a file of size bytes. r is used
// until the last call of the Reader and its Iterators, and must allow concurrent calls of
// ReadAt.
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

// load takes in a block that is loaded on opening, and keeps no reference to its
// payload.
func (r *Reader) load(kind BlockType, at int64, payload []byte) error {
	var err error
	switch kind {
	case RootIndex:
		// The second root is the index of the meta blocks, which is not needed.
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

// readLayout takes from file info what cells cannot be read without.
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

// Cells is how many cells the file holds.
func (r *Reader) Cells() int64 { return r.trailer.Cells }

// FirstRow is the row of the first cell, as the index says; nil if there is
// none. The caller does not change it.
func (r *Reader) FirstRow() []byte { return r.firstRow }

// LastRow is the row of the last cell, as file info says; nil if there is none.
// The caller does not change it.
func (r *Reader) LastRow() []byte { return r.lastRow }

// Info is file info. The caller does not change it.
func (r *Reader) Info() map[string][]byte { return r.info }

// Trailer is the file's trailer.
func (r *Reader) Trailer() Trailer { return r.trailer }

// Codec is the codec of the blocks. Unlike the trailer's it tells the two layouts
// of ZSTD apart.
func (r *Reader) Codec() Codec { return r.codec }

// Encoding is the encoding of the data blocks.
func (r *Reader) Encoding() Encoding { return r.layout.encoding }

// Bloom returns what the keys of the file's Bloom filter are.
func (r *Reader) Bloom() BloomType {
	if r.bloom == nil {
		return NoBloom
	}
	return r.bloom.typ
}

// MayContain says whether the Bloom filter allows for cells of row; false is
// certain. Without a filter of rows or their prefixes the answer is true. Parts
// of the filter that have been asked stay in memory.
func (r *Reader) MayContain(row []byte) (bool, error) {
	if r.bloom == nil {
		return true, nil
	}
	return r.bloom.mayContain(row)
}
