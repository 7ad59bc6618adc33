package trailfile_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/trailfile"
)

// box is a schema like that of a set-top-box service, ten columns wide.
var box = trailfile.Schema{
	Kinds: []string{"login", "order", "play", "visit"},
	Fields: []behaviour.Field{
		{Name: "programme", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64}, {Name: "device", Type: behaviour.String},
		{Name: "url", Type: behaviour.String}, {Name: "price", Type: behaviour.Double},
	},
}

// boxFields says which kind has which field.
var boxFields = [4][5]bool{{false, false, true, false, false}, {true, false, true, false, true}, {true, true, true, false, false}, {false, true, true, true, false}}

// evening draws n rows of the box service, about 50 to a user.
func evening(n int) *trailfile.Batch {
	r := rand.New(rand.NewPCG(3, 1))
	titles := rand.NewZipf(r, 1.2, 4, 5000)
	s := box
	b := batch(s, nil, 0)
	b.Rows = n
	user, at := "", int64(0)
	for i := range n {
		if i == 0 || r.IntN(50) == 0 {
			user, at = fmt.Sprintf("stb%09d", i), 1409529600000000
		}
		at += r.Int64N(3.4e10)
		k := uint8(r.IntN(4))
		b.User.Data = append(b.User.Data, user...)
		b.User.Off = append(b.User.Off, uint32(len(b.User.Data)))
		b.Date = append(b.Date, int32(at/86400e6))
		b.Time = append(b.Time, at/1e6*1e6)
		b.Behaviour = append(b.Behaviour, k)
		b.ID = append(b.ID, int64(k)<<38|r.Int64N(1<<30))
		for f := range s.Fields {
			var v any
			if boxFields[k][f] {
				v = []any{
					fmt.Sprintf("电视剧第%d集", titles.Uint64()),
					r.Int64N(7200),
					fmt.Sprintf("STB-%02d", r.IntN(20)),
					fmt.Sprintf("http://portal.example/page/%d?from=%d", r.IntN(1e6), r.IntN(100)),
					float64(r.IntN(2000)) / 100,
				}[f]
			}
			appendValue(&b.Fields[f], v, 0)
		}
	}
	return b
}

func BenchmarkWrite(b *testing.B) {
	const rows = 200_000
	data := evening(rows)
	for _, c := range []trailfile.Codec{trailfile.Zstd, trailfile.Snappy, trailfile.None} {
		b.Run(fmt.Sprintf("rows=%d/%s", rows, c), func(b *testing.B) {
			w, err := trailfile.NewWriter(io.Discard, box, trailfile.Options{Codec: c})
			if err != nil {
				b.Fatal(err)
			}
			var meta trailfile.Meta
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
			b.SetBytes(meta.Bytes)
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds()/1e3, "krows/s")
			b.ReportMetric(float64(meta.Bytes)/rows, "B/row")
		})
	}
}
