package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/table/live"
	"usertrail/internal/table/tabletest"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
)

// A snapshotFixture is a table in HBase, and a folder for results.
type snapshotFixture struct {
	*clustertest.Cluster
	name, dir string
}

// newSnapshotFixture returns a table with one small load.
func newSnapshotFixture(t *testing.T) *snapshotFixture {
	return newLoadedFixture(t, func(s *live.Store) { tabletest.Load(t, tabletest.Puts, s) })
}

// newLoadedFixture returns a table with the loads that load makes.
func newLoadedFixture(t *testing.T, load func(s *live.Store), options ...string) *snapshotFixture {
	c := clustertest.Get(t)
	t.Setenv("HADOOP_CONF_DIR", c.ConfDir())
	l := &snapshotFixture{c, "", t.TempDir()}
	options = append(options, "split=2", "split=5", "table."+live.CatalogAttribute+"="+filepath.Join(l.dir, "catalog"))
	l.name = c.Create(t, "d", options...)
	conf, err := hadoopconf.Load(c.ConfDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := live.Connect(t.Context(), c.Files(), l.address(), live.Options{Conf: conf})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	load(s)
	return l
}

func (l *snapshotFixture) address() string {
	return fmt.Sprintf("hbase://%s/%s", l.ZooKeeper(), l.name)
}

// extract runs the program, and returns its exit status and standard error.
func (l *snapshotFixture) extract(t *testing.T, flags ...string) (int, string) {
	t.Helper()
	args := append([]string{"--table", l.address(), "--from", "2014-09-01", "--to", "2014-09-06", "--types", "play,login", "--active", "any", "--quiet"}, flags...)
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
	return status, stderr.String()
}

// costs matches the costs in a manifest. They depend on the plan.
var costs = regexp.MustCompile(`(?s) "cost": \{.*?\n \},\n`)

// remarks are what an extract may say on standard error.
var remarks = regexp.MustCompile(`(?m)^extract: (.*_not-found\.txt has the IDs|the table keeps events for .* have expired, or expire soon|nobody did any of these behaviours on these days|days that are not loaded: .*|none of the .* users asked for has any of these behaviours on these days(; nobody has)?)\n`)

// result returns the files of a result by name. Its manifest is without the costs.
func (l *snapshotFixture) result(t *testing.T, flags ...string) map[string]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	status, said := l.extract(t, append(flags, "--out", out)...)
	if status != 0 || remarks.ReplaceAllString(said, "") != "" {
		t.Fatalf("extract %q: status %d, %s", flags, status, said)
	}
	all, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || len(all) < 3 {
		t.Fatalf("the result is %q, %v", all, err)
	}
	files := map[string]string{}
	for _, name := range all {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = costs.ReplaceAllString(string(b), "")
	}
	return files
}

// snapshots returns the number of snapshots of the table.
func (l *snapshotFixture) snapshots(t *testing.T) int {
	t.Helper()
	return len(testtable.Snapshots(t, l.ZooKeeper(), l.name))
}

// list writes a list of users and returns its name. Some of the users have no rows.
func (l *snapshotFixture) list(t *testing.T) string {
	t.Helper()
	var ids strings.Builder
	for i := range 30 {
		fmt.Fprintln(&ids, 2*i*25641)
	}
	name := filepath.Join(l.dir, "users")
	testkit.WriteFile(t, name, ids.String())
	return name
}

// TestASnapshotHasTheResultsOfGets compares the bytes of results from gets and from snapshots: of
// cells in memory, of flushed cells, of a split region, and of a snapshot taken by others.
func TestASnapshotHasTheResultsOfGets(t *testing.T) {
	l := newSnapshotFixture(t)
	list := l.list(t)
	for _, prepare := range []func(){
		func() {},
		func() { l.Admin(t, "flush", l.name) },
		func() { l.Admin(t, "split", l.name, "3") },
	} {
		prepare()
		for _, users := range []string{"all", list} {
			want := l.result(t, "--users", users, "--plan", "get")
			got := l.result(t, "--users", users, "--plan", "snapshot")
			for name := range want {
				if got[name] != want[name] || len(got) != len(want) {
					t.Errorf("--users %s: %s has %d bytes of a snapshot, and %d of gets, or they differ", users, name, len(got[name]), len(want[name]))
				}
			}
		}
	}
	if n := l.snapshots(t); n != 0 {
		t.Errorf("%d snapshots are left", n)
	}

	l.Admin(t, "snapshot", "of_"+l.name, l.name)
	defer l.Admin(t, "drop-snapshot", "of_"+l.name)
	want := l.result(t, "--users", "all", "--plan", "get")
	l.Admin(t, "put", l.name, "14652,20140901,00001", "d", "title,\x00\x00\x00\x01\x00\x00\x00\x00", "later", "1409529600000")
	if got := l.result(t, "--users", "all", "--plan", "snapshot", "--snapshot", "of_"+l.name); got["part-00000.parquet"] != want["part-00000.parquet"] {
		t.Error("a snapshot that was taken before has another result than the table had")
	}
	if now := l.result(t, "--users", "all", "--plan", "snapshot"); now["part-00000.parquet"] == want["part-00000.parquet"] {
		t.Error("a snapshot that was taken later has the same result")
	}
	if n := l.snapshots(t); n != 1 {
		t.Errorf("there are %d snapshots, want the one of the user", n)
	}
}

// TestASnapshotThatCannotBeReadIsSaid checks the status of each cause.
func TestASnapshotThatCannotBeReadIsSaid(t *testing.T) {
	l := newSnapshotFixture(t)
	for _, c := range []struct {
		flags  []string
		status int
		says   string
	}{
		{[]string{"--snapshot", "nothing"}, 66, "no such snapshot"},
		{[]string{"--types", "nonsense"}, 64, "nonsense"},
	} {
		status, said := l.extract(t, append([]string{"--users", "all", "--plan", "snapshot", "--out", filepath.Join(l.dir, "out")}, c.flags...)...)
		if status != c.status || !strings.Contains(said, c.says) {
			t.Errorf("%q: status %d, %s, want %d and %q", c.flags, status, said, c.status, c.says)
		}
	}
	t.Setenv("HADOOP_CONF_DIR", "")
	status, said := l.extract(t, "--users", "all", "--plan", "snapshot", "--out", filepath.Join(l.dir, "out"))
	if status != 64 || !strings.Contains(said, "hbase.rootdir") {
		t.Errorf("nothing says where HBase keeps its files: status %d, %s", status, said)
	}
	if n := l.snapshots(t); n != 0 {
		t.Errorf("%d snapshots are left", n)
	}
}
