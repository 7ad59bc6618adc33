package upkeep_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"usertrail/internal/bulkload"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/format/job"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// fixtureOnHDFS returns a fixture whose tables are on the HDFS of a cluster.
func fixtureOnHDFS(t *testing.T) *fixture {
	t.Helper()
	c := clustertest.Get(t)
	h := newFixture(t, testworld.World(8, 10))
	h.place = c.HDFS(t)
	h.fs = dfs.NewMux(map[string]dfs.FS{
		"":          local.New(),
		hdfs.Scheme: hdfs.New(hdfs.Config{Conf: func() (*hadoopconf.Conf, error) { return hadoopconf.Load(c.ConfDir()) }}),
	})
	return h
}

// TestUpkeepOfATableOnHDFS compacts a table and drops days from it. A reader opens the table
// before, and runs a query after.
func TestUpkeepOfATableOnHDFS(t *testing.T) {
	h := fixtureOnHDFS(t)
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

// TestAHashedTableOnHDFS compacts a table whose rolls are sorted in files, because its users
// are in another order than its rows.
func TestAHashedTableOnHDFS(t *testing.T) {
	h := fixtureOnHDFS(t)
	compactHashed(t, h)
}

// TestAHashedTableSortsItsRolls is TestAHashedTableOnHDFS without HDFS.
func TestAHashedTableSortsItsRolls(t *testing.T) {
	testkit.OnlyAll(t, "TestRunsAreWhereTheyAreTold of package shuffle")
	compactHashed(t, newFixture(t, testworld.World(8, 10)))
}

// compactHashed loads two days of many users, and compacts them.
func compactHashed(t *testing.T, h *fixture) {
	t.Helper()
	t.Chdir(h.dir)
	const text = `
logs: {path: "logs/{date}/{behaviour}.csv"}
layout: hashed
user: user
behaviours: {play: {id: 1, fields: {seconds: int64}}}
`
	var err error
	if h.job, err = job.Parse(filepath.Join(h.dir, "usertrail.yaml"), []byte(text)); err != nil {
		t.Fatal(err)
	}
	h.job.Table.Regions = 1
	for day := 1; day <= 2; day++ {
		var b bytes.Buffer
		b.WriteString("user,time,seconds\n")
		for user := range 120_000 {
			fmt.Fprintf(&b, "user-%07d,2014-09-%02d 10:00:00,1\n", user, day)
		}
		if err := os.Mkdir(filepath.Join(h.dir, "logs", fmt.Sprintf("2014-09-%02d", day)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(h.dir, "logs", fmt.Sprintf("2014-09-%02d", day), "play.csv"), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		cfg := load.Config{Resources: bulkload.Resources{FS: h.fs, Store: h.store("hashed"), Workers: 2, Memory: 64 << 20, Temp: filepath.Join(h.dir, "sorted")}, Job: h.job}
		cfg.Span.From, cfg.Span.To = behaviour.DateOf(2014, 9, day), behaviour.DateOf(2014, 9, day)
		if _, err := load.Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	}
	spy := &spilled{FS: h.fs}
	cfg := h.upkeep("hashed")
	cfg.FS = spy
	if done, err := upkeep.Compact(t.Context(), cfg); err != nil || done.After != 1 {
		t.Fatalf("%+v, %v; want one file", done, err)
	}
	if spy.runs.Load() == 0 {
		t.Error("no run was spilled")
	}
	h.verified(t, "after it was compacted", "hashed")
	if _, err := os.Stat("hdfs:"); err == nil {
		t.Error("runs were spilled into the local folder hdfs:")
	}
}

// A spilled is a file system that counts the sorted runs.
type spilled struct {
	dfs.FS
	runs atomic.Int64
}

func (s *spilled) Scratch(ctx context.Context, name string) (dfs.Pending, error) {
	s.runs.Add(1)
	return s.FS.Scratch(ctx, name)
}
