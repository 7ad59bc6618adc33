package notfound_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/store/dfs"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// TestNamesOfThoseNotFoundAreSorted extracts, from tables of several layouts, a list that has
// more strangers than are sorted in memory: they are named in the order of the IDs' bytes.
func TestNamesOfThoseNotFoundAreSorted(t *testing.T) {
	var list, want []string
	for i := range 20_000 {
		id := fmt.Sprintf("stranger %d", i*7919%20_000)
		list, want = append(list, id), append(want, id)
	}
	slices.Sort(want)
	day := behaviour.DateOf(2014, 9, 1)
	q := testworld.Query{Span: behaviour.Span{From: day, To: day}, Kinds: []string{"play"}, Active: "any", Users: append(list, "u1")}
	for _, layout := range []string{"reversed", "tall", "hashed", "game"} {
		h := extracttest.New(t, `logs: logs/{date}/{behaviour}.csv
table: trails
layout: `+layout+`
behaviours:
  play: {id: 1, fields: {title: string}}
`)
		h.Deliver(t, testworld.File{Name: day.String() + "/play.csv", Text: []byte("user_id,time,title\nu1,2014-09-01 10:00:00,a\n")})
		h.Load(t, extracttest.Turn{Name: "trails", Workers: 1, Memory: 64 << 20, Regions: 1}, q.Span)
		out := filepath.Join(testkit.Scratch(t), "out")
		r, err := h.Extract(t.Context(), q, extracttest.Turn{Name: "trails", Workers: 2}, out)
		if err != nil || r.NotFound != 20_000 {
			t.Fatalf("%s: %+v, %v", layout, r, err)
		}
		names, err := dfs.ReadFile(t.Context(), h.FS, filepath.Join(out, notfound.FileName))
		if err != nil || string(names) != strings.Join(want, "\n")+"\n" {
			t.Errorf("%s: %d bytes of names are not the IDs in order, %v", layout, len(names), err)
		}
		list, err := h.FS.List(t.Context(), out)
		if err != nil || len(list) != 4 {
			t.Errorf("%s: the result holds %v, %v; want a part, the manifest, the names and _SUCCESS", layout, list, err)
		}
	}
}
