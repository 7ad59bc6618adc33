package shuffle

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"usertrail/internal/store/dfs/local"
)

// million is what one operation of the benchmark sorts: records as a night's
// load has them, with a row of 25 bytes and a payload of 100, of 20,000 users
// who have five records each a day, over ten days and four regions.
type million struct {
	rows  [][]byte
	parts []int
}

func newMillion() *million {
	const n = 1_000_000
	m := &million{rows: make([][]byte, n), parts: make([]int, n)}
	rnd := rand.New(rand.NewPCG(8, 8))
	for i := range n {
		user := rnd.IntN(20_000) * 37 % 100_000
		m.rows[i] = fmt.Appendf(nil, "%05d00001,201409%02d,%05d", user, i/(n/10)+1, rnd.IntN(4)+1)
		m.parts[i] = user / 25_000
	}
	return m
}

// addTo adds all records to a shard.
func (m *million) addTo(b *testing.B, sh *Shard) {
	payload := make([]byte, 100)
	for i, row := range m.rows {
		binary.BigEndian.PutUint64(payload, uint64(i))
		if err := sh.Add(b.Context(), m.parts[i], row, uint64(i), payload); err != nil {
			b.Fatal(err)
		}
	}
}

// drain iterates all parts and touches every record.
func drain(b *testing.B, s *Sorter) {
	n, sum := 0, 0
	for p := range s.cfg.Parts {
		it, err := s.Part(b.Context(), p)
		if err != nil {
			b.Fatal(err)
		}
		for it.Next() {
			n++
			sum += int(it.Row()[0]) + int(it.Payload()[99])
		}
		if it.Err() != nil {
			b.Fatal(it.Err())
		}
		it.Close()
	}
	if n != 1_000_000 {
		b.Fatalf("%d records came out", n)
	}
}

// BenchmarkSort adds, sorts and iterates a million records in one goroutine.
func BenchmarkSort(b *testing.B) {
	m := newMillion()
	for _, c := range []struct {
		name   string
		memory int64
		shards int
	}{
		{"memory/shards=1", 400 << 20, 1},
		{"memory/shards=2", 400 << 20, 2},
		{"spill/memory=64MiB", 64 << 20, 1},
		{"spill/memory=16MiB", 16 << 20, 1},
		{"spill/memory=1MiB", 1 << 20, 1},
	} {
		b.Run("records=1e6/"+c.name, func(b *testing.B) {
			s, err := New(Config{FS: local.New(), Dir: b.TempDir(), Memory: c.memory, Parts: 4, Shards: c.shards, Readers: 1})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(1_000_000 * (25 + 100))
			b.ReportAllocs()
			before := cpuSeconds(b)
			for b.Loop() {
				half := &million{m.rows[:len(m.rows)/2], m.parts[:len(m.rows)/2]}
				if c.shards == 1 {
					m.addTo(b, s.Shard(0))
				} else {
					half.addTo(b, s.Shard(0))
					half.rows, half.parts = m.rows[len(m.rows)/2:], m.parts[len(m.rows)/2:]
					half.addTo(b, s.Shard(1))
				}
				if err := s.Finish(b.Context()); err != nil {
					b.Fatal(err)
				}
				drain(b, s)
				if err := s.Reset(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cpuSeconds(b)-before)/float64(b.N), "cpu-s/op")
		})
	}
}

// cpuSeconds returns the user and system time of the process.
func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
