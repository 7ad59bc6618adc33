package hfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/cell"
)

const benchCells = 2_000_000

// A benchValue returns the value of a field. A cell has 115 bytes without encoding and
// compression. Half of them are the value.
type benchValue func(rnd *rand.Rand, field int) []byte

var benchFields = []string{"channel,", "device,", "duration,", "programme,", "url,"}

// texts returns values like the values of behaviours. Most compress well.
func texts(rnd *rand.Rand, field int) []byte {
	switch field {
	case 0:
		return fmt.Appendf(nil, "channel-%03d high definition, satellite", rnd.IntN(200))
	case 1:
		return fmt.Appendf(nil, "set-top-box model %d firmware %d.%d.%d", rnd.IntN(40), rnd.IntN(3), rnd.IntN(9), rnd.IntN(99))
	case 2:
		return binary.BigEndian.AppendUint64(nil, uint64(rnd.IntN(7200)))
	case 3:
		return fmt.Appendf(nil, "programme title number %06d, season %d, episode %d, part %02d of the evening", rnd.IntN(50000), rnd.IntN(9), rnd.IntN(30), rnd.IntN(9))
	}
	return fmt.Appendf(nil, "http://cdn%d.example.net/vod/%016x/%08x/index.m3u8?session=%016x", rnd.IntN(9), rnd.Uint64(), rnd.Uint32(), rnd.Uint64())
}

// opaque returns values that no codec makes smaller.
func opaque(rnd *rand.Rand, _ int) []byte {
	b := make([]byte, 0, 56)
	for range 4 + rnd.IntN(4) {
		b = binary.LittleEndian.AppendUint64(b, rnd.Uint64())
	}
	return b
}

// benchWorld returns cells like the cells of a load: rows of user, day and behaviour, and in each row
// some behaviours of five fields.
func benchWorld(value benchValue) []cell.Cell {
	rnd := rand.New(rand.NewPCG(1, 2))
	cells := make([]cell.Cell, 0, benchCells)
	for user := 0; ; user++ {
		for day := 1; day <= 10; day++ {
			row := fmt.Appendf(nil, "%010d,201409%02d,00003", user*7, day)
			plays := 1 + rnd.IntN(4)
			for i, f := range benchFields {
				for play := range plays {
					q := binary.BigEndian.AppendUint64([]byte(f), 7<<38|uint64(user*4000+day*100+play*10))
					at := 1409529600000 + int64(day)*86400000 + int64(play)*7200000 + int64(user%3600)*1000
					cells = append(cells, cell.Cell{Row: row, Family: []byte("b"), Qualifier: q, Time: at, Type: cell.Put, Value: value(rnd, i)})
				}
			}
			if len(cells) >= benchCells {
				return cells[:benchCells]
			}
		}
	}
}

var (
	opaqueWorld = sync.OnceValue(func() []cell.Cell { return benchWorld(opaque) })
	textWorld   = sync.OnceValue(func() []cell.Cell { return benchWorld(texts) })
)

// benchFiles holds the file whose speed the design requires, and variants of it.
var benchFiles = []struct {
	name  string
	world func() []cell.Cell
	opt   Options
}{
	{"fast_diff/row/snappy", opaqueWorld, Options{Bloom: RowBloom}},
	{"fast_diff/row/snappy/texts", textWorld, Options{Bloom: RowBloom}},
	{"fast_diff/row/none/texts", textWorld, Options{Bloom: RowBloom, Codec: Plain}},
	{"fast_diff/row/lz4/texts", textWorld, Options{Bloom: RowBloom, Codec: LZ4}},
	{"fast_diff/row/zstd/texts", textWorld, Options{Bloom: RowBloom, Codec: ZSTD}},
	{"none/row/snappy/texts", textWorld, Options{Bloom: RowBloom, Encoding: NoEncoding}},
	{"prefix/row/snappy/texts", textWorld, Options{Bloom: RowBloom, Encoding: Prefix}},
	{"diff/row/snappy/texts", textWorld, Options{Bloom: RowBloom, Encoding: Diff}},
	{"row_index_v1/row/snappy/texts", textWorld, Options{Bloom: RowBloom, Encoding: RowIndex}},
	{"fast_diff/16KiB_groups/snappy/texts", textWorld, Options{
		BlockSize: 16 << 10, IndexChunk: 32 << 10, ShortIndexKeys: true,
		GroupLen: func(row []byte) int { return bytes.IndexByte(row, ',') + 1 },
	}},
}

// cpuTime returns the CPU time of the process, which depends least on other load of the
// machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// perCell reports the number of cells per second of CPU time and of elapsed time, over b.N runs
// of the given number of cells each. begun is the CPU time at the start.
func perCell(b *testing.B, cells int64, begun time.Duration) {
	cpu := cpuTime() - begun
	b.ReportMetric(float64(cells)*float64(b.N)/cpu.Seconds()/1e6, "Mcells/cpu-s")
	b.ReportMetric(float64(cells)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mcells/s")
}

func BenchmarkAdd(b *testing.B) {
	for _, o := range benchFiles {
		cells := o.world()
		b.Run("cells=2e6/"+o.name, func(b *testing.B) {
			var meta Meta
			begun := cpuTime()
			for b.Loop() {
				w, err := NewWriter(io.Discard, o.opt)
				if err != nil {
					b.Fatal(err)
				}
				for i := range cells {
					if err := w.Add(&cells[i]); err != nil {
						b.Fatal(err)
					}
				}
				if meta, err = w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			perCell(b, meta.Cells, begun)
			b.ReportMetric(float64(meta.Size)/float64(meta.Cells), "B/cell")
		})
	}
}

func BenchmarkScan(b *testing.B) {
	for _, o := range benchFiles {
		b.Run("cells=2e6/"+o.name, func(b *testing.B) {
			r := open(b, write(b, o.opt, o.world()))
			begun := cpuTime()
			for b.Loop() {
				it := r.Iterator(IterOptions{ReadAhead: 256 << 10})
				var n, bytes int64
				for ok := it.First(); ok; ok = it.Next() {
					n++
					bytes += int64(len(it.Cell().Value))
				}
				if it.Err() != nil || n != r.Cells() || bytes == 0 {
					b.Fatal(n, it.Err())
				}
			}
			perCell(b, r.Cells(), begun)
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	for _, o := range benchFiles[:2] {
		b.Run("cells=2e6/"+o.name, func(b *testing.B) {
			r := open(b, write(b, o.opt, o.world()))
			begun := cpuTime()
			for b.Loop() {
				n := int64(0)
				if err := r.Verify(func(*cell.Cell) error { n++; return nil }); err != nil || n != r.Cells() {
					b.Fatal(n, err)
				}
			}
			perCell(b, r.Cells(), begun)
		})
	}
}

// BenchmarkSeek looks up rows of the file: at random places, and in order with gaps, as a
// list of users does.
func BenchmarkSeek(b *testing.B) {
	for _, o := range []int{1, len(benchFiles) - 1} {
		cells := benchFiles[o].world()
		r := open(b, write(b, benchFiles[o].opt, cells))
		for _, step := range []int{0, 100, 10000} {
			b.Run(fmt.Sprintf("cells=2e6/step=%d/%s", step, benchFiles[o].name), func(b *testing.B) {
				rnd := rand.New(rand.NewPCG(3, 4))
				it := r.Iterator(IterOptions{})
				at := 0
				begun := cpuTime()
				for b.Loop() {
					if step == 0 {
						at = rnd.IntN(len(cells))
					} else {
						at = (at + step) % len(cells)
					}
					if !it.SeekGE(cells[at].Row) || !bytes.Equal(it.Cell().Row, cells[at].Row) {
						b.Fatal(it.Cell(), it.Err())
					}
				}
				b.ReportMetric(float64((cpuTime()-begun).Nanoseconds())/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
