package trailfile

import (
	"fmt"
	"io"
	"reflect"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"usertrail/internal/behaviour"
)

// A libraryGroup hands rows to parquet-go's column writers.
type libraryGroup struct {
	w      *parquet.GenericWriter[any]
	cols   []*parquet.ColumnWriter
	kinds  []parquet.Value
	fields []behaviour.Field
	rows   int
	buf    []parquet.Value
}

// perCall is how many values a column takes at once.
const perCall = 4096

func newLibraryGroup(w io.Writer, s Schema, o Options) (*libraryGroup, error) {
	var codec compress.Codec = &parquet.Uncompressed
	switch o.Codec {
	case Zstd:
		codec = &zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}
	case Snappy:
		codec = &parquet.Snappy
	}
	pw := parquet.NewGenericWriter[any](w,
		parquet.SchemaOf(reflect.New(librarySchema(s)).Interface()),
		parquet.Compression(codec),
		parquet.DataPageVersion(1),
		parquet.PageBufferSize(o.PageBytes),
		parquet.BloomFilters(parquet.SplitBlockFilter(10, "user_id")),
		parquet.SortingWriterConfig(parquet.SortingColumns(parquet.Ascending("user_id"), parquet.Ascending("time"))),
		parquet.KeyValueMetadata(versionKey, SchemaVersion),
		parquet.CreatedBy("usertrail", SchemaVersion, ""),
	)
	g := &libraryGroup{w: pw, cols: pw.ColumnWriters(), fields: s.Fields, buf: make([]parquet.Value, 0, perCall)}
	for _, k := range s.Kinds {
		g.kinds = append(g.kinds, parquet.ByteArrayValue([]byte(k)))
	}
	return g, nil
}

func librarySchema(s Schema) reflect.Type {
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

func (g *libraryGroup) append(b *Batch, from, n int) error {
	for n > 0 {
		k := min(n, perCall-g.rows%perCall)
		if err := g.appendSome(b, from, k); err != nil {
			return err
		}
		from, n = from+k, n-k
		g.rows += k
	}
	return nil
}

func (g *libraryGroup) appendSome(b *Batch, from, n int) error {
	put := func(col, def int, value func(i int) (parquet.Value, bool)) error {
		g.buf = g.buf[:0]
		for i := from; i < from+n; i++ {
			if v, ok := value(i); ok {
				g.buf = append(g.buf, v.Level(0, def, col))
			} else {
				g.buf = append(g.buf, parquet.NullValue().Level(0, 0, col))
			}
		}
		_, err := g.cols[col].WriteRowValues(g.buf)
		return err
	}
	str := func(s *Bytes, i int) parquet.Value { return parquet.ByteArrayValue(s.Data[s.Off[i]:s.Off[i+1]]) }
	must := []func(i int) parquet.Value{
		func(i int) parquet.Value { return str(&b.User, i) },
		func(i int) parquet.Value { return parquet.Int32Value(b.Date[i]) },
		func(i int) parquet.Value { return parquet.Int64Value(b.Time[i]) },
		func(i int) parquet.Value { return g.kinds[b.Behaviour[i]] },
		func(i int) parquet.Value { return parquet.Int64Value(b.ID[i]) },
	}
	for col, value := range must {
		if err := put(col, 0, func(i int) (parquet.Value, bool) { return value(i), true }); err != nil {
			return err
		}
	}
	for f := range b.Fields {
		v := &b.Fields[f]
		if v.Type == behaviour.String {
			for i := from; i < from+n; i++ {
				if s := v.Str.Data[v.Str.Off[i]:v.Str.Off[i+1]]; v.Valid[i] && !utf8.Valid(s) {
					return fmt.Errorf("row %d: column %s: %q is not UTF-8", g.rows+i-from, g.fields[f].Name, s)
				}
			}
		}
		value := func(i int) parquet.Value {
			switch v.Type {
			case behaviour.Double:
				return parquet.DoubleValue(v.Double[i])
			case behaviour.Bool:
				return parquet.BooleanValue(v.Small[i] != 0)
			case behaviour.Day:
				return parquet.Int32Value(v.Small[i])
			case behaviour.String:
				return str(&v.Str, i)
			}
			return parquet.Int64Value(v.Int[i])
		}
		if err := put(5+f, 1, func(i int) (parquet.Value, bool) { return value(i), v.Valid[i] }); err != nil {
			return err
		}
	}
	return nil
}

func (g *libraryGroup) flush() error {
	g.rows = 0
	return g.w.Flush()
}

func (g *libraryGroup) close() error { return g.w.Close() }
