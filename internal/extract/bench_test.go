package extract_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/query"
	"usertrail/internal/test/testworld"
)

// BenchmarkRun extracts the trails of 2,000 users with 62 events each from a table of files. The
// size of an operation is the number of its events.
func BenchmarkRun(b *testing.B) {
	const users, each = 2000, 60
	h, q := extracttest.Crowd(b, users, each)
	q.Kinds, q.Active = []string{"login", "play", "order"}, "any"
	filtered := q
	filtered.Conditions = testworld.Conditions{Where: testworld.Where{Text: `behaviour == "login" || play.seconds >= 5`}, Latest: 10}
	for _, x := range []struct {
		name   string
		q      testworld.Query
		output query.Output
	}{
		{"parquet", q, query.Output{}},
		{"conditions", filtered, query.Output{}},
		{"wide", q, query.Output{Shape: "wide"}},
		{"partitions", q, query.Output{Partition: "behaviour"}},
	} {
		b.Run(fmt.Sprintf("%s/users=%d", x.name, users), func(b *testing.B) {
			u := extracttest.Turn{Name: "trails", Workers: 1, Overwrite: true, Output: x.output}
			out := filepath.Join(h.Dir, x.name)
			b.ReportAllocs()
			for b.Loop() {
				if r, err := h.Extract(b.Context(), x.q, u, out); err != nil || r.Kept == 0 {
					b.Fatal(r, err)
				}
			}
		})
	}
}
