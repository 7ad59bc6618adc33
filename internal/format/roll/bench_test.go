package roll

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
)

// regulars makes n users of eight digits. Each has records of four behaviours on most days of
// a span, as in the rolls of one region.
func regulars(n, days int) []Entry {
	rnd := rand.New(rand.NewPCG(9, 9))
	out := make([]Entry, 0, n)
	for i := range n {
		e := Entry{User: fmt.Appendf(nil, "%08d,", i*40+rnd.IntN(40))}
		for d := range days {
			var kinds activity.Set
			for range 1 + rnd.IntN(5) {
				kinds.Add(min(rnd.IntN(4), rnd.IntN(4)))
				e.Records++
			}
			if rnd.IntN(5) > 0 || d == days-1 && len(e.Days) == 0 {
				e.on(day+behaviour.Date(d), 4, kinds)
			}
		}
		e.Records = max(e.Records, int64(4*len(e.Days)))
		out = append(out, e)
	}
	return out
}

func BenchmarkWrite(b *testing.B) {
	for _, days := range []int{1, 10} {
		b.Run(fmt.Sprintf("users=50e3/days=%d", days), func(b *testing.B) {
			entries := regulars(50_000, days)
			var meta Meta
			for b.Loop() {
				_, meta = write(b, entries, 4, days)
			}
			b.ReportMetric(float64(meta.Size)/float64(meta.Users), "B/user")
			b.ReportMetric(float64(meta.Size)/float64(meta.UserDays), "B/user-day")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(meta.UserDays), "ns/user-day")
		})
	}
}

// BenchmarkRead reads a whole roll.
func BenchmarkRead(b *testing.B) {
	for _, days := range []int{1, 10} {
		b.Run(fmt.Sprintf("users=50e3/days=%d", days), func(b *testing.B) {
			file, meta := write(b, regulars(50_000, days), 4, days)
			r := open(b, file)
			for b.Loop() {
				n := 0
				it := r.Iterator()
				for it.Next() {
					n += len(it.Entry().Days)
				}
				if int64(n) != meta.UserDays || it.Err() != nil {
					b.Fatalf("%d user-days, %v", n, it.Err())
				}
			}
			perOp := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			b.ReportMetric(perOp/float64(meta.UserDays), "ns/user-day")
			b.ReportMetric(perOp/float64(meta.Users), "ns/user")
		})
	}
}

// BenchmarkSeek opens a roll and looks up a list of users in it.
func BenchmarkSeek(b *testing.B) {
	for _, every := range []int{1000, 100, 1} {
		b.Run(fmt.Sprintf("users=50e3/one in %d", every), func(b *testing.B) {
			entries := regulars(50_000, 1)
			file, _ := write(b, entries, 4, 1)
			sought := 0
			for b.Loop() {
				it := open(b, file).Iterator()
				sought = 0
				for i := 0; i < len(entries); i += every {
					if !it.SeekGE(entries[i].User) {
						b.Fatal(it.Err())
					}
					sought++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(sought), "ns/seek")
		})
	}
}
