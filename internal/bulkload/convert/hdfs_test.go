package convert_test

import (
	"errors"
	iofs "io/fs"
	"maps"
	"math/rand/v2"
	"testing"

	"usertrail/internal/bulkload/convert"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testworld"
)

// TestConversionOfATableOnHDFS converts a table on HDFS into another table on HDFS.
func TestConversionOfATableOnHDFS(t *testing.T) {
	c := clustertest.Get(t)
	h := newFixture(t, testworld.Numbered(8, 8))
	h.Tables = c.HDFS(t)
	h.FS = c.Files()
	p := h.draw(rand.New(rand.NewPCG(8, 8)))
	p.nights, p.corrects = p.nights[1:], -1 // another test covers the replay
	p.compact = []bool{false, true, false}
	h.live(t, p, []string{"reversed"})
	want := h.results(t, "reversed")
	r := h.convert(t, "reversed", "game-time", "out")
	h.Verified(t, "on HDFS", "out")
	for i, got := range h.results(t, "out") {
		if !maps.Equal(got, want[i]) {
			t.Errorf("query %d has another result", i)
		}
	}
	if _, err := convert.Run(t.Context(), h.conversion("reversed", "wide", "out")); !errors.Is(err, iofs.ErrExist) || r.Records == 0 {
		t.Errorf("%+v; again %v, want that the target exists", r, err)
	}
}
