package live_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/split"
	"usertrail/internal/store/hbase"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
	"usertrail/internal/table/snapshot"
	"usertrail/internal/table/tabletest"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testtable"
)

// loaded is a table in HBase with one small load.
func loaded(t *testing.T, c *clustertest.Cluster) (name string, s *live.Store, l table.Loader) {
	t.Helper()
	name = c.Create(t, "d", cut()...)
	s = connect(t, c, name, live.Options{Conf: confOf(t, c), Catalog: filepath.Join(t.TempDir(), "catalog")})
	tabletest.Load(t, tabletest.Puts, s)
	l, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return name, s, l
}

// cells are all of a table, each as a line.
func cells(t *testing.T, from table.Table) []string {
	t.Helper()
	var out []string
	q := table.Query{
		Ranges: func(yield func(split.Region) bool) { yield(split.Region{}) },
		Span:   behaviour.AllDays,
	}
	if err := from.Read(t.Context(), q, func(c *cell.Cell) error { out = append(out, c.String()); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// begin returns the table of a place before its first load.
func begin(t *testing.T, s *live.Store) table.Loader {
	t.Helper()
	l, err := s.New(t.Context(), table.Plan{
		Layout: layout.Default, Schema: &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "login"}}},
		Splits: func(context.Context) (split.Points, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSnapshots(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	name, s, l := loaded(t, c)
	t.Run("one is taken and dropped", func(t *testing.T) { testTaken(t, c, name, s, l) })
	t.Run("one with a name stays", func(t *testing.T) { testNamed(t, c, name, s, l) })
}

// testTaken reads a table whose memstore was never flushed. Close drops the snapshot, even if
// its context has ended.
func testTaken(t *testing.T, c *clustertest.Cluster, name string, s *live.Store, l table.Loader) {
	ctx, cancel := context.WithCancel(t.Context())
	snap, err := s.Snapshot(ctx, l, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := cells(t, snap), cells(t, l); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the snapshot has %d cells, the table %d", len(got), len(want))
	}
	if got, want := snap.Info().Version, l.Info().Version; got != want {
		t.Errorf("the snapshot's version is %q, the table's %q", got, want)
	}
	if all := testtable.Snapshots(t, c.ZooKeeper(), name); len(all) != 1 || !strings.HasPrefix(all[0], "usertrail-extract-default-"+name+"-") {
		t.Errorf("there are the snapshots %q, want one of ours", all)
	}
	cancel()
	if err := snap.Close(); err != nil {
		t.Fatal(err)
	}
	if all := testtable.Snapshots(t, c.ZooKeeper(), name); len(all) != 0 {
		t.Errorf("at the end there are the snapshots %q", all)
	}
	if _, err := s.Snapshot(ctx, l, ""); !errors.Is(err, context.Canceled) || len(testtable.Snapshots(t, c.ZooKeeper(), name)) != 0 {
		t.Errorf("a context that has ended: %v, and there are the snapshots %q", err, testtable.Snapshots(t, c.ZooKeeper(), name))
	}
}

// testNamed reads one that a user took, another table's, and none.
func testNamed(t *testing.T, c *clustertest.Cluster, name string, s *live.Store, l table.Loader) {
	c.Admin(t, "snapshot", "of_"+name, name)
	defer c.Admin(t, "drop-snapshot", "of_"+name)
	want := cells(t, l)
	c.Admin(t, "put", name, "later", "d", "q", "v")
	snap, err := s.Snapshot(t.Context(), l, "of_"+name)
	if err != nil {
		t.Fatal(err)
	}
	if got := cells(t, snap); !slices.Equal(got, want) {
		t.Errorf("the snapshot has %d cells, want %d", len(got), len(want))
	}
	if v := snap.Info().Version; !strings.Contains(v, "of_"+name) {
		t.Errorf("its version is %q", v)
	}
	if err := snap.Close(); err != nil {
		t.Fatal(err)
	}
	if all := testtable.Snapshots(t, c.ZooKeeper(), name); len(all) != 1 {
		t.Errorf("the snapshots at the end are %q, want only the user's snapshot", all)
	}
	other := connect(t, c, c.Shared(t, "d"), live.Options{Conf: confOf(t, c), Catalog: t.TempDir()})
	if _, err := other.Snapshot(t.Context(), begin(t, other), "of_"+name); !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), name) {
		t.Errorf("another table's: %v, want ErrUnfit", err)
	}
	if _, err := s.Snapshot(t.Context(), l, "nothing"); !errors.Is(err, snapshot.ErrNone) {
		t.Errorf("none: %v, want ErrNone", err)
	}
}

// TestWhoMayNotTakeASnapshotIsTold tries it without the right, and without knowing
// where HBase keeps its files.
func TestWhoMayNotTakeASnapshotIsTold(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	name := c.Create(t, "d")
	c.Admin(t, "grant", "reader", "R", name)
	conf := confOf(t, c)
	for what, x := range map[string]struct {
		options live.Options
		says    string
	}{
		"no right": {live.Options{Conf: conf, Catalog: "/none", Family: "d", Client: hbase.Config{User: "reader"}}, "grant 'reader', 'A'"},
		"no root":  {live.Options{Conf: new(hadoopconf.Conf), Catalog: "/none"}, "hbase.rootdir"},
	} {
		s := connect(t, c, name, x.options)
		if _, err := s.Snapshot(t.Context(), begin(t, s), ""); !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v, want ErrUnfit that says %q", what, err, x.says)
		}
	}
}
