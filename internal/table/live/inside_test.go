package live

import (
	"fmt"
	"testing"
	"time"

	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/clustertest"
)

// TestLeftoversOfOldAreDropped leaves snapshots behind, and looks at them soon and
// more than a day later. Other tables', and those that a user named, stay.
func TestLeftoversOfOldAreDropped(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	name, other := c.Create(t, "d"), c.Shared(t, "d")
	s, err := Connect(t.Context(), local.New(), fmt.Sprintf("hbase://%s/%s", c.ZooKeeper(), name), Options{Conf: new(hadoopconf.Conf), Catalog: "/none"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ours, named, others := s.snapshotsOfTable()+"1-x", "named_"+name, s.snapshotsOfTable()+"2-x"
	c.Admin(t, "snapshot", ours, name)
	c.Admin(t, "snapshot", named, name)
	defer c.Admin(t, "drop-snapshot", named)
	c.Admin(t, "snapshot", others, other)
	defer c.Admin(t, "drop-snapshot", others)
	for _, x := range []struct {
		after time.Duration
		want  bool // it is still there
	}{{0, true}, {23 * time.Hour, true}, {25 * time.Hour, false}} {
		all, err := s.client.Snapshots(t.Context())
		if err == nil {
			err = s.dropOld(t.Context(), all, time.Now().Add(x.after))
		}
		if err == nil {
			all, err = s.client.Snapshots(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		there := map[string]bool{}
		for _, snap := range all {
			there[snap.Name] = true
		}
		if there[ours] != x.want || !there[named] || !there[others] {
			t.Errorf("after %s: ours %t, want %t; named %t, another table's %t, want both", x.after, there[ours], x.want, there[named], there[others])
		}
	}
}

func TestOnlyFoldersOfUsertrailAreOpened(t *testing.T) {
	for _, c := range []struct{ dir, staging, want string }{
		{"hdfs://nn/usertrail/default/t", "hdfs://nn/usertrail/default/t/staging/1", "hdfs://nn/usertrail"},
		{"hdfs://nn/home/ana/cat/", "hdfs://nn/home/ana/cat/staging/1", "hdfs://nn/home/ana/cat"},
		{"/local/cat", "hdfs://nn/usertrail/default/t/staging/1", "hdfs://nn/usertrail"},
	} {
		s := &Store{dir: c.dir, address: Address{Table: "t"}}
		if got := s.top(c.staging); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.dir, c.staging, got, c.want)
		}
	}
}
