package layout_test

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/trail"
)

// A load is what benchmarks put in and get out: 10,000 records of four behaviours with
// eight fields, of users with as many records each, spread over ten days.
type load struct {
	schema *behaviour.Schema
	layout layout.Layout
	rows   [][]behaviour.Record // each in order of column ID
	cells  []*cell.Cell
}

const loaded = 10_000

// loads calls f for every layout and some numbers of records that a user has.
func loads(b *testing.B, f func(b *testing.B, l *load)) {
	for _, name := range layout.Names() {
		l, err := layout.ByName(name)
		if err != nil {
			b.Fatal(err)
		}
		for _, each := range []int{10, 1000} {
			b.Run(fmt.Sprintf("layout=%s/each=%d", name, each), func(b *testing.B) {
				f(b, newLoad(b, l, each))
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/loaded, "ns/record")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

func newLoad(b *testing.B, l layout.Layout, each int) *load {
	b.Helper()
	w := &load{schema: &behaviour.Schema{Zone: "Asia/Shanghai"}, layout: l}
	var fields []behaviour.Field
	for i := range 8 {
		fields = append(fields, behaviour.Field{Name: "field" + strconv.Itoa(i), Type: []behaviour.Type{behaviour.String, behaviour.Int64}[i%2]})
	}
	for i, name := range []string{"visit", "search", "play", "order"} {
		w.schema.Kinds = append(w.schema.Kinds, behaviour.Kind{ID: uint16(i + 1), Name: name, Fields: fields})
	}
	at := map[string]int{}
	for i := range loaded {
		r := w.record(b, i, i/each, i%each, each)
		if err := l.Fits(w.schema, &r); err != nil {
			b.Fatal(err)
		}
		row := string(l.AppendRow(nil, w.schema, &r))
		if _, ok := at[row]; !ok {
			at[row], w.rows = len(w.rows), append(w.rows, nil)
		}
		w.rows[at[row]] = append(w.rows[at[row]], r)
	}
	w.encode(b, l.Encoder(w.schema, "d"), func(c *cell.Cell) error {
		w.cells = append(w.cells, c.Clone())
		return nil
	})
	slices.SortFunc(w.cells, cell.Compare)
	return w
}

// record makes up record i, the n-th of each that a user has.
func (w *load) record(b *testing.B, i, user, n, each int) behaviour.Record {
	b.Helper()
	zone, err := time.LoadLocation(w.schema.Zone)
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Date(2014, 9, 1, 0, 0, 0, 0, zone).UnixMicro()
	r := behaviour.Record{
		User: strconv.AppendInt(nil, 100_000+int64(user), 10), Kind: i % len(w.schema.Kinds), ID: 1<<38 + int64(i)*200,
		Time: begin + int64(n)*int64(10*24*time.Hour/time.Microsecond)/int64(each),
	}
	r.Date = behaviour.DateAt(r.Time, zone)
	for f := range w.schema.Kinds[r.Kind].Fields {
		v := []byte(fmt.Sprintf("value %d of %d", f, i))
		if f%2 == 1 {
			v = behaviour.AppendInt64(nil, int64(i))
		}
		r.Values = append(r.Values, v)
	}
	return r
}

func (w *load) encode(b *testing.B, enc layout.Encoder, emit func(*cell.Cell) error) {
	var row []byte
	for _, recs := range w.rows {
		for i := range recs {
			enc.Add(&recs[i])
		}
		row = w.layout.AppendRow(row[:0], w.schema, &recs[0])
		if err := enc.Cells(row, emit); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	loads(b, func(b *testing.B, w *load) {
		enc := w.layout.Encoder(w.schema, "d")
		var cells, bytes int
		count := func(c *cell.Cell) error {
			cells++
			bytes += len(c.Row) + len(c.Qualifier) + len(c.Value)
			return nil
		}
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			w.encode(b, enc, count)
			n++
		}
		b.ReportMetric(float64(cells)/float64(n)/loaded, "cells/record")
		b.ReportMetric(float64(bytes)/float64(n)/loaded, "bytes/record")
	})
}

// BenchmarkDecode gets users' names as a reader does that has them in order.
func BenchmarkDecode(b *testing.B) {
	loads(b, func(b *testing.B, w *load) {
		d := w.layout.Decoder(w.schema, layout.Want{Kinds: []int{0, 1, 2, 3}, Span: behaviour.AllDays})
		var batch trail.Batch
		var last []byte
		var users uint32
		user := func(key []byte) (uint32, bool) {
			if !bytes.Equal(key, last) {
				last = append(last[:0], key...)
				users++
			}
			return users, true
		}
		b.ReportAllocs()
		for b.Loop() {
			users = 0
			batch.Reset()
			d.Into(&batch, user)
			for _, c := range w.cells {
				if err := d.Add(c); err != nil {
					b.Fatal(err)
				}
			}
			if err := d.Flush(); err != nil {
				b.Fatal(err)
			}
		}
		if len(batch.Events) != loaded {
			b.Fatalf("%d records come out, want %d", len(batch.Events), loaded)
		}
	})
}

// BenchmarkTell calls Tell for every cell.
func BenchmarkTell(b *testing.B) {
	loads(b, func(b *testing.B, w *load) {
		t := w.layout.Teller(w.schema)
		b.ReportAllocs()
		for b.Loop() {
			for _, c := range w.cells {
				if _, ok := t.Tell(c); !ok {
					b.Fatalf("%s is of no record", c)
				}
			}
		}
	})
}
