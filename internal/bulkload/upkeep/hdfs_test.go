package upkeep_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/store/dfs"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// fixtureOnHDFS returns a fixture whose tables are on the HDFS of a cluster.
func fixtureOnHDFS(t *testing.T) *fixture {
	t.Helper()
	c := clustertest.Get(t)
	h := newFixture(t, testworld.World(8, 10))
	h.Tables = c.HDFS(t)
	h.FS = c.Files()
	return h
}

// TestUpkeepOfATableOnHDFS compacts a table and drops days from it. A reader opens the table
// before, and runs a query after.
func TestUpkeepOfATableOnHDFS(t *testing.T) {
	h := fixtureOnHDFS(t)
	h.nights(t, rand.New(rand.NewPCG(8, 8)), 4, []string{"trails", "control"}, func(int) {})
	q := h.w.Queries(1, 1)[0]
	want, err := testtable.Ask(t.Context(), t, h.Opened(t, "control"), q)
	if err != nil {
		t.Fatal(err)
	}
	opened := h.Opened(t, "trails")
	if done, err := upkeep.Compact(t.Context(), h.upkeep("trails")); err != nil || done.After >= done.Before {
		t.Fatalf("%+v, %v; want fewer files", done, err)
	}
	h.Verified(t, "after it was compacted", "trails")
	if _, err := upkeep.Drop(t.Context(), h.upkeep("trails"), h.half()); err != nil {
		t.Fatal(err)
	}
	h.Verified(t, "after the drop", "trails")
	got, err := testtable.Ask(t.Context(), t, opened, q)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, want) {
		t.Error("who had it open before both has another result")
	}
	h.sameResults(t, "after the drop", "trails", "control", h.half())
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
	t.Chdir(h.Dir)
	const text = `
logs: {path: "logs/{date}/{behaviour}.csv"}
layout: hashed
user: user
behaviours: {play: {id: 1, fields: {seconds: int64}}}
`
	h.SetJob(t, text)
	h.Job.Table.Regions = 1
	for day := 1; day <= 2; day++ {
		var b bytes.Buffer
		b.WriteString("user,time,seconds\n")
		for user := range 120_000 {
			fmt.Fprintf(&b, "user-%07d,2014-09-%02d 10:00:00,1\n", user, day)
		}
		date := behaviour.DateOf(2014, 9, day)
		h.Deliver(t, testworld.File{Name: date.String() + "/play.csv", Text: b.Bytes()})
		cfg := h.LoadConfig("hashed", behaviour.Span{From: date, To: date})
		cfg.Memory = 64 << 20
		if _, err := load.Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	}
	spy := &spilled{FS: h.FS}
	cfg := h.upkeep("hashed")
	cfg.FS = spy
	if done, err := upkeep.Compact(t.Context(), cfg); err != nil || done.After != 1 {
		t.Fatalf("%+v, %v; want one file", done, err)
	}
	if spy.runs.Load() == 0 {
		t.Error("no run was spilled")
	}
	h.Verified(t, "after it was compacted", "hashed")
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
