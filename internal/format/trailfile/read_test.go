package trailfile_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/xitongsys/parquet-go-source/buffer"
	"github.com/xitongsys/parquet-go/reader"

	"usertrail/internal/behaviour"
)

func open(t *testing.T, data []byte) *parquet.File {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// libraryRows reads a file with parquet-go, one slice of Go values per row.
func libraryRows(t *testing.T, f *parquet.File) [][]any {
	t.Helper()
	var out [][]any
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		buf := make([]parquet.Row, 100)
		for {
			n, err := rows.ReadRows(buf)
			for _, r := range buf[:n] {
				out = append(out, goValues(r))
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func goValues(r parquet.Row) []any {
	out := make([]any, len(r))
	for i, v := range r {
		switch {
		case v.IsNull():
		case v.Kind() == parquet.ByteArray:
			out[i] = string(v.ByteArray())
		case v.Kind() == parquet.Int32:
			out[i] = v.Int32()
		case v.Kind() == parquet.Int64:
			out[i] = v.Int64()
		case v.Kind() == parquet.Double:
			out[i] = v.Double()
		case v.Kind() == parquet.Boolean:
			out[i] = v.Boolean()
		}
	}
	return out
}

// same compares values. NaNs are equal to each other, and zeros of different sign differ.
func same(a, b any) bool {
	x, ok1 := a.(float64)
	y, ok2 := b.(float64)
	if ok1 && ok2 {
		return math.Float64bits(x) == math.Float64bits(y)
	}
	return a == b
}

func TestLibraryReadsWhatWasWritten(t *testing.T) {
	t.Parallel()
	for _, c := range samples() {
		t.Run(c.name, func(t *testing.T) {
			data, _ := write(t, c.schema, c.opts, c.rows, 1000)
			got := libraryRows(t, open(t, data))
			if len(got) != len(c.rows) {
				t.Fatalf("%d rows, want %d", len(got), len(c.rows))
			}
			for i, r := range got {
				for col, v := range r {
					if want := c.rows[i].column(c.schema, col); !same(v, want) {
						t.Fatalf("row %d, column %d: %v, want %v", i, col, v, want)
					}
				}
			}
		})
	}
}

// TestFooterIsTheLibrarys compares the whole footer, except sizes and offsets, with the
// footer of parquet-go's own writer.
func TestFooterIsTheLibrarys(t *testing.T) {
	t.Parallel()
	for _, c := range samples() {
		switch c.name {
		case "not a number", "zeros", "groups by bytes", "different strings", "different strings, late", "long strings",
			"long strings, one beginning", "greatest strings", "before the surrogates":
			continue // these differ on purpose; other tests check them
		}
		t.Run(c.name, func(t *testing.T) {
			data, _ := write(t, c.schema, c.opts, c.rows, 1000)
			got := open(t, data).Metadata()
			want := open(t, writeByLibrary(t, c.schema, c.opts, c.rows)).Metadata()
			compareSchemas(t, got.Schema, want.Schema)
			if got.NumRows != want.NumRows || len(got.RowGroups) != len(want.RowGroups) {
				t.Fatalf("%d rows in %d groups, want %d in %d", got.NumRows, len(got.RowGroups), want.NumRows, len(want.RowGroups))
			}
			for g := range got.RowGroups {
				compareGroups(t, fmt.Sprint("group ", g), &got.RowGroups[g], &want.RowGroups[g])
			}
		})
	}
}

func compareSchemas(t *testing.T, got, want []format.SchemaElement) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("schema of %d elements, want %d", len(got), len(want))
	}
	for i := 1; i < len(got); i++ {
		// The library also writes the width of types that have only one width. It also marks
		// an INT64 as INT(64, signed).
		want[i].TypeLength = thrift.Null[int32]{}
		if _, ok := want[i].LogicalType.Value.(*format.IntType); ok {
			want[i].LogicalType, want[i].ConvertedType = got[i].LogicalType, got[i].ConvertedType
		}
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("schema element %d is\n%+v, want\n%+v", i, got[i], want[i])
		}
	}
}

func compareGroups(t *testing.T, where string, got, want *format.RowGroup) {
	t.Helper()
	if got.NumRows != want.NumRows || !reflect.DeepEqual(got.SortingColumns, want.SortingColumns) {
		t.Errorf("%s: %d rows sorted by %v, want %d by %v", where, got.NumRows, got.SortingColumns, want.NumRows, want.SortingColumns)
	}
	for i := range got.Columns {
		a, b := &got.Columns[i].MetaData, &want.Columns[i].MetaData
		if a.NumValues != b.NumValues || a.Type != b.Type || a.Codec != b.Codec || !reflect.DeepEqual(a.PathInSchema, b.PathInSchema) {
			t.Errorf("%s: column %d is %+v, want %+v", where, i, a, b)
		}
		sa, sb := a.Statistics, b.Statistics
		if sa.NullCount != sb.NullCount || !sameBound(a.Type, sa.MinValue, sb.MinValue) || !sameBound(a.Type, sa.MaxValue, sb.MaxValue) {
			t.Errorf("%s: column %v: statistics %+v, want %+v", where, a.PathInSchema, sa, sb)
		}
	}
}

// sameBound compares bounds. Zeros of either sign are equal.
func sameBound(typ format.Type, a, b []byte) bool {
	if typ == format.Double && len(a) == 8 && len(b) == 8 {
		return behaviour.ToDouble(reversed(a)) == behaviour.ToDouble(reversed(b))
	}
	return bytes.Equal(a, b)
}

func reversed(b []byte) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[len(b)-1-i] = b[i]
	}
	return out
}

func TestOldLibraryReadsWhatWasWritten(t *testing.T) {
	t.Parallel()
	for _, c := range samples() {
		if len(c.rows) == 0 {
			continue // the library cannot read columns of a file without row groups
		}
		t.Run(c.name, func(t *testing.T) {
			data, _ := write(t, c.schema, c.opts, c.rows, 1000)
			r, err := reader.NewParquetColumnReader(buffer.NewBufferFileFromBytes(data), 1)
			if err != nil {
				t.Fatal(err)
			}
			defer r.ReadStop()
			for col := range c.schema.Columns {
				values, _, _, err := r.ReadColumnByIndex(int64(col), int64(len(c.rows)))
				if err != nil {
					t.Fatal(err)
				}
				if len(values) != len(c.rows) {
					t.Fatalf("column %d: %d values, want %d", col, len(values), len(c.rows))
				}
				for i, v := range values {
					if want := c.rows[i].column(c.schema, col); !same(v, want) {
						t.Fatalf("row %d, column %d: %v, want %v", i, col, v, want)
					}
				}
			}
		})
	}
}

// different makes all strings of rows different.
func different(rows []row) []row {
	for i := range rows {
		for f, v := range rows[i].fields {
			if _, ok := v.(string); ok {
				rows[i].fields[f] = fmt.Sprint("different ", i)
			}
		}
	}
	return rows
}

// pageHeader decodes the header at the beginning of data, and returns its length.
func pageHeader(t *testing.T, data []byte) (format.PageHeader, int) {
	t.Helper()
	r := new(thrift.CompactProtocol).NewReaderFromBytes(data)
	var h format.PageHeader
	if err := thrift.NewDecoder(r).Decode(&h); err != nil {
		t.Fatal(err)
	}
	return h, r.BytesRead()
}
