package live_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
	"usertrail/internal/table/precheck"
	"usertrail/internal/table/tabletest"
	"usertrail/internal/test/clustertest"
)

// TestATableThatIsReadOnly checks that a READONLY table accepts HFiles and no puts. A snapshot
// of it cannot be flushed. The snapshot has everything, and a TTL.
func TestATableThatIsReadOnly(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	name := c.Create(t, "d", "table.READONLY=true")
	o := live.Options{Conf: confOf(t, c), Catalog: t.TempDir()}
	s := connect(t, c, name, o)
	tabletest.Load(t, tabletest.Files, s)
	l, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	snap, err := s.Snapshot(t.Context(), l, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := cells(t, snap), cells(t, l); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the snapshot has %d cells, the table %d", len(got), len(want))
	}
	client, err := hbase.Dial(t.Context(), hbase.Config{ZooKeeper: []string{c.ZooKeeper()}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	all, err := client.Snapshots(t.Context())
	if i := slices.IndexFunc(all, func(x wire.Snapshot) bool { return x.Table.String() == name }); err != nil || i < 0 || all[i].TTL != 24*60*60 {
		t.Errorf("snapshots %+v, %v; want one of %s that the master keeps for a day", all, err, name)
	}
	if err := snap.Close(); err != nil {
		t.Fatal(err)
	}
	w, err := l.(table.Putter).Writer(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	err = w.Put(t.Context(), &cell.Cell{Row: []byte("r"), Family: []byte("d"), Qualifier: []byte("q"), Time: 1, Type: cell.Put})
	if err = errors.Join(err, w.Flush(t.Context())); !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "READONLY => 'false'") {
		t.Errorf("a put: %v, want ErrUnfit and what to do", err)
	}
	_ = w.Close()
	load := tonight
	for _, x := range []struct {
		files, puts bool
		want        precheck.State
	}{{true, false, precheck.OK}, {true, true, precheck.Warn}, {false, true, precheck.Fail}} {
		load.HFiles, load.Puts = x.files, x.puts
		found := look(t, c, name, o, load)
		if got := found[precheck.TableThere]; got.State != x.want || x.want != precheck.OK && !strings.Contains(got.Detail, "READONLY") {
			t.Errorf("HFiles %t, puts %t: %+v, want %v", x.files, x.puts, got, x.want)
		}
	}
}

// TestATableWithANameOfAnyLanguage is loaded both ways, and read by a snapshot.
func TestATableWithANameOfAnyLanguage(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	name := "行为_größe." + c.Table(t)
	c.Admin(t, "create", name, "d")
	defer c.Admin(t, "drop", name)
	for _, way := range []tabletest.Way{tabletest.Puts, tabletest.Files} {
		s := connect(t, c, name, live.Options{Conf: confOf(t, c), Catalog: t.TempDir()})
		tabletest.Load(t, way, s)
		l, err := s.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		snap, err := s.Snapshot(t.Context(), l, "")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := cells(t, snap), cells(t, l); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("the snapshot has %d cells, the table %d", len(got), len(want))
		}
		if err := snap.Close(); err != nil {
			t.Error(err)
		}
	}
}
