package convert_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/extract"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// A fixture is a directory with the logs of a generated world, and with tables next to them.
type fixture struct {
	dir   string
	place string // folder of the tables
	fs    dfs.FS
	job   *job.Job
	w     *testworld.W
}

func newFixture(t testing.TB, w *testworld.W) *fixture {
	t.Helper()
	h := &fixture{dir: testkit.Scratch(t), fs: local.New(), w: w}
	h.place = h.dir
	var err error
	if h.job, err = job.Parse(filepath.Join(h.dir, "usertrail.yaml"), []byte(w.Job())); err != nil {
		t.Fatal(err)
	}
	h.job.Table.Regions = 3
	if err := os.Mkdir(filepath.Join(h.dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	return h
}

// deliver writes files of the world under the job's log directory.
func (h *fixture) deliver(t testing.TB, list ...testworld.File) {
	t.Helper()
	for _, f := range list {
		name := filepath.Join(h.dir, "logs", filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, compressed(t, f), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func compressed(t testing.TB, f testworld.File) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch filepath.Ext(f.Name) {
	case ".gz":
		z := gzip.NewWriter(&b)
		_, err = z.Write(f.Text)
		err = errors.Join(err, z.Close())
	case ".zst":
		z, e := zstd.NewWriter(&b)
		if e != nil {
			t.Fatal(e)
		}
		_, err = z.Write(f.Text)
		err = errors.Join(err, z.Close())
	default:
		return f.Text
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (h *fixture) store(name string) files.Store {
	return files.Store{FS: h.fs, Dir: dfs.Join(h.place, name)}
}

// config returns the configuration of a load into a table with the given layout.
func (h *fixture) config(name, layout string) load.Config {
	j := *h.job
	j.Layout = layout
	s := h.store(name)
	return load.Config{Resources: bulkload.Resources{FS: s.FS, Store: s, Workers: 2, Memory: 8 << 20, Temp: filepath.Join(h.dir, "sorted")}, Job: &j, Span: h.w.Span}
}

func (h *fixture) loads(ctx context.Context, name, layout string) (bulkload.Result, error) {
	return load.Run(ctx, h.config(name, layout))
}

// load loads the delivered files that the table does not have yet.
func (h *fixture) load(t testing.TB, name, layout string) bulkload.Result {
	t.Helper()
	r, err := h.loads(t.Context(), name, layout)
	if err != nil && !errors.Is(err, bulkload.ErrNothing) {
		t.Fatal(err)
	}
	return r
}

// open opens a table. The table is closed when the test ends.
func (h *fixture) open(t testing.TB, name string) *files.Table {
	t.Helper()
	opened, err := files.Open(t.Context(), h.fs, dfs.Join(h.place, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

// ask runs a query on a table and returns the bytes of the result's parts.
func (h *fixture) ask(ctx context.Context, t testing.TB, opened table.Table, q testworld.Question) (map[string]string, error) {
	t.Helper()
	users := userlist.All()
	if q.Users != nil {
		var err error
		if users, err = userlist.Read(strings.NewReader(strings.Join(q.Users, "\n")), "list", opened.Info().Layout, 1<<30); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(testkit.Scratch(t), "out")
	c := extract.Config{
		Spec:  query.Spec{Users: users, Span: q.Span, Types: q.Kinds, Active: q.Active},
		Table: opened, Workers: 2,
	}
	c.FS, c.Out = local.New(), out
	_, err := extract.Run(ctx, c)
	all := dfstest.Snapshot(t, local.New(), out)
	maps.DeleteFunc(all, func(name, _ string) bool { return !strings.HasPrefix(dfs.Base(name), "part-") })
	return all, err
}

// verified fails the test if a table does not hold the cells in its ledgers.
func (h *fixture) verified(t testing.TB, what, name string) {
	t.Helper()
	r, err := verify.Run(t.Context(), verify.Config{Store: h.store(name)})
	if err != nil {
		t.Fatalf("%s: %v: %+v", what, err, r)
	}
	if r.Unlocated != "" {
		t.Errorf("%s: ranges of rows were not compared: %s", what, r.Unlocated)
	}
}

// lasting returns the visible files of a table, without its lock and the files that Lock
// removes.
func (h *fixture) lasting(t testing.TB, name string) map[string]string {
	t.Helper()
	all := dfstest.Snapshot(t, h.fs, dfs.Join(h.place, name))
	maps.DeleteFunc(all, func(name, _ string) bool { return name == "lock" || name == "loading.json" })
	return all
}

func isNothing(err error) bool {
	return errors.Is(err, bulkload.ErrNothing) || errors.Is(err, upkeep.ErrNothing)
}
