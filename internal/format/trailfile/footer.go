package trailfile

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// formatVersion is the value of FileMetaData.version that writers of logical types use.
const formatVersion = 2

// A footer collects the data for the end of a file.
type footer struct {
	order  int // as in Schema
	rows   int64
	groups []format.RowGroup
	chunks [][]*chunk // of each group, by column
}

// add adds a row group that begins at an offset.
func (f *footer) add(chunks []*chunk, rows int, begin int64) {
	g := format.RowGroup{
		NumRows:    int64(rows),
		FileOffset: begin,
		Ordinal:    int16(len(f.groups)),
		SortingColumns: []format.SortingColumn{
			{ColumnIdx: 0}, // user_id
		},
	}
	if f.order > 0 {
		g.SortingColumns = append(g.SortingColumns, format.SortingColumn{ColumnIdx: int32(f.order)})
	}
	for _, c := range chunks {
		g.TotalByteSize += c.column.MetaData.TotalUncompressedSize
		g.TotalCompressedSize += c.column.MetaData.TotalCompressedSize
	}
	f.rows += int64(rows)
	f.groups = append(f.groups, g)
	f.chunks = append(f.chunks, chunks)
}

// write writes the page indexes, the footer and the bytes after it.
func (f *footer) write(p *pages, columns []*column) error {
	if err := f.columnIndexes(p); err != nil {
		return err
	}
	if err := f.offsetIndexes(p); err != nil {
		return err
	}
	n, err := p.thrift(f.metadata(columns))
	if err != nil {
		return err
	}
	return p.write(append(binary.LittleEndian.AppendUint32(nil, uint32(n)), magic...))
}

func (f *footer) columnIndexes(p *pages) error {
	for _, chunks := range f.chunks {
		for _, c := range chunks {
			if c.index == nil {
				continue
			}
			c.column.ColumnIndexOffset = p.offset
			n, err := p.thrift(c.index)
			if err != nil {
				return err
			}
			c.column.ColumnIndexLength = int32(n)
		}
	}
	return nil
}

func (f *footer) offsetIndexes(p *pages) error {
	for _, chunks := range f.chunks {
		for _, c := range chunks {
			if c.offsets.PageLocations == nil {
				continue
			}
			c.column.OffsetIndexOffset = p.offset
			n, err := p.thrift(&c.offsets)
			if err != nil {
				return err
			}
			c.column.OffsetIndexLength = int32(n)
		}
	}
	return nil
}

func (f *footer) metadata(columns []*column) *format.FileMetaData {
	m := &format.FileMetaData{
		Version:          formatVersion,
		Schema:           []format.SchemaElement{{Name: "trail", NumChildren: thrift.New(int32(len(columns)))}},
		NumRows:          f.rows,
		RowGroups:        f.groups,
		KeyValueMetadata: []format.KeyValue{{Key: VersionKey, Value: SchemaVersion}},
		CreatedBy:        createdBy,
	}
	for _, c := range columns {
		m.Schema = append(m.Schema, c.element())
		m.ColumnOrders = append(m.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
	}
	for g, chunks := range f.chunks {
		for _, c := range chunks {
			m.RowGroups[g].Columns = append(m.RowGroups[g].Columns, c.column)
		}
	}
	return m
}
