// Package e2e_test holds tests that span packages. Extracts from real logs must have the right
// results. All readers must read the same results. The commands of the documents must do what
// the documents describe.
//
// Tests that use programs not written in Go have DuckDB or Python in their names.
package e2e_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/extract"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
)

// python runs a script of testdata and decodes the JSON that it prints.
func python(t *testing.T, into any, script string, args ...string) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	out := runPython(t, dir, filepath.Join("testdata", script), args...)
	if err := json.Unmarshal([]byte(out), into); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

func span(t *testing.T, from, to string) behaviour.Span {
	t.Helper()
	var s behaviour.Span
	var err, err2 error
	s.From, err = behaviour.ParseDate(from)
	s.To, err2 = behaviour.ParseDate(to)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return s
}

// loadJob loads into dir with a job of jobs/. It replaces the path of the job's logs.
func loadJob(t *testing.T, name, written, logs, dir string, s behaviour.Span) bulkload.Result {
	t.Helper()
	path := filepath.Join(testkit.Repository(t), "jobs", name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), written) {
		t.Fatalf("%s does not say %s", path, written)
	}
	j, err := job.Parse(path, []byte(strings.Replace(string(text), written, logs, 1)))
	if err != nil {
		t.Fatal(err)
	}
	disk := local.New()
	r, err := load.Run(t.Context(), load.Config{
		Resources: bulkload.Resources{FS: disk, Store: files.Store{FS: disk, Dir: dir}, Workers: 2, Temp: filepath.Join(dir, catalog.TempName), Progress: progress.Config{Quiet: true}},
		Job:       j, Span: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	return r
}

// extractAll extracts all users of the table in dir.
func extractAll(t *testing.T, dir, out string, s behaviour.Span, types []string, active string) extract.Result {
	t.Helper()
	disk := local.New()
	tab, err := files.Open(t.Context(), disk, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	r, err := extract.Run(t.Context(), extract.Config{
		Spec:   query.Spec{Users: userlist.All(), Span: s, Types: types, Active: active},
		Target: place.Target{FS: disk, Out: out},
		Table:  tab, Workers: 2, Progress: progress.Config{Quiet: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
