package trailfile_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/parquet-go/parquet-go"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/trailfile"
)

// box is a schema similar to the schema of a set-top-box service, with ten columns.
var box = trailfile.Long([]string{"login", "order", "play", "visit"}, 0, []behaviour.Field{
	{Name: "programme", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64}, {Name: "device", Type: behaviour.String},
	{Name: "url", Type: behaviour.String}, {Name: "price", Type: behaviour.Double},
})

// boxFields lists which kind has which field.
var boxFields = [4][5]bool{{false, false, true, false, false}, {true, false, true, false, true}, {true, true, true, false, false}, {false, true, true, true, false}}

// evening generates n rows of the box service, with about 50 rows per user. If full is set,
// every row has every field.
func evening(n int, full bool) *trailfile.Batch {
	r := rand.New(rand.NewPCG(3, 1))
	titles := rand.NewZipf(r, 1.2, 4, 5000)
	rows := make([]row, n)
	user, at := "", int64(0)
	for i := range n {
		if i == 0 || r.IntN(50) == 0 {
			user, at = fmt.Sprintf("stb%09d", i), 1409529600000000
		}
		at += r.Int64N(3.4e10)
		k := uint16(r.IntN(4))
		rows[i] = row{user: user, date: int32(at / 86400e6), time: at / 1e6 * 1e6, kind: k, id: int64(k)<<38 | r.Int64N(1<<30)}
		for f := range boxFields[k] {
			var v any
			if full || boxFields[k][f] {
				v = []any{
					fmt.Sprintf("电视剧第%d集", titles.Uint64()),
					r.Int64N(7200),
					fmt.Sprintf("STB-%02d", r.IntN(20)),
					fmt.Sprintf("http://portal.example/page/%d?from=%d", r.IntN(1e6), r.IntN(100)),
					float64(r.IntN(2000)) / 100,
				}[f]
			}
			rows[i].fields = append(rows[i].fields, v)
		}
	}
	return batch(box, rows, 0)
}

func BenchmarkWrite(b *testing.B) {
	const rows = 200_000
	for _, full := range []bool{false, true} {
		data := evening(rows, full)
		for _, c := range []trailfile.Codec{trailfile.Zstd, trailfile.Snappy, trailfile.None} {
			b.Run(fmt.Sprintf("rows=%d/full=%v/%s", rows, full, c), func(b *testing.B) { writeOften(b, data, c) })
		}
	}
}

func writeOften(b *testing.B, data *trailfile.Batch, c trailfile.Codec) {
	w, err := trailfile.NewWriter(io.Discard, box, trailfile.Options{Codec: c})
	if err != nil {
		b.Fatal(err)
	}
	var meta trailfile.Meta
	cpu := cpuSeconds()
	b.ReportAllocs()
	for b.Loop() {
		w.Reset(io.Discard)
		if err := w.Write(data); err != nil {
			b.Fatal(err)
		}
		if meta, err = w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	report(b, data.Rows, int(meta.Bytes), cpuSeconds()-cpu)
}

// report reports the rows and bytes of each round, and the CPU time, which other work on the
// machine changes least.
func report(b *testing.B, rows, size int, cpu float64) {
	all := float64(rows) * float64(b.N)
	b.SetBytes(int64(size))
	b.ReportMetric(all/b.Elapsed().Seconds()/1e3, "krows/s")
	b.ReportMetric(all/cpu/1e3, "krows/cpu-s")
	b.ReportMetric(float64(size)/float64(rows), "B/row")
}

// cpuSeconds returns the CPU time of the process so far, in user mode and in the kernel.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkWriteByLibrary measures parquet-go's own column writers with the rows of
// BenchmarkWrite. It does not measure the conversion of the values.
func BenchmarkWriteByLibrary(b *testing.B) {
	const rows = 200_000
	for _, full := range []bool{false, true} {
		b.Run(fmt.Sprintf("rows=%d/full=%v/zstd", rows, full), func(b *testing.B) {
			columns := libraryColumns(evening(rows, full))
			size := 0
			cpu := cpuSeconds()
			b.ReportAllocs()
			for b.Loop() {
				size = writeLibraryColumns(b, columns)
			}
			report(b, rows, size, cpuSeconds()-cpu)
		})
	}
}

func libraryColumns(data *trailfile.Batch) [][]parquet.Value {
	columns := make([][]parquet.Value, len(data.Columns))
	for col := range data.Columns {
		c := &box.Columns[col]
		for i := range data.Rows {
			columns[col] = append(columns[col], libraryValue(valueOf(c, &data.Columns[col], i), col, level(c)))
		}
	}
	return columns
}

func valueOf(c *trailfile.Column, v *trailfile.Values, i int) any {
	switch {
	case c.Nullable && !v.Valid[i]:
		return nil
	case c.Names != nil:
		return c.Names[v.Code[i]]
	case c.Type == behaviour.String:
		return string(v.Str.At(i))
	case c.Type == behaviour.Double:
		return v.Double[i]
	case c.Type == behaviour.Day:
		return v.Small[i]
	}
	return v.Int[i]
}

func writeLibraryColumns(b *testing.B, columns [][]parquet.Value) int {
	var out counted
	w := newLibraryWriter(&out, box, trailfile.Options{})
	rows := len(columns[0])
	for from := 0; from < rows; from += 4096 {
		if from > 0 && from%(128<<10) == 0 {
			if err := w.Flush(); err != nil {
				b.Fatal(err)
			}
		}
		for col, c := range w.ColumnWriters() {
			if _, err := c.WriteRowValues(columns[col][from:min(rows, from+4096)]); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return int(out)
}

// counted counts the bytes that are written to it.
type counted int

func (c *counted) Write(b []byte) (int, error) {
	*c += counted(len(b))
	return len(b), nil
}
