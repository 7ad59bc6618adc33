package trailfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/dustin/go-humanize"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// Before it reads a page, the library allocates the compressed and uncompressed sizes that
// the page's header claims. Its decoder of snappy allocates the size that the compressed bytes
// begin with, and its decoder of LZ4 doubles its buffer until the bytes fit, which damaged bytes
// never do. checkChunk compares all of them with the bytes of the file.

const (
	// A header of more than headerBytes is not a page header. Most have about 50 bytes.
	headerBytes  = 1 << 20
	headerWindow = 1 << 10

	// slack is the number of bytes that a page may add to the most that its codec can
	// produce.
	slack = 64 << 10
)

// mostOf returns the largest number of bytes that a codec can produce from one byte. Snappy
// copies 64 bytes with 2, gzip copies 258 with 2 bits, LZ4 has 255 in one byte, and a zstd
// block has 128 KiB in 4. Other codecs have no known limit.
func mostOf(c format.CompressionCodec) int64 {
	switch c {
	case format.Uncompressed:
		return 1
	case format.Snappy:
		return 32
	case format.Gzip:
		return 1032
	case format.Lz4Raw:
		return 255
	}
	return 128 << 10 / 4
}

// checkPages checks the headers of all pages that hold the first n rows.
func (f *File) checkPages(n int64) error {
	for g, group := range f.f.Metadata().RowGroups {
		for i := range group.Columns {
			if err := f.checkChunk(&group.Columns[i].MetaData, min(n, group.NumRows), math.MaxInt64); err != nil {
				return fmt.Errorf("row group %d: column %d: %w", g, i, err)
			}
		}
		if n -= group.NumRows; n <= 0 {
			return nil
		}
	}
	return nil
}

// checkChunk checks the pages of a column chunk that hold its first n values. A page may have most bytes.
func (f *File) checkChunk(m *format.ColumnMetaData, n, most int64) error {
	at := m.DataPageOffset
	if d := m.DictionaryPageOffset; d > 0 && d < at {
		at = d
	}
	for n > 0 {
		h, size, err := f.pageHeader(at)
		if err != nil {
			return err
		}
		at += size
		compressed, raw := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		if compressed < 0 || compressed > f.size-at || raw < 0 || raw > compressed*mostOf(m.Codec)+slack {
			return fmt.Errorf("damaged file: a page at offset %d that says it has %d bytes, and gives %d, in a file of %d", at, compressed, raw, f.size)
		}
		if raw > most {
			return fmt.Errorf("a page at offset %d is %w: it has %s, and %s fit", at, ErrLargePage, humanize.IBytes(uint64(raw)), humanize.IBytes(uint64(most)))
		}
		if err := f.checkBody(h, m.Codec, at); err != nil {
			return err
		}
		at += compressed
		switch {
		case h.DataPageHeader.Valid:
			n -= int64(h.DataPageHeader.V.NumValues)
		case h.DataPageHeaderV2.Valid:
			n -= int64(h.DataPageHeaderV2.V.NumValues)
		}
	}
	return nil
}

// checkBody checks that the compressed bytes of a page, which begin at an offset, decompress to
// no more than the page's header claims.
func (f *File) checkBody(h *format.PageHeader, codec format.CompressionCodec, at int64) error {
	n, raw := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	if h.DataPageHeaderV2.Valid {
		v2 := &h.DataPageHeaderV2.V
		levels := int64(v2.RepetitionLevelsByteLength) + int64(v2.DefinitionLevelsByteLength) // not compressed
		if levels < 0 || levels > n || levels > raw {
			return fmt.Errorf("damaged file: a page at offset %d of %d bytes with levels of %d", at, n, levels)
		}
		if v2.IsCompressed.Valid && !v2.IsCompressed.V {
			return nil
		}
		at, n, raw = at+levels, n-levels, raw-levels
	}
	switch codec {
	case format.Snappy:
		b, err := f.bytes(at, min(n, binary.MaxVarintLen64))
		if err != nil {
			return err
		}
		if size, _ := binary.Uvarint(b); size > uint64(raw) {
			return fmt.Errorf("damaged file: a page at offset %d that says it gives %d bytes, and is compressed from %d", at, raw, size)
		}
	case format.Lz4Raw:
		b, err := f.bytes(at, n)
		if err != nil {
			return err
		}
		if _, err := lz4.UncompressBlock(b, make([]byte, raw)); err != nil && n > 0 {
			return fmt.Errorf("damaged file: a page at offset %d that says it gives %d bytes: %w", at, raw, err)
		}
	}
	return nil
}

// bytes reads n bytes of the file.
func (f *File) bytes(at, n int64) ([]byte, error) {
	b := make([]byte, n)
	if got, err := f.r.ReadAt(b, at); int64(got) < n {
		return nil, fmt.Errorf("page at offset %d: %w", at, noEOF(err))
	}
	return b, nil
}

// pageHeader reads the page header at an offset, and returns its length.
func (f *File) pageHeader(at int64) (*format.PageHeader, int64, error) {
	if at < 0 || at >= f.size {
		return nil, 0, fmt.Errorf("damaged file: a page at offset %d, in a file of %d", at, f.size)
	}
	for window := int64(headerWindow); ; window *= 16 {
		b, err := f.bytes(at, min(window, f.size-at))
		if err != nil {
			return nil, 0, err
		}
		h := new(format.PageHeader)
		r := new(thrift.CompactProtocol).NewReaderFromBytes(b)
		if err = thrift.NewDecoder(r).Decode(h); err == nil {
			return h, int64(r.BytesRead()), nil
		}
		if window >= headerBytes || window >= f.size-at {
			return nil, 0, fmt.Errorf("damaged file: page at offset %d: %w", at, noEOF(err))
		}
	}
}

// noEOF replaces io.EOF, which the caller would mistake for the end of the rows.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
