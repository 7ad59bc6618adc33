package e2e_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/extract"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// TestHDFSAndDiskAgree makes logs, loads them and extracts from the table, once on a disk and
// once on HDFS. HFiles, rolls and Parquet files must be the same byte for byte.
func TestHDFSAndDiskAgree(t *testing.T) {
	c := clustertest.Get(t)
	all := c.Files()
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
	grown := dfs.Join(dir, "grown")
	appendDays(t, extract.Config{
		Spec:   query.Spec{Users: userlist.All(), Types: []string{"play", "order"}, Active: "any", Output: query.Output{Partition: "date"}},
		Target: place.Target{FS: fsys, Out: grown, Append: true},
		Table:  tab, Workers: 2, PieceSize: 3000, Progress: progress.Config{Quiet: true},
	}, s)
	found := map[string]string{}
	for name, b := range dfstest.Snapshot(t, fsys, dir) {
		switch filepath.Ext(name) {
		case ".csv", ".hfile", ".roll", ".parquet":
			found[name] = b
		}
	}
	return found
}

// appendDays appends the days of s to a result. It appends every other day by pieces. A repeated
// append has nothing to do.
func appendDays(t *testing.T, c extract.Config, s behaviour.Span) {
	t.Helper()
	for d := s.From; d <= s.To; d++ {
		c.Span = behaviour.Span{From: d, To: d}
		var err error
		if (d-s.From)%2 == 0 {
			_, err = extract.Run(t.Context(), c)
		} else {
			err = byPieces(t, c)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := extract.Run(t.Context(), c); !errors.Is(err, manifest.ErrAppended) {
			t.Errorf("%s again: %v, want nothing to do", d, err)
		}
	}
}

// byPieces does an extract by pieces.
func byPieces(t *testing.T, c extract.Config) error {
	t.Helper()
	list, _, err := pieces.Plan(t.Context(), c, c.Table.Info().Address, pieces.Access{})
	if err != nil {
		return err
	}
	w := pieces.Worker{FS: c.FS, Workers: c.Workers, Progress: c.Progress, Open: func(context.Context, *pieces.Piece) (table.Table, func() error, error) {
		return c.Table, func() error { return nil }, nil
	}}
	for i := range list {
		if _, err := pieces.Run(t.Context(), w, &list[i]); err != nil {
			return err
		}
	}
	_, err = pieces.Commit(t.Context(), c.FS, list)
	return err
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
