package trailfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"usertrail/internal/behaviour"
)

// A File is a trail file, or any flat Parquet file, that was opened for inspection. Only one
// goroutine may use it.
type File struct {
	f    *parquet.File
	r    io.ReaderAt
	size int64
}

// Open reads the footer of the size bytes in r. r must stay readable as long as the File is
// used.
func Open(r io.ReaderAt, size int64) (f *File, err error) {
	defer caught(&err, "open")
	if err := checkFooter(r, size); err != nil {
		return nil, fmt.Errorf("trailfile: open: %w", err)
	}
	pf, err := parquet.OpenFile(r, size)
	if err != nil {
		return nil, fmt.Errorf("trailfile: open: %w", err)
	}
	return &File{f: pf, r: r, size: size}, nil
}

// checkFooter returns an error if the footer is longer than the file. The library would
// allocate the length that a damaged file claims, up to 4 GiB, before it reads.
func checkFooter(r io.ReaderAt, size int64) error {
	const magic = "PAR1"
	var end [4 + len(magic)]byte // the length of the footer, and the magic
	most := size - int64(len(magic)+len(end))
	if most < 0 {
		return nil // the library returns an error for such a short file
	}
	if n, err := r.ReadAt(end[:], size-int64(len(end))); n < len(end) {
		return fmt.Errorf("read the length of the footer: %w", err)
	}
	if length := int64(binary.LittleEndian.Uint32(end[:])); length > most && string(end[4:]) == magic {
		return fmt.Errorf("damaged file: the footer has %d bytes, in a file of %d", length, size)
	}
	return nil
}

// caught turns a panic of the library into an error. The library panics on some damaged
// files.
func caught(err *error, doing string) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("trailfile: %s: damaged file: %v", doing, r)
	}
}

// An Info holds the content of a file's footer.
type Info struct {
	Rows      int64             `json:"rows"`
	CreatedBy string            `json:"created_by,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	Columns   []ColumnInfo      `json:"columns"`
	Groups    []GroupInfo       `json:"groups"`
}

// A ColumnInfo sums up one column over all row groups.
type ColumnInfo struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	Nullable   bool     `json:"nullable"`
	Codec      string   `json:"codec,omitempty"`
	Encodings  []string `json:"encodings,omitempty"`
	Nulls      int64    `json:"nulls"`
	Compressed int64    `json:"compressed"` // bytes
	Raw        int64    `json:"raw"`        // bytes before compression
}

// A GroupInfo is one row group.
type GroupInfo struct {
	Rows       int64  `json:"rows"`
	Compressed int64  `json:"compressed"` // bytes
	First      string `json:"first"`      // smallest user_id
	Last       string `json:"last"`       // greatest user_id
}

// Info returns the content of the footer.
func (f *File) Info() (info Info, err error) {
	defer caught(&err, "read footer")
	md := f.f.Metadata()
	info = Info{Rows: md.NumRows, CreatedBy: md.CreatedBy, Metadata: map[string]string{}}
	for _, kv := range md.KeyValueMetadata {
		info.Metadata[kv.Key] = kv.Value
	}
	for i, field := range f.f.Schema().Fields() {
		c := ColumnInfo{Name: field.Name(), Type: field.Type().String(), Nullable: field.Optional()}
		for g := range md.RowGroups {
			c.add(&md.RowGroups[g].Columns[i].MetaData)
		}
		info.Columns = append(info.Columns, c)
	}
	for g := range md.RowGroups {
		info.Groups = append(info.Groups, groupInfo(&md.RowGroups[g]))
	}
	return info, nil
}

func groupInfo(g *format.RowGroup) GroupInfo {
	user := &g.Columns[0].MetaData.Statistics
	return GroupInfo{
		Rows:       g.NumRows,
		Compressed: g.TotalCompressedSize,
		First:      string(user.MinValue),
		Last:       string(user.MaxValue),
	}
}

func (c *ColumnInfo) add(m *format.ColumnMetaData) {
	c.Nulls += m.Statistics.NullCount
	c.Compressed += m.TotalCompressedSize
	c.Raw += m.TotalUncompressedSize
	c.Codec = m.Codec.String()
	for _, e := range m.Encoding {
		name := e.String()
		known := false
		for _, have := range c.Encodings {
			known = known || have == name
		}
		if !known {
			c.Encodings = append(c.Encodings, name)
		}
	}
}

// Head returns the first n rows as text, one string per column. A null is the empty string.
func (f *File) Head(n int) (rows [][]string, err error) {
	defer caught(&err, "read rows")
	if err := f.checkPages(int64(n)); err != nil {
		return nil, fmt.Errorf("trailfile: %w", err)
	}
	r := parquet.NewReader(f.f)
	defer r.Close()
	fields := f.f.Schema().Fields()
	buf := make([]parquet.Row, 1)
	for len(rows) < n {
		k, err := r.ReadRows(buf)
		if k == 1 {
			rows = append(rows, rowText(buf[0], fields))
		}
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, fmt.Errorf("trailfile: row %d: %w", len(rows), err)
		}
	}
	return rows, nil
}

func rowText(row parquet.Row, fields []parquet.Field) []string {
	out := make([]string, len(fields))
	for _, v := range row {
		if !v.IsNull() {
			out[v.Column()] = valueText(v, fields[v.Column()].Type())
		}
	}
	return out
}

func valueText(v parquet.Value, t parquet.Type) string {
	if l := t.LogicalType(); l != nil {
		switch of := l.Value.(type) {
		case *format.DateType:
			return behaviour.Date(v.Int32()).String()
		case *format.TimestampType:
			if !of.IsAdjustedToUTC {
				return behaviour.LocalText(v.Int64())
			}
			return behaviour.Timestamp.Text(behaviour.AppendInt64(nil, v.Int64()))
		}
	}
	switch v.Kind() {
	case parquet.ByteArray:
		return string(v.ByteArray())
	case parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	}
	return v.String()
}
