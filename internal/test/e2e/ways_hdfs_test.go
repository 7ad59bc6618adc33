package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/bulkload"

	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/extract"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/files"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// TestHDFSAndDiskAgree makes logs, loads them and extracts from the table, once on a disk and
// once on HDFS. HFiles, rolls and Parquet files must be the same byte for byte.
func TestHDFSAndDiskAgree(t *testing.T) {
	c := clustertest.Get(t)
	all := dfs.NewMux(map[string]dfs.FS{
		"":          local.New(),
		hdfs.Scheme: hdfs.New(hdfs.Config{Conf: func() (*hadoopconf.Conf, error) { return hadoopconf.Load(c.ConfDir()) }}),
	})
	disk := outcome(t, all, t.TempDir())
	far := outcome(t, all, c.HDFS(t))
	if len(disk) == 0 {
		t.Error("nothing came out")
	}
	for name, want := range disk {
		if got, ok := far[name]; !ok || got != want {
			t.Errorf("%s: %d bytes on HDFS (there: %v) that are not the %d on disk", name, len(got), ok, len(want))
		}
	}
	if len(far) != len(disk) {
		t.Errorf("%d files on HDFS, %d on disk", len(far), len(disk))
	}
}

// outcome makes, loads and extracts the data in dir, and returns the files that contain no
// paths.
func outcome(t *testing.T, fsys dfs.FS, dir string) map[string]string {
	t.Helper()
	s := span(t, "2014-09-01", "2014-09-03")
	logs, trails, out := dfs.Join(dir, "logs"), dfs.Join(dir, "trails"), dfs.Join(dir, "out")
	if _, err := samplelog.Write(t.Context(), fsys, logs, samplelog.Config{Records: 20_000, Users: 500, Days: 3, From: s.From, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	store := files.Store{FS: fsys, Dir: trails}
	r, err := load.Run(t.Context(), load.Config{
		Resources: bulkload.Resources{FS: fsys, Store: store, Workers: 2, Temp: t.TempDir(), Progress: progress.Config{Quiet: true}},
		Job:       settopbox(t, logs), Span: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	tab, err := files.Open(t.Context(), fsys, trails)
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	if _, err := extract.Run(t.Context(), extract.Config{
		Spec:   query.Spec{Users: userlist.All(), Span: s, Types: []string{"play", "order"}, Active: "any"},
		Target: place.Target{FS: fsys, Out: out},
		Table:  tab, Workers: 2, Progress: progress.Config{Quiet: true},
	}); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for name, b := range dfstest.Snapshot(t, fsys, dir) {
		switch filepath.Ext(name) {
		case ".csv", ".hfile", ".roll", ".parquet":
			found[name] = b
		}
	}
	return found
}

// settopbox returns the job of that name in jobs/ with another path of the logs.
func settopbox(t *testing.T, logs string) *job.Job {
	t.Helper()
	path := filepath.Join(testkit.Repository(t), "jobs", "settopbox.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	j, err := job.Parse(path, []byte(strings.Replace(string(text), "../demo/logs", logs, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return j
}
