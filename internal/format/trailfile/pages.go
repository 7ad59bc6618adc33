package trailfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// pages writes the parts of a file one after the other and tracks the offset.
type pages struct {
	w      io.Writer
	offset int64
	codec  *compressor

	// Buffers that are reused for each page.
	body, packed, levels, flags []byte
	head                        bytes.Buffer
	filter                      bloom.SplitBlockFilter
}

// A chunk describes a written column chunk.
type chunk struct {
	column  format.ColumnChunk
	index   *format.ColumnIndex // nil if there is none
	offsets format.OffsetIndex
}

func (p *pages) write(b []byte) error {
	n, err := p.w.Write(b)
	p.offset += int64(n)
	return err
}

// thrift writes a structure and returns its size in bytes.
func (p *pages) thrift(v any) (int, error) {
	p.head.Reset()
	if err := thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(&p.head)).Encode(v); err != nil {
		return 0, err
	}
	return p.head.Len(), p.write(p.head.Bytes())
}

// page writes a page whose body is p.body. It fills in the fields of the header that every
// page has, and returns the size of the page in the file and before
// compression, header included.
func (p *pages) page(h format.PageHeader) (stored, raw int64, err error) {
	body := p.codec.compress(p.packed, p.body)
	if p.codec.codec != None {
		p.packed = body
	}
	h.UncompressedPageSize, h.CompressedPageSize = int32(len(p.body)), int32(len(body))
	h.CRC = int32(crc32.ChecksumIEEE(body))
	n, err := p.thrift(&h)
	if err != nil {
		return 0, 0, err
	}
	return int64(n + len(body)), int64(n + len(p.body)), p.write(body)
}

// chunk writes the rows of c in pages of about pageBytes.
func (p *pages) chunk(c *column, rows, pageBytes int) (*chunk, error) {
	out := &chunk{column: format.ColumnChunk{MetaData: format.ColumnMetaData{
		Type:         c.physical,
		PathInSchema: []string{c.name},
		Codec:        p.codec.format(),
		NumValues:    int64(rows),
	}}}
	if err := p.dictionary(out, c.values); err != nil {
		return nil, fmt.Errorf("column %s: dictionary: %w", c.name, err)
	}
	bounds := chunkBounds{values: c.values, text: c.physical == format.ByteArray}
	perPage := rowsPerPage(rows, c.values.size(), pageBytes)
	out.column.MetaData.DataPageOffset = p.offset
	value, levels := 0, c.levels.reader()
	for from := 0; from < rows; from += perPage {
		n := min(perPage, rows-from)
		to := value + n
		if c.nullable {
			var values int
			p.flags, values = levels.next(p.flags[:0], n)
			to = value + values
		}
		bounds.page(value, to, n-(to-value))
		if err := p.data(out, c, from, n, value, to); err != nil {
			return nil, fmt.Errorf("column %s: page at row %d: %w", c.name, from, err)
		}
		value = to
	}
	m := &out.column.MetaData
	m.Encoding = append(m.Encoding, c.values.encoding())
	if c.nullable || c.values.encoding() == format.RLEDictionary {
		m.Encoding = append(m.Encoding, format.RLE)
	}
	m.Statistics = bounds.statistics()
	out.index = bounds.columnIndex()
	return out, nil
}

// rowsPerPage divides rows into pages of equal numbers of rows.
func rowsPerPage(rows, size, pageBytes int) int {
	n := max(1, (size+pageBytes-1)/pageBytes)
	return max(1, (rows+n-1)/n)
}

// dictionary writes the dictionary page of v, if there is one.
func (p *pages) dictionary(out *chunk, v values) error {
	body, n := v.dictionary(p.body[:0])
	if n == 0 {
		return nil
	}
	p.body = body
	m := &out.column.MetaData
	m.DictionaryPageOffset = p.offset
	m.Encoding = append(m.Encoding, format.Plain)
	m.EncodingStats = append(m.EncodingStats, format.PageEncodingStats{PageType: format.DictionaryPage, Encoding: format.Plain, Count: 1})
	stored, raw, err := p.page(format.PageHeader{
		Type:                 format.DictionaryPage,
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(n), Encoding: format.Plain}),
	})
	m.TotalCompressedSize += stored
	m.TotalUncompressedSize += raw
	return err
}

// data writes a page of n rows, beginning at row first. They have the values from up to to. If the column is nullable, p.flags has
// the rows that have a value.
func (p *pages) data(out *chunk, c *column, first, n, from, to int) error {
	p.body = p.body[:0]
	if c.nullable {
		e := rle.Encoding{BitWidth: 1}
		// The only possible error is a width beyond 8 bits.
		p.levels, _ = e.EncodeLevels(p.levels, p.flags)
		p.body = binary.LittleEndian.AppendUint32(p.body, uint32(len(p.levels)))
		p.body = append(p.body, p.levels...)
	}
	p.body = c.values.encode(p.body, from, to)
	at := p.offset
	stored, raw, err := p.page(format.PageHeader{
		Type: format.DataPage,
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues:               int32(n),
			Encoding:                c.values.encoding(),
			DefinitionLevelEncoding: format.RLE,
			RepetitionLevelEncoding: format.RLE,
			Statistics:              format.Statistics{NullCount: int64(n - (to - from))},
		}),
	})
	out.count(c.values.encoding(), stored, raw)
	out.offsets.PageLocations = append(out.offsets.PageLocations,
		format.PageLocation{Offset: at, CompressedPageSize: int32(stored), FirstRowIndex: int64(first)})
	return err
}

// count adds a data page to the sums of the chunk.
func (c *chunk) count(e format.Encoding, stored, raw int64) {
	m := &c.column.MetaData
	m.TotalCompressedSize += stored
	m.TotalUncompressedSize += raw
	if n := len(m.EncodingStats); n == 0 || m.EncodingStats[n-1].PageType != format.DataPage {
		m.EncodingStats = append(m.EncodingStats, format.PageEncodingStats{PageType: format.DataPage, Encoding: e})
	}
	m.EncodingStats[len(m.EncodingStats)-1].Count++
}

// bloom writes the Bloom filter of u and records it in c, the chunk of u.
func (p *pages) bloom(c *chunk, u *users) error {
	p.filter = u.filter(p.filter)
	bits := p.filter.Bytes()
	m := &c.column.MetaData
	m.BloomFilterOffset = p.offset
	n, err := p.thrift(&format.BloomFilterHeader{
		NumBytes:    int32(len(bits)),
		Algorithm:   format.BloomFilterAlgorithm{Value: &format.SplitBlockAlgorithm{}},
		Hash:        format.BloomFilterHash{Value: &format.XxHash{}},
		Compression: format.BloomFilterCompression{Value: &format.BloomFilterUncompressed{}},
	})
	if err == nil {
		err = p.write(bits)
	}
	if err != nil {
		return fmt.Errorf("column user_id: bloom filter: %w", err)
	}
	m.BloomFilterLength = int32(n + len(bits))
	return nil
}
