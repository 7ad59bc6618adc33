package trailfile_test

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

// writeByLibrary writes rows as Write should, with parquet-go's own column writers. It is the
// oracle for the content of a file.
func writeByLibrary(tb testing.TB, s trailfile.Schema, o trailfile.Options, rows []row) []byte {
	tb.Helper()
	var buf bytes.Buffer
	w := newLibraryWriter(&buf, s, o)
	size := o.GroupRows
	if size == 0 {
		size = 128 << 10
	}
	for group := range slices.Chunk(rows, size) {
		for part := range slices.Chunk(group, 4096) {
			writeColumns(tb, w.ColumnWriters(), s, part)
		}
		if err := w.Flush(); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

func newLibraryWriter(w io.Writer, s trailfile.Schema, o trailfile.Options) *parquet.GenericWriter[any] {
	var codec compress.Codec = &parquet.Uncompressed
	switch o.Codec {
	case trailfile.Zstd, "":
		codec = &zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}
	case trailfile.Snappy:
		codec = &parquet.Snappy
	}
	return parquet.NewGenericWriter[any](w,
		parquet.SchemaOf(reflect.New(libraryStruct(s)).Interface()),
		parquet.Compression(codec),
		parquet.DataPageVersion(1),
		parquet.PageBufferSize(256<<10),
		parquet.BloomFilters(parquet.SplitBlockFilter(10, "user_id")),
		parquet.SortingWriterConfig(parquet.SortingColumns(sorted(s)...)),
		parquet.KeyValueMetadata("trail.version", trailfile.SchemaVersion),
	)
}

// sorted returns the columns by which the rows of s are sorted.
func sorted(s trailfile.Schema) []parquet.SortingColumn {
	by := []parquet.SortingColumn{parquet.Ascending("user_id")}
	if s.Order > 0 {
		by = append(by, parquet.Ascending(s.Columns[s.Order].Name))
	}
	return by
}

// libraryStruct returns the struct type whose fields are the columns of s.
func libraryStruct(s trailfile.Schema) reflect.Type {
	var fields []reflect.StructField
	for i, f := range s.Columns {
		t, opt := reflect.TypeFor[int64](), ""
		switch f.Type {
		case behaviour.String:
			t, opt = reflect.TypeFor[string](), ",dict"
		case behaviour.Double:
			t = reflect.TypeFor[float64]()
		case behaviour.Bool:
			t = reflect.TypeFor[bool]()
		case behaviour.Timestamp:
			opt = ",timestamp(microsecond)"
		case behaviour.Day:
			t, opt = reflect.TypeFor[int32](), ",date"
		}
		if f.Nullable {
			opt = ",optional" + opt
		}
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("C%d", i),
			Type: t,
			Tag:  reflect.StructTag(fmt.Sprintf(`parquet:"%s%s"`, f.Name, opt)),
		})
	}
	return reflect.StructOf(fields)
}

func writeColumns(tb testing.TB, cols []*parquet.ColumnWriter, s trailfile.Schema, rows []row) {
	tb.Helper()
	for col := range cols {
		values := make([]parquet.Value, len(rows))
		for i, r := range rows {
			values[i] = libraryValue(r.column(s, col), col, level(&s.Columns[col]))
		}
		if _, err := cols[col].WriteRowValues(values); err != nil {
			tb.Fatal(err)
		}
	}
}

// level returns the definition level of a value that is not null.
func level(c *trailfile.Column) int {
	if c.Nullable {
		return 1
	}
	return 0
}

func libraryValue(x any, col, level int) parquet.Value {
	if x == nil {
		return parquet.NullValue().Level(0, 0, col)
	}
	return parquet.ValueOf(x).Level(0, level, col)
}
