package hdfs_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// leaseFalls is much longer than the minute for which HDFS keeps the lease of a dead client.
const leaseFalls = 10 * time.Minute

// as returns the file system of the cluster for a user. "" is the user that runs the tests,
// who has all permissions.
func as(c *clustertest.Cluster, user string) dfs.FS {
	return hdfs.New(hdfs.Config{
		Conf:    func() (*hadoopconf.Conf, error) { return hadoopconf.Load(c.ConfDir()) },
		User:    user,
		Silence: 5 * time.Second,
	})
}

func TestConforms(t *testing.T) {
	limits := dfstest.Limits{LockOutlives: leaseFalls, NoColon: true}
	dfstest.RunWithin(t, limits, func(t *testing.T) (dfs.FS, string) {
		if dfstest.Holder() {
			return hdfs.New(hdfs.Config{}), ""
		}
		c := clustertest.Get(t)
		t.Setenv("HADOOP_CONF_DIR", c.ConfDir())
		return hdfs.New(hdfs.Config{}), c.HDFS(t)
	})
}

// text returns bytes without repeated pieces.
func text(n int) []byte {
	b := make([]byte, n)
	x := uint32(7)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func write(t *testing.T, fsys dfs.FS, name string, b []byte) {
	t.Helper()
	if err := dfs.WriteFile(t.Context(), fsys, name, b); err != nil {
		t.Fatal(err)
	}
}

// expectFile reads a whole file at once and compares it.
func expectFile(t *testing.T, fsys dfs.FS, name string, want []byte) {
	t.Helper()
	got, err := dfs.ReadFile(t.Context(), fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: %d bytes that are not the %d written", name, len(got), len(want))
	}
}

// TestDefaultFileSystem checks that hdfs:///path and hdfs://host:port/path are the same
// place.
func TestDefaultFileSystem(t *testing.T) {
	c := clustertest.Get(t)
	fsys, dir := as(c, ""), c.HDFS(t)
	write(t, fsys, dfs.Join(dir, "file"), []byte("here"))
	_, path, _ := strings.Cut(strings.TrimPrefix(dir, "hdfs://"), "/")
	expectFile(t, fsys, "hdfs:///"+path+"/file", []byte("here"))
}

// TestHighAvailability uses a nameservice in which only the second NameNode runs, as after a
// failure of the first.
func TestHighAvailability(t *testing.T) {
	c := clustertest.Get(t)
	conf := t.TempDir()
	writeSite(t, conf, map[string]string{
		"dfs.nameservices":                 "pair",
		"dfs.ha.namenodes.pair":            "a,b",
		"dfs.namenode.rpc-address.pair.a":  "127.0.0.1:1",
		"dfs.namenode.rpc-address.pair.b":  c.NameNode(),
		"fs.defaultFS":                     "hdfs://pair",
		"hadoop.security.authentication":   "simple",
		"dfs.client.use.datanode.hostname": "false",
	})
	fsys := hdfs.New(hdfs.Config{Conf: func() (*hadoopconf.Conf, error) { return hadoopconf.Load(conf) }})
	_, path, _ := strings.Cut(strings.TrimPrefix(c.HDFS(t), "hdfs://"), "/")
	write(t, fsys, "hdfs://pair/"+path+"/file", []byte("here"))
	expectFile(t, fsys, "hdfs:///"+path+"/file", []byte("here"))
}

func TestNoServerThere(t *testing.T) {
	fsys := hdfs.New(hdfs.Config{
		Conf:     func() (*hadoopconf.Conf, error) { return &hadoopconf.Conf{}, nil },
		Patience: time.Second,
	})
	_, err := fsys.Stat(t.Context(), "hdfs://127.0.0.1:1/file")
	if !errors.Is(err, dfs.ErrUnavailable) || !strings.Contains(err.Error(), "hdfs://127.0.0.1:1/file") {
		t.Errorf("%v, want ErrUnavailable with the name", err)
	}
	if _, err := fsys.Stat(t.Context(), "hdfs:///file"); !errors.Is(err, hadoopconf.ErrConf) {
		t.Errorf("no authority and no configuration: %v, want ErrConf", err)
	}
	for _, name := range []string{"", "/file", "file", "s3://a/b", "hdfs:/a"} {
		if _, err := fsys.Stat(t.Context(), name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v, want fs.ErrInvalid", name, err)
		}
	}
}

func TestRootsAreNotRemoved(t *testing.T) {
	c := clustertest.Get(t)
	for _, name := range []string{"hdfs:///", "hdfs://" + c.NameNode(), "hdfs:///a/.."} {
		if err := as(c, "").Remove(t.Context(), name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Remove %s: %v, want fs.ErrInvalid", name, err)
		}
	}
}

func TestDenied(t *testing.T) {
	c := clustertest.Get(t)
	dir := c.HDFS(t)
	write(t, as(c, ""), dfs.Join(dir, "closed", "file"), nil)
	c.Admin(t, "chmod", dfs.Join(dir, "closed"), "0700")
	bob := as(c, "bob")
	dfstest.Denied(t, bob, dfs.Join(dir, "closed"), "file")
	_, err := bob.Open(t.Context(), dfs.Join(dir, "closed", "file"))
	if err == nil || !strings.Contains(err.Error(), "user bob") {
		t.Errorf("%v does not name the user", err)
	}
	// If bob can see a directory but may not write to it, Create fails before he has written
	// anything.
	if _, err := bob.Create(t.Context(), dfs.Join(dir, "new")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Create: %v, want fs.ErrPermission", err)
	}
}

// TestAnalystsReadWhatTheyAreLet checks the modes of files. They have data about people. Analysts may
// read them if an ACL or the configured umask allows it.
func TestAnalystsReadWhatTheyAreLet(t *testing.T) {
	c := clustertest.Get(t)
	top := c.HDFS(t)
	write(t, as(c, ""), dfs.Join(top, "dir", "file"), []byte("for few"))
	if _, err := dfs.ReadFile(t.Context(), as(c, "bob"), dfs.Join(top, "dir", "file")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v, want fs.ErrPermission", err)
	}
	conf := c.ClientConf(t, map[string]string{"fs.permissions.umask-mask": "022"})
	open := hdfs.New(hdfs.Config{Conf: func() (*hadoopconf.Conf, error) { return hadoopconf.Load(conf) }})
	write(t, open, dfs.Join(top, "open", "file"), []byte("for all"))
	expectFile(t, as(c, "bob"), dfs.Join(top, "open", "file"), []byte("for all"))
	c.Admin(t, "acl", strings.TrimPrefix(top, "hdfs://"+c.NameNode()), "default:user:bob:r-x")
	write(t, as(c, ""), dfs.Join(top, "acl", "file"), []byte("for bob"))
	expectFile(t, as(c, "bob"), dfs.Join(top, "acl", "file"), []byte("for bob"))
	if _, err := dfs.ReadFile(t.Context(), as(c, "eve"), dfs.Join(top, "acl", "file")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a user who is not in the ACL: %v, want fs.ErrPermission", err)
	}
}

func TestSequentialReadsAreOneStream(t *testing.T) {
	c := clustertest.Get(t)
	fsys, name := as(c, ""), dfs.Join(c.HDFS(t), "file")
	want := text(3<<20 + 11)
	write(t, fsys, name, want)
	f, err := fsys.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	most := testkit.Pick[int64](100_000, 300_000)
	for _, size := range []int{1, 100, 511, 512, 4096, 70_000} {
		var got bytes.Buffer
		r := io.NewSectionReader(f, 0, f.Size())
		if _, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{io.LimitReader(r, most)}, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want[:most]) {
			t.Errorf("read in pieces of %d bytes, the content differs", size)
		}
	}
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestFullLocalDisk removes the directory of files that wait for their upload.
func TestFullLocalDisk(t *testing.T) {
	c := clustertest.Get(t)
	fsys, name := as(c, ""), dfs.Join(c.HDFS(t), "file")
	p, err := fsys.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	gone := t.TempDir() + "/gone"
	t.Setenv("TMPDIR", gone)
	_, err = p.Write(make([]byte, 1<<20))
	if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), gone) {
		t.Errorf("Write: %v, want an error that names the file and the local one", err)
	}
	if err := p.Commit(); err == nil {
		t.Error("Commit after a Write that failed says that it is committed")
	}
}
