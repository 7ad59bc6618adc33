package snapshot_test

import (
	"bytes"
	"errors"
	"fmt"
	iofs "io/fs"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table"
	"usertrail/internal/table/snapshot"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

var (
	oneKind   = &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "login"}}}
	firstDays = behaviour.Span{From: behaviour.DateOf(2014, 9, 1), To: behaviour.DateOf(2014, 9, 4)}
)

// A cluster is the real one.
type cluster struct {
	*clustertest.Cluster
	client *hbase.Client
	fs     dfs.FS
	dice   *rand.Rand
}

func realCluster(t *testing.T) *cluster {
	k := clustertest.Get(t)
	client, err := hbase.Dial(t.Context(), hbase.Config{ZooKeeper: []string{k.ZooKeeper()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return &cluster{k, client, filesAs(k, ""), rand.New(rand.NewPCG(3, 3))}
}

// filesAs returns the cluster's file system for a user.
func filesAs(k *clustertest.Cluster, user string) dfs.FS {
	return hdfs.New(hdfs.Config{User: user, Conf: func() (*hadoopconf.Conf, error) { return hadoopconf.Load(k.ConfDir()) }})
}

// write puts into family d and deletes from it: see write of Admin.java.
func (c *cluster) write(t *testing.T, name string, orders []string) {
	t.Helper()
	c.Admin(t, append([]string{"write", name, "d"}, orders...)...)
}

// orders makes writes up to few rows, columns and times, so that they meet.
func (c *cluster) orders(n int) []string {
	var out []string
	for range n {
		row, column, at := c.row(), []string{"", "a", "ab", "b"}[c.dice.IntN(4)], 1+c.dice.IntN(8)
		switch c.dice.IntN(12) {
		case 0:
			out = append(out, fmt.Sprintf("version\t%s\t%s\t%d", row, column, at))
		case 1:
			out = append(out, fmt.Sprintf("column\t%s\t%s\t%d", row, column, at))
		case 2:
			out = append(out, fmt.Sprintf("family\t%s\t%d", row, at))
		case 3:
			out = append(out, fmt.Sprintf("moment\t%s\t%d", row, at))
		default:
			ttl := []int64{0, 0, 0, 1, 1<<50 + c.dice.Int64N(1e9)}[c.dice.IntN(5)] // ms
			out = append(out, fmt.Sprintf("put\t%s\t%s\t%d\tvalue %d\t%d", row, column, at, c.dice.IntN(1e6), ttl))
		}
	}
	return out
}

func (c *cluster) row() string { return fmt.Sprintf("%02d", c.dice.IntN(40)) }

// load bulk loads a cell in each row and column.
func (c *cluster) load(t *testing.T, name string) {
	t.Helper()
	dir := c.HDFS(t)
	token, err := c.client.PrepareBulkLoad(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	regions, err := c.client.Regions(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range regions {
		path := fmt.Sprintf("%s/d/%d", dir, i)
		c.stage(t, path, r.Region)
		loaded, err := c.client.BulkLoad(t.Context(), name, r, []wire.FamilyPath{{Family: []byte("d"), Path: path}}, token, nil)
		if err != nil || !loaded {
			t.Fatalf("bulk load into %s: %t, %v", r.Region, loaded, err)
		}
	}
	if err := c.client.CleanupBulkLoad(t.Context(), name, token); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) stage(t *testing.T, path string, r split.Region) {
	t.Helper()
	out, err := c.fs.Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Abort()
	w, err := hfile.NewWriter(out, hfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		for _, column := range []string{"", "a", "ab", "b"} {
			row := fmt.Sprintf("%02d", i)
			if !r.Has([]byte(row)) {
				continue
			}
			if err := w.Add(put(row, column, int64(1+c.dice.IntN(8)), "loaded")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Commit(); err != nil {
		t.Fatal(err)
	}
}

// take takes a snapshot of a table, which is dropped at t's end.
func (c *cluster) take(t *testing.T, name string) string {
	t.Helper()
	snap := fmt.Sprintf("%s_%08x", name, c.dice.Uint32()) // tests have the same dice
	if err := c.client.Snapshot(t.Context(), name, snap, hbase.SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Admin(t, "drop-snapshot", snap) })
	return snap
}

func (c *cluster) config(name, snap string) snapshot.Config {
	return snapshot.Config{
		FS: c.fs, Root: "hdfs://" + c.NameNode() + "/hbase", Name: snap, Table: name, Now: time.Now(),
		Info: table.Info{Address: "hbase://" + name, Family: "d", Layout: layout.Reversed{}},
	}
}

func (c *cluster) open(t *testing.T, name, snap string) *snapshot.Table {
	t.Helper()
	s, err := snapshot.Open(t.Context(), c.config(name, snap))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// scan returns all versions of a table's cells of some times, as the servers return them.
func (c *cluster) scan(t *testing.T, name string, times wire.TimeRange) []string {
	t.Helper()
	var out []string
	err := c.client.Scan(t.Context(), name, hbase.Scan{MaxVersions: math.MaxInt32, Time: times}, func(c *cell.Cell) error {
		out = append(out, line(c))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func line(c *cell.Cell) string {
	return fmt.Sprintf("%q:%q/%d=%q", c.Row, c.Qualifier, c.Time, c.Value)
}

func snapped(t *testing.T, s *snapshot.Table) []string {
	t.Helper()
	var out []string
	err := s.Read(t.Context(), table.Query{Ranges: everything}, func(c *cell.Cell) error { out = append(out, line(c)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkTimes queries the cells of few times. The result has all of these cells that a scan of all
// times returns, and only cells that a scan of these times returns. A scan of these times also
// returns older versions in the place of versions of later times.
func (c *cluster) checkTimes(t *testing.T, what, name string, s *snapshot.Table) {
	t.Helper()
	const from, to = 2, 5 // ms
	q := table.Query{Ranges: everything, Hints: table.Hints{Times: &layout.Times{First: from * 1000, Last: to*1000 - 1}}}
	got := map[string]bool{}
	err := s.Read(t.Context(), q, func(c *cell.Cell) error {
		got[line(c)] = got[line(c)] || from <= c.Time && c.Time < to
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	may := c.scan(t, name, wire.TimeRange{From: from, To: to})
	for _, must := range c.scan(t, name, wire.TimeRange{}) {
		if _, come := got[must]; slices.Contains(may, must) && !come {
			t.Errorf("%s: %s is not among the cells of the files with its times", what, must)
		}
	}
	for cell, in := range got {
		if in && !slices.Contains(may, cell) {
			t.Errorf("%s: the files have %s, and no scan of its times returns it", what, cell)
		}
	}
}

// check compares the cells of a snapshot with the cells of a scan.
func (c *cluster) check(t *testing.T, what, name string) {
	t.Helper()
	s := c.open(t, name, c.take(t, name))
	got, want := snapped(t, s), c.scan(t, name, wire.TimeRange{})
	c.checkTimes(t, what, name, s)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%s: the snapshot has %d cells\n%s\nthe table %d\n%s", what, len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
	}
	regions, err := s.Regions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, r := range c.Regions(t, name) {
		have = append(have, fmt.Sprint(split.Region{Start: []byte(r.Start), End: []byte(r.End)}))
	}
	if fmt.Sprint(regions) != fmt.Sprint(have) {
		t.Errorf("%s: the snapshot has the regions %v, the table %v", what, regions, have)
	}
}

// TestASnapshotHasWhatAScanHas makes a table with files of many kinds. The files are not
// compacted, so that halves and links stay.
func TestASnapshotHasWhatAScanHas(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	families := [][]string{
		{"DATA_BLOCK_ENCODING=FAST_DIFF", "COMPRESSION=SNAPPY", "VERSIONS=3"},
		{"DATA_BLOCK_ENCODING=ROW_INDEX_V1", "COMPRESSION=GZ", "KEEP_DELETED_CELLS=TRUE", "VERSIONS=2"},
	}
	for _, options := range families[:testkit.Pick(1, len(families))] {
		name := c.Create(t, "d", append(options, "table.COMPACTION_ENABLED=false", "split=10", "split=20")...)
		orders := append(append(c.orders(1500), "flush"), append(c.orders(200), "flush")...)
		c.write(t, name, append(orders, c.orders(100)...))
		c.check(t, "flushed, and in memory", name)
		c.load(t, name)
		c.check(t, "bulk loaded", name)
		c.write(t, name, c.orders(100))
		c.check(t, "put again", name)

		regions := c.Regions(t, name)
		c.Admin(t, "merge", regions[0].Encoded, regions[1].Encoded)
		c.check(t, "merged", name)
		c.Admin(t, "split", name, "33")
		c.check(t, "split", name)

		cloned, snap := c.Table(t), c.take(t, name)
		c.Admin(t, "clone", snap, cloned)
		c.check(t, "cloned", cloned)
		c.write(t, cloned, append(c.orders(50), "flush"))
		c.check(t, "cloned and put", cloned)
	}
}

// TestTTLsAreThoseOfTheFamily compares tables whose cells outlive them in part.
func TestTTLsAreThoseOfTheFamily(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	day := int64(86_400)
	families := [][]string{{fmt.Sprintf("TTL=%d", day), "MIN_VERSIONS=1", "VERSIONS=3"}, {fmt.Sprintf("TTL=%d", day)}}
	for _, options := range families[:testkit.Pick(1, len(families))] {
		name := c.Create(t, "d", options...)
		var orders []string
		now := time.Now().UnixMilli()
		for i := range 200 {
			at := now - []int64{10, 2 * day * 1000, 3 * day * 1000, day * 500}[c.dice.IntN(4)]
			orders = append(orders, fmt.Sprintf("put\t%s\ta\t%d\tvalue %d\t0", c.row(), at, i))
			if i%20 == 19 {
				orders = append(orders, fmt.Sprintf("column\t%s\ta\t%d", c.row(), at), "flush")
			}
		}
		c.write(t, name, orders)
		c.check(t, strings.Join(options, " "), name)
	}
}

// TestASnapshotIsReadWhileItsFilesMove reads a table whose files are archived in
// the meantime: by a compaction, as the regions close, and as the table is dropped.
func TestASnapshotIsReadWhileItsFilesMove(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	name := c.Create(t, "d", "split=2")
	p, err := c.client.NewPutter(name, hbase.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	value := make([]byte, 1000)
	for round := range 2 {
		for i := range 4000 {
			for j := range value {
				value[j] = byte(c.dice.Uint32())
			}
			if err := p.Put(t.Context(), put(fmt.Sprintf("%d%04d", i%4, i), fmt.Sprint("q", round), 1, string(value))); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.Admin(t, "flush", name)
	}
	want := c.scan(t, name, wire.TimeRange{})
	s := c.open(t, name, c.take(t, name))
	var got []string
	err = s.Read(t.Context(), table.Query{Ranges: everything}, func(x *cell.Cell) error {
		switch len(got) {
		case 1000:
			c.Admin(t, "compact", name)
			regions := c.Regions(t, name)
			for _, d := range c.RegionServers() {
				if d.Name != regions[0].Server {
					c.Move(t, regions[0], d.Name) // closes it, which archives what was compacted
					break
				}
			}
		case 3000:
			c.Admin(t, "drop", name)
		}
		got = append(got, fmt.Sprintf("%q:%q/%d=%q", x.Row, x.Qualifier, x.Time, x.Value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("read are %d cells, want %d, the same", len(got), len(want))
	}
	if _, err := c.fs.Stat(t.Context(), "hdfs://"+c.NameNode()+"/hbase/data/default/"+name); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("the table's files did not move: %v", err)
	}
}

// TestUsersAreThoseWithRows iterates over users. Some of the users were deleted.
func TestUsersAreThoseWithRows(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	name := c.Create(t, "d", "split=5")
	var orders []string
	for i := range 100 {
		orders = append(orders, fmt.Sprintf("put\t%02d,201409%02d,00001\tx\t1\tv\t0", i, 1+i%9))
		if i%3 == 0 {
			orders = append(orders, fmt.Sprintf("family\t%02d,201409%02d,00001\t5", i, 1+i%9))
		}
		if i == 60 {
			orders = append(orders, "flush")
		}
	}
	c.write(t, name, orders)
	config := c.config(name, c.take(t, name))
	config.Info.Schema = oneKind
	s, err := snapshot.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	users, err := s.Users(t.Context(), split.Region{}, firstDays)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for users.Next() {
		if u := users.User(); !u.Sure || u.Did != activity.Of(0) {
			t.Errorf("%q did %v, sure: %t", u.Key, u.Did, u.Sure)
		}
		got = append(got, string(bytes.TrimSuffix(users.User().Key, []byte(","))))
	}
	if err := users.Err(); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if i%3 != 0 && i%9 < 4 {
			want = append(want, fmt.Sprintf("%02d", i))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("users %q, want %q", got, want)
	}
}

// TestOthersMayNotReadTheFiles opens a snapshot as a user to whom HBase's files are closed.
func TestOthersMayNotReadTheFiles(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	name := c.Create(t, "d")
	config := c.config(name, c.take(t, name))
	closed := "/hbase/.hbase-snapshot/" + config.Name
	c.Admin(t, "mkdir", closed, os.Getenv("USER"), "0700")
	config.FS = filesAs(c.Cluster, "mallory")
	_, err := snapshot.Open(t.Context(), config)
	if !errors.Is(err, table.ErrUnfit) || !errors.Is(err, iofs.ErrPermission) || !strings.Contains(err.Error(), "mallory") || !strings.Contains(err.Error(), closed) {
		t.Errorf("%v, want ErrUnfit, the user and the path", err)
	}
}
