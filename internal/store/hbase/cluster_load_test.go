package hbase

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/format/hfile"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// realFiles returns the real cluster's file system.
func realFiles(k *clustertest.Cluster) dfs.FS {
	return hdfs.New(hdfs.Config{Conf: func() (*hadoopconf.Conf, error) { return hadoopconf.Load(k.ConfDir()) }})
}

// uploadReal writes the rows from up to to as an HFile.
func uploadReal(t *testing.T, fs dfs.FS, name string, from, to int) wire.FamilyPath {
	t.Helper()
	out, err := fs.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Abort()
	w, err := hfile.NewWriter(out, hfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := from; i < to; i++ {
		for q := range realColumns {
			if err := w.Add(realCell(i, q)); err != nil {
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
	return wire.FamilyPath{Family: []byte("f"), Path: name}
}

func TestRealBulkLoad(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	c := dialReal(t, k)
	const n = 1000
	name := createReal(t, k, c, n/2)
	fs, dir := realFiles(k), k.HDFS(t)
	low, high := uploadReal(t, fs, dir+"/f/low", 0, n/2), uploadReal(t, fs, dir+"/f/high", n/2, n)

	token, err := c.PrepareBulkLoad(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(token, "hdfs://"+k.NameNode()+"/") {
		t.Errorf("the token is %q, not a URI on %s", token, k.NameNode())
	}
	if _, err := fs.Stat(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	all, err := c.Regions(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	refusesFiles(t, c, fs, name, token, dir, low, high)
	scanReal(t, c, name, 0, Scan{}, nil)

	for i, file := range []wire.FamilyPath{low, high} {
		if loaded, err := c.BulkLoad(t.Context(), name, all[i], []wire.FamilyPath{file}, token, nil); !loaded || err != nil {
			t.Fatalf("%s: loaded %v, %v", file.Path, loaded, err)
		}
		if _, err := fs.Stat(t.Context(), file.Path); err == nil {
			t.Errorf("%s is where it was", file.Path)
		}
	}
	scanReal(t, c, name, n, Scan{}, nil)
	getReal(t, c, name, n, nil)
	if loaded, err := c.BulkLoad(t.Context(), name, all[0], []wire.FamilyPath{low}, token, nil); loaded || err != nil {
		t.Errorf("the same once more: loaded %v, %v", loaded, err)
	}

	k.Admin(t, "split", name, rowName(n/4))
	if loaded, err := c.BulkLoad(t.Context(), name, all[0], []wire.FamilyPath{low}, token, nil); loaded || !errors.Is(err, ErrRegionGone) {
		t.Errorf("into a region that was split: loaded %v, %v", loaded, err)
	}
	for range 2 {
		if err := c.CleanupBulkLoad(t.Context(), name, token); err != nil {
			t.Error(err)
		}
	}
	if _, err := fs.Stat(t.Context(), token); err == nil {
		t.Errorf("after cleaning up there is %s", token)
	}
	scanReal(t, c, name, n, Scan{}, nil)
}

// refusesFiles loads files into the first region of a table that it refuses, or refuses a part of. low has its rows, and high
// has the rows of the other region.
func refusesFiles(t *testing.T, c *Client, fs dfs.FS, name, token, dir string, low, high wire.FamilyPath) {
	t.Helper()
	for what, wrong := range map[string][]wire.FamilyPath{
		"rows of the other region": {high},
		"one of both":              {low, high},
		"an unknown family":        {{Family: []byte("g"), Path: low.Path}},
		"no such file":             {low, {Family: []byte("f"), Path: dir + "/f/none"}},
	} {
		if loaded, err := c.BulkLoad(t.Context(), name, regions(t, c, name)[0], wrong, token, nil); loaded || err != nil {
			t.Errorf("%s: loaded %v, %v; want not loaded and no error", what, loaded, err)
		}
		for _, file := range []wire.FamilyPath{low, high} {
			if _, err := fs.Stat(t.Context(), file.Path); err != nil {
				t.Errorf("%s: the file was moved: %v", what, err)
			}
		}
	}
}

// TestRealBulkLoadFollowsItsRegion moves a region after the client has located it.
func TestRealBulkLoadFollowsItsRegion(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	c := dialReal(t, k)
	const n = 100
	name := createReal(t, k, c)
	file := uploadReal(t, realFiles(k), k.HDFS(t)+"/f/all", 0, n)
	token, err := c.PrepareBulkLoad(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CleanupBulkLoad(t.Context(), name, token)
	all, err := c.Regions(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	r := k.Regions(t, name)[0]
	for _, d := range k.RegionServers() {
		if d.Name != r.Server {
			k.Move(t, r, d.Name)
			break
		}
	}
	if loaded, err := c.BulkLoad(t.Context(), name, all[0], []wire.FamilyPath{file}, token, nil); !loaded || err != nil {
		t.Fatalf("loaded %v, %v", loaded, err)
	}
	scanReal(t, c, name, n, Scan{}, nil)
}

// TestRealPermissions uses three users: ann may read, write and create, bob may read, eve may
// do nothing.
func TestRealPermissions(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	c := dialReal(t, k)
	name := createReal(t, k, c)
	k.Admin(t, "grant", "ann", "RWC", name)
	k.Admin(t, "grant", "bob", "R", name)
	as := func(user string) *Client { return dialReal(t, k, func(cfg *Config) { cfg.User = user }) }
	ann, bob, eve := as("ann"), as("bob"), as("eve")
	type check struct {
		c       *Client
		actions []wire.Permission
		want    bool
	}
	for _, q := range []check{
		{c, []wire.Permission{wire.PermitRead, wire.PermitWrite, wire.PermitCreate, wire.PermitAdmin}, true},
		{ann, []wire.Permission{wire.PermitRead, wire.PermitWrite, wire.PermitCreate}, true},
		{ann, []wire.Permission{wire.PermitRead, wire.PermitAdmin}, false},
		{bob, []wire.Permission{wire.PermitRead}, true},
		{bob, []wire.Permission{wire.PermitRead, wire.PermitWrite}, false},
		{eve, []wire.Permission{wire.PermitRead}, false},
		{eve, nil, true},
	} {
		for _, family := range []string{"", "f"} {
			if got, err := q.c.Allowed(t.Context(), name, family, q.actions...); got != q.want || err != nil {
				t.Errorf("%s may %v on family %q: %v, %v; want %v", q.c.cfg.User, q.actions, family, got, err, q.want)
			}
		}
	}

	if _, err := eve.PrepareBulkLoad(t.Context(), name); !errors.Is(err, ErrPermission) {
		t.Errorf("eve prepares a bulk load: %v", err)
	}
	token, err := ann.PrepareBulkLoad(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	all, err := ann.Regions(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	// An existing file, because with quotas HBase reads its size before it checks the user.
	file := []wire.FamilyPath{{Family: []byte("f"), Path: "/hbase/hbase.version"}}
	if loaded, err := bob.BulkLoad(t.Context(), name, all[0], file, token, nil); loaded || !errors.Is(err, ErrPermission) || errors.Is(err, ErrUncertain) {
		t.Errorf("bob loads files: %v, %v", loaded, err)
	}
	if err := bob.CleanupBulkLoad(t.Context(), name, token); !errors.Is(err, ErrPermission) {
		t.Errorf("bob cleans up: %v", err)
	}
	if err := ann.CleanupBulkLoad(t.Context(), name, token); err != nil {
		t.Error(err)
	}
	if err := bob.Snapshot(t.Context(), name, "bobs-"+name, SnapshotOptions{}); !errors.Is(err, ErrPermission) {
		t.Errorf("bob takes a snapshot: %v", err)
	}
}

func TestRealSnapshots(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	c := dialReal(t, k)
	name := createReal(t, k, c, 50)
	putReal(t, c, name, 0, 100, nil)
	began := time.Now()
	snapshot := name + ".1"
	if err := c.Snapshot(t.Context(), name, snapshot, SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.DeleteSnapshot(t.Context(), snapshot) })
	find := func() []wire.Snapshot {
		all, err := c.Snapshots(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(all, func(s wire.Snapshot) bool { return s.Name != snapshot })
	}
	found := find()
	if len(found) != 1 || found[0].Table.String() != name || found[0].Type != wire.SnapshotFlush || found[0].Owner == "" {
		t.Fatalf("found %+v", found)
	}
	if created := time.UnixMilli(int64(found[0].Created)); created.Before(began.Truncate(time.Millisecond)) || created.After(time.Now()) {
		t.Errorf("created at %s, asked for at %s", created, began)
	}
	if err := c.Snapshot(t.Context(), name, snapshot, SnapshotOptions{}); !errors.Is(err, ErrSnapshotExists) {
		t.Errorf("taken again: %v", err)
	}
	if err := c.DeleteSnapshot(t.Context(), snapshot); err != nil {
		t.Fatal(err)
	}
	if err := c.DeleteSnapshot(t.Context(), snapshot); !errors.Is(err, ErrNoSnapshot) {
		t.Errorf("deleted again: %v", err)
	}
	if found := find(); len(found) > 0 {
		t.Errorf("found after it was deleted: %+v", found)
	}
	if err := c.Snapshot(t.Context(), "absent", snapshot, SnapshotOptions{}); !errors.Is(err, ErrNoTable) {
		t.Errorf("of no table: %v", err)
	}
}

// TestRealSnapshotWhileRegionsMove checks that failures of the server are retried.
func TestRealSnapshotWhileRegionsMove(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	c := dialReal(t, k)
	name := createReal(t, k, c, 500, 1000, 2000)
	putReal(t, c, name, 0, 100, nil)
	s := shake(t, k, name)
	defer s.stop()
	for range testkit.Pick(2, 4) {
		s.next()
		if err := c.Snapshot(t.Context(), name, name, SnapshotOptions{}); err != nil {
			t.Error(err)
			break
		}
		if err := c.DeleteSnapshot(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
}

func TestRealStatus(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	s, err := dialReal(t, k).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.Version, k.HBase()+".") || s.Master.Host == "" {
		t.Errorf("version %q, master %s", s.Version, s.Master)
	}
	var live, want []string
	for _, x := range s.Live {
		live = append(live, x.Addr())
	}
	for _, d := range k.RegionServers() {
		want = append(want, d.Address)
	}
	slices.Sort(live)
	slices.Sort(want)
	if !slices.Equal(live, want) || len(live) < 2 {
		t.Errorf("live servers %q, want %q", live, want)
	}
}

// TestRealCallThatNoServerKnows checks HBase's response to an unknown call, on which Allowed
// relies.
func TestRealCallThatNoServerKnows(t *testing.T) {
	t.Parallel()
	k := clustertest.Get(t)
	c := dialReal(t, k)
	ctx, done, err := c.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	s, err := c.masterServer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.call(ctx, request{method: "NoSuchCall", param: wire.Raw(nil)}); !unsupported(err) {
		t.Errorf("an unknown call: %v", err)
	}
}
