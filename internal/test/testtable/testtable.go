// Package testtable has the fixture of tests that load tables of files: a directory with logs, a
// job and the tables.
package testtable

import (
	"context"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/extract"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// A Fixture is a directory with logs and a job, and tables.
type Fixture struct {
	Dir    string // has the logs and the job
	Tables string // folder of the tables
	FS     dfs.FS
	Job    *job.Job
}

// New returns a fixture without logs. text is its job file.
func New(t testing.TB, text string) *Fixture {
	t.Helper()
	h := &Fixture{Dir: testkit.Scratch(t), FS: local.New()}
	h.Tables = h.Dir
	h.SetJob(t, text)
	return h
}

// SetJob writes the fixture's job file. text is its content.
func (h *Fixture) SetJob(t testing.TB, text string) {
	t.Helper()
	name := filepath.Join(h.Dir, "usertrail.yaml")
	testkit.WriteFile(t, name, text)
	var err error
	if h.Job, err = job.Parse(name, []byte(text)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// Deliver writes log files of a world.
func (h *Fixture) Deliver(t testing.TB, list ...testworld.File) {
	t.Helper()
	for _, f := range list {
		if err := f.Write(h.Dir); err != nil {
			t.Fatal(err)
		}
	}
}

// Store returns the store of the table called name.
func (h *Fixture) Store(name string) files.Store {
	return files.Store{FS: h.FS, Dir: dfs.Join(h.Tables, name)}
}

// LoadConfig returns the configuration of a load of the days of span, with two workers in little
// memory.
func (h *Fixture) LoadConfig(name string, span behaviour.Span) load.Config {
	return load.Config{
		Resources: bulkload.Resources{FS: h.FS, Store: h.Store(name), Workers: 2, Memory: 8 << 20, Temp: dfs.Join(h.Store(name).Dir, catalog.TempName)},
		Job:       h.Job, Span: span,
	}
}

// Opened opens the table called name. The test closes the table at its end.
func (h *Fixture) Opened(t testing.TB, name string) *files.Table {
	t.Helper()
	opened, err := files.Open(t.Context(), h.FS, h.Store(name).Dir)
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

// Lasting returns the files of a table, except its lock and the files called except.
func (h *Fixture) Lasting(t testing.TB, name string, except ...string) map[string]string {
	t.Helper()
	got := dfstest.Snapshot(t, h.FS, h.Store(name).Dir)
	for _, name := range append(except, "lock") {
		delete(got, name)
	}
	return got
}

// Verified fails the test if a table does not hold the cells in its ledgers.
func (h *Fixture) Verified(t testing.TB, what, name string) {
	t.Helper()
	r, err := verify.Run(t.Context(), verify.Config{Store: h.Store(name)})
	if err != nil {
		t.Fatalf("%s: %v: %+v", what, err, r)
	}
	if r.Unlocated != "" {
		t.Errorf("%s: ranges of rows were not compared: %s", what, r.Unlocated)
	}
}

// Ask runs a query on a table and returns the bytes of the result's parts.
func Ask(ctx context.Context, t testing.TB, opened table.Table, q testworld.Query) (map[string]string, error) {
	t.Helper()
	users, err := UserList(opened, q)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(testkit.Scratch(t), "out")
	_, err = extract.Run(ctx, extract.Config{
		Spec:   query.Spec{Users: users, Span: q.Span, Types: q.Kinds, Active: q.Active},
		Target: place.Target{FS: local.New(), Out: out},
		Table:  opened, Workers: 2,
	})
	return OnlyParts(dfstest.Snapshot(t, local.New(), out)), err
}

// CheckCounts compares the counts of a load with the counts of a world.
func CheckCounts(t *testing.T, r bulkload.Result, want testworld.Counts) {
	t.Helper()
	got := testworld.Counts{Files: r.Files, Read: int(r.Read), Loaded: int(r.Loaded), Quarantined: int(r.Quarantined), Missing: r.Missing}
	if got != want {
		t.Errorf("the load counts %+v, want %+v", got, want)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

// UserList returns the users of a query: all users if it lists none.
func UserList(opened table.Table, q testworld.Query) (*userlist.List, error) {
	if q.Users == nil {
		return userlist.All(), nil
	}
	return userlist.Read(strings.NewReader(strings.Join(q.Users, "\n")), "list", opened.Info().Layout, 1<<30)
}

// OnlyParts returns the parts among the files of a result.
func OnlyParts(all map[string]string) map[string]string {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(name, _ string) bool { return !strings.HasPrefix(dfs.Base(name), "part-") })
	return out
}
