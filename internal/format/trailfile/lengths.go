package trailfile

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Before it reads a page, the library allocates the compressed and uncompressed sizes that
// the page's header claims. checkPages compares both with the bytes of the file.

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
			if err := f.checkChunk(&group.Columns[i].MetaData, min(n, group.NumRows)); err != nil {
				return fmt.Errorf("row group %d: column %d: %w", g, i, err)
			}
		}
		if n -= group.NumRows; n <= 0 {
			return nil
		}
	}
	return nil
}

// checkChunk checks the pages of a column chunk that hold its first n values.
func (f *File) checkChunk(m *format.ColumnMetaData, n int64) error {
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

// pageHeader reads the page header at an offset, and returns its length.
func (f *File) pageHeader(at int64) (*format.PageHeader, int64, error) {
	if at < 0 || at >= f.size {
		return nil, 0, fmt.Errorf("damaged file: a page at offset %d, in a file of %d", at, f.size)
	}
	for window := int64(headerWindow); ; window *= 16 {
		b := make([]byte, min(window, f.size-at))
		if n, err := f.r.ReadAt(b, at); n < len(b) {
			return nil, 0, fmt.Errorf("page at offset %d: %w", at, err)
		}
		h := new(format.PageHeader)
		r := new(thrift.CompactProtocol).NewReaderFromBytes(b)
		err := thrift.NewDecoder(r).Decode(h)
		if err == nil {
			return h, int64(r.BytesRead()), nil
		}
		if window >= headerBytes || window >= f.size-at {
			return nil, 0, fmt.Errorf("damaged file: page at offset %d: %w", at, noEOF(err))
		}
	}
}

// noEOF replaces io.EOF, which the caller would take for the end of the rows.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
