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
	"usertrail/internal/trailfile"
)

// writeByLibrary writes rows as Write should, by parquet-go's own column
// writers: the oracle for what stands in a file.
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
		parquet.SortingWriterConfig(parquet.SortingColumns(parquet.Ascending("user_id"), parquet.Ascending("time"))),
		parquet.KeyValueMetadata("trail.version", trailfile.SchemaVersion),
	)
}

// libraryStruct is the struct type whose columns are those of s.
func libraryStruct(s trailfile.Schema) reflect.Type {
	fields := []reflect.StructField{
		{Name: "C0", Type: reflect.TypeFor[string](), Tag: `parquet:"user_id,dict"`},
		{Name: "C1", Type: reflect.TypeFor[int32](), Tag: `parquet:"date,date"`},
		{Name: "C2", Type: reflect.TypeFor[int64](), Tag: `parquet:"time,timestamp(microsecond)"`},
		{Name: "C3", Type: reflect.TypeFor[string](), Tag: `parquet:"behaviour,dict"`},
		{Name: "C4", Type: reflect.TypeFor[int64](), Tag: `parquet:"id"`},
	}
	for i, f := range s.Fields {
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
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("C%d", 5+i),
			Type: t,
			Tag:  reflect.StructTag(fmt.Sprintf(`parquet:"%s,optional%s"`, f.Name, opt)),
		})
	}
	return reflect.StructOf(fields)
}

func writeColumns(tb testing.TB, cols []*parquet.ColumnWriter, s trailfile.Schema, rows []row) {
	tb.Helper()
	for col := range cols {
		values := make([]parquet.Value, len(rows))
		for i, r := range rows {
			values[i] = libraryValue(r.column(s, col), col, min(1, col/5))
		}
		if _, err := cols[col].WriteRowValues(values); err != nil {
			tb.Fatal(err)
		}
	}
}

func libraryValue(x any, col, level int) parquet.Value {
	if x == nil {
		return parquet.NullValue().Level(0, 0, col)
	}
	return parquet.ValueOf(x).Level(0, level, col)
}

// column is what row r has in a column of the file.
func (r *row) column(s trailfile.Schema, col int) any {
	if col >= 5 {
		return r.fields[col-5]
	}
	return []any{r.user, r.date, r.time, s.Kinds[r.kind], r.id}[col]
}
