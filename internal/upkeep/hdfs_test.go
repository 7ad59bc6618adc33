package upkeep_test

import (
	"maps"
	"math/rand/v2"
	"testing"

	"usertrail/internal/clustertest"
	"usertrail/internal/dfs"
	"usertrail/internal/dfs/hdfs"
	"usertrail/internal/dfs/local"
	"usertrail/internal/hadoopconf"
	"usertrail/internal/testworld"
	"usertrail/internal/upkeep"
)

// TestUpkeepOfATableOnHDFS compacts a table and drops days from it while somebody has
// it open, who then asks.
func TestUpkeepOfATableOnHDFS(t *testing.T) {
	c := clustertest.Get(t)
	h := newHouse(t, testworld.World(8, 10))
	h.place = c.HDFS(t)
	h.fs = dfs.NewMux(map[string]dfs.FS{
		"":          local.New(),
		hdfs.Scheme: hdfs.New(hdfs.Config{Conf: func() (*hadoopconf.Conf, error) { return hadoopconf.Load(c.ConfDir()) }}),
	})
	h.nights(t, rand.New(rand.NewPCG(8, 8)), 4, []string{"trails", "control"}, func(int) {})
	q := h.w.Questions(1, 1)[0]
	want, err := h.ask(t.Context(), t, h.open(t, "control"), q)
	if err != nil {
		t.Fatal(err)
	}
	opened := h.open(t, "trails")
	if done, err := upkeep.Compact(t.Context(), h.upkeep("trails")); err != nil || done.After >= done.Before {
		t.Fatalf("%+v, %v; want fewer files", done, err)
	}
	h.verified(t, "after it was compacted", "trails")
	if _, err := upkeep.Drop(t.Context(), h.upkeep("trails"), h.half()); err != nil {
		t.Fatal(err)
	}
	h.verified(t, "after the drop", "trails")
	got, err := h.ask(t.Context(), t, opened, q)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, want) {
		t.Error("who had it open before both has another answer")
	}
	h.sameAnswers(t, "after the drop", "trails", "control", h.half())
}
