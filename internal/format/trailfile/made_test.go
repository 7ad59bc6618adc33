package trailfile_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

// A row is a row of a trail file in a test. A nil field is null.
type row struct {
	user   string
	date   int32
	time   int64
	kind   uint16
	id     int64
	fields []any // of the other columns: string, int64, float64, bool or nil; int64 for timestamps, int32 for dates
}

// column returns the value of row r in a column of the file. The columns that have no field
// in row are taken from fields in order.
func (r *row) column(s trailfile.Schema, col int) any {
	if v, ok := r.fixed(&s.Columns[col]); ok {
		return v
	}
	for i := range s.Columns[:col] {
		if _, ok := r.fixed(&s.Columns[i]); ok {
			col--
		}
	}
	return r.fields[col]
}

// fixed returns the value of row r in a column that has its own field in row.
func (r *row) fixed(c *trailfile.Column) (v any, ok bool) {
	switch c.Name {
	case "user_id":
		return r.user, true
	case "date":
		return r.date, true
	case "time":
		return r.time, true
	case "behaviour":
		return c.Names[r.kind], true
	case "id":
		return r.id, true
	}
	return nil, false
}

// others returns the columns that have no field of their own in row.
func others(s trailfile.Schema) []trailfile.Column {
	return slices.DeleteFunc(slices.Clone(s.Columns), func(c trailfile.Column) bool { return slices.Contains(behaviour.Reserved, c.Name) })
}

// batch converts rows into the Batch for a writer of s. junk selects the bytes in the place
// of nulls. None of them may reach the file.
func batch(s trailfile.Schema, rows []row, junk int) *trailfile.Batch {
	b := trailfile.NewBatch(s)
	b.Rows = len(rows)
	for _, r := range rows {
		for i := range s.Columns {
			if s.Columns[i].Names != nil {
				b.Columns[i].Code = append(b.Columns[i].Code, r.kind)
			} else {
				appendValue(&b.Columns[i], s.Columns[i].Nullable, r.column(s, i), junk)
			}
		}
	}
	return &b
}

func appendValue(v *trailfile.Values, nullable bool, x any, junk int) {
	if nullable {
		v.Valid = append(v.Valid, x != nil)
	}
	switch v.Type {
	case behaviour.String:
		s, ok := x.(string)
		if !ok {
			s = "\xff\xff\xff"[:junk%4]
		}
		v.Str.Data = append(v.Str.Data, s...)
		v.Str.Off = append(v.Str.Off, uint32(len(v.Str.Data)))
	case behaviour.Int64, behaviour.Timestamp:
		n, ok := x.(int64)
		if !ok {
			n = int64(junk)
		}
		v.Int = append(v.Int, n)
	case behaviour.Double:
		d, ok := x.(float64)
		if !ok {
			d = float64(junk)
		}
		v.Double = append(v.Double, d)
	case behaviour.Bool:
		n := int32(junk)
		if t, ok := x.(bool); ok {
			n = 0
			if t {
				n = 1
			}
		}
		v.Small = append(v.Small, n)
	case behaviour.Day:
		n, ok := x.(int32)
		if !ok {
			n = int32(junk)
		}
		v.Small = append(v.Small, n)
	}
}

// everyType returns a schema with a field of each type.
func everyType() trailfile.Schema {
	var fields []behaviour.Field
	for _, t := range behaviour.Types {
		fields = append(fields, behaviour.Field{Name: "f_" + string(t), Type: t})
	}
	return trailfile.Long([]string{"login", "order", "play", "visit"}, 0, fields)
}

// value generates a value of type t, which is sometimes an edge case.
func value(r *rand.Rand, t behaviour.Type) any {
	switch t {
	case behaviour.String:
		return []string{"", "a", "节目一", "Ünïcode", fmt.Sprint("v", r.IntN(50)), fmt.Sprint("a rather long value that fills more than one word ", r.IntN(20))}[r.IntN(6)]
	case behaviour.Int64:
		return []int64{0, -1, math.MinInt64, math.MaxInt64, r.Int64(), -r.Int64()}[r.IntN(6)]
	case behaviour.Double:
		return []float64{0, math.Copysign(0, -1), 1.5, -1e300, math.MaxFloat64, r.NormFloat64()}[r.IntN(6)]
	case behaviour.Bool:
		return r.IntN(2) == 1
	case behaviour.Timestamp:
		return r.Int64N(2e15)
	default:
		return int32(r.IntN(40000) - 10000)
	}
}

// people generates n rows in order, for users with 1 to 30 rows each. A field is null with
// the given probability.
func people(seed uint64, s trailfile.Schema, n int, nulls float64) []row {
	r := rand.New(rand.NewPCG(seed, 0))
	rows := make([]row, 0, n)
	kinds := 1
	for _, c := range s.Columns {
		kinds = max(kinds, len(c.Names))
	}
	for u := 0; len(rows) < n; u++ {
		user, at := fmt.Sprintf("user%06d", u), int64(1.4e15)
		if u%97 == 5 {
			user += "é,\\节"
		}
		for range min(1+r.IntN(30), n-len(rows)) {
			at += r.Int64N(5e10)
			x := row{user: user, date: int32(at / 86400e6), time: at, kind: uint16(r.IntN(kinds)), id: r.Int64()}
			for _, c := range others(s) {
				var v any
				if r.Float64() >= nulls || !c.Nullable {
					v = value(r, c.Type)
				}
				x.fields = append(x.fields, v)
			}
			rows = append(rows, x)
		}
	}
	return rows
}

// write writes rows in batches of size rows, and returns the file.
func write(tb testing.TB, s trailfile.Schema, o trailfile.Options, rows []row, size int) ([]byte, trailfile.Meta) {
	tb.Helper()
	var buf bytes.Buffer
	w, err := trailfile.NewWriter(&buf, s, o)
	if err != nil {
		tb.Fatal(err)
	}
	for part := range slices.Chunk(rows, size) {
		if err := w.Write(batch(s, part, len(part))); err != nil {
			tb.Fatal(err)
		}
	}
	meta, err := w.Close()
	if err != nil {
		tb.Fatal(err)
	}
	if meta.Bytes != int64(buf.Len()) || meta.Rows != int64(len(rows)) {
		tb.Fatalf("meta says %d rows, %d bytes; wrote %d rows, %d bytes", meta.Rows, meta.Bytes, len(rows), buf.Len())
	}
	return buf.Bytes(), meta
}
