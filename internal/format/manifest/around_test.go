package manifest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// TestAround looks for the directory around a path that does not exist yet.
func TestAround(t *testing.T) {
	table, result, loading := textOf(t, someTable()), textOf(t, someResult()), textOf(t, &manifest.Loading{Version: manifest.Version, Load: 1})
	question := unsealed(textOf(t, &someResult().Query))
	for what, c := range map[string]struct {
		name, text   string
		want, result bool
	}{
		"a table":                    {manifest.TableName, table, true, false},
		"a table without a checksum": {manifest.TableName, unsealed(table), true, false},
		"a damaged table":            {manifest.TableName, table[:100], true, false},
		"a newer table":              {manifest.TableName, strings.Replace(table, `"version": 1`, `"version": 9`, 1), true, false},
		"a first load":               {manifest.LoadingName, loading, true, false},
		"a result":                   {manifest.ExtractName, result, true, true},
		"a damaged result":           {manifest.ExtractName, result[:100], true, true},
		"an extract":                 {manifest.QueryName, question, true, false},
		"a damaged extract":          {manifest.QueryName, question[:len(question)-3], true, false},
		"another program's question": {manifest.QueryName, `{"version": 1, "users": "all"}`, false, false},
		"another program's table":    {manifest.TableName, `{"version":1,"files":[],"loads":[]}`, false, false},
		"another program's result":   {manifest.ExtractName, `{"version": 1, "files": []}`, false, false},
		"another program's load":     {manifest.LoadingName, `{"version": 1, "load": 1}`, false, false},
		"nothing":                    {"play.csv", "a\n", false, false},
	} {
		dir := t.TempDir()
		testkit.WriteFile(t, filepath.Join(dir, c.name), c.text)
		want := manifest.Outer{}
		if c.want {
			want = manifest.Outer{Dir: dir, Result: c.result}
		}
		if c.want && c.name == manifest.QueryName {
			want.Unfinished = dir
		}
		for _, name := range []string{"new", "date=2014-09-01/deep/new"} {
			if got, err := manifest.Around(t.Context(), local.New(), filepath.Join(dir, name)); err != nil || got != want {
				t.Errorf("%s: %s: %+v, %v, want %+v", what, name, got, err, want)
			}
		}
		if got, err := manifest.Around(t.Context(), local.New(), dir); err != nil || got != (manifest.Outer{}) {
			t.Errorf("%s: the directory itself: %+v, %v, want none", what, got, err)
		}
	}
}

// TestAroundOfAPlannedResult has an extract that is not finished next to the directory around a path.
func TestAroundOfAPlannedResult(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	partial := manifest.Partial(out)
	testkit.WriteFile(t, filepath.Join(partial, manifest.QueryName), unsealed(textOf(t, &someResult().Query)))
	check := func(what, name string, want manifest.Outer) {
		t.Helper()
		if got, err := manifest.Around(t.Context(), local.New(), name); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", what, got, err, want)
		}
	}
	complete := filepath.Join(dir, "complete")
	testkit.WriteFile(t, filepath.Join(manifest.Partial(complete), manifest.ExtractName), unsealed(textOf(t, someResult())))
	check("a complete result without its name", filepath.Join(complete, "new"), manifest.Outer{Dir: complete, Unfinished: manifest.Partial(complete)})
	planned := manifest.Outer{Dir: out, Unfinished: partial}
	check("the result itself", out, manifest.Outer{})
	check("next to it", out+"2/new", manifest.Outer{})
	check("absent", filepath.Join(out, "new"), planned)
	check("absent, deeper", filepath.Join(out, "deep/new"), planned)
	check("a long name", filepath.Join(dir, strings.Repeat("d", 250), "new"), manifest.Outer{})
	for n := range 8 {
		if _, err := manifest.Around(t.Context(), dfstest.FaultAt(local.New(), n), filepath.Join(out, "new")); err != nil && !errors.Is(err, dfstest.ErrInjected) {
			t.Errorf("operation %d fails: %v, want its error", n, err)
		}
	}
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	check("empty", filepath.Join(out, "new"), planned)
	testkit.WriteFile(t, filepath.Join(out, "play.csv"), "a\n")
	check("of others", filepath.Join(out, "new"), manifest.Outer{})
}

// TestAroundOfWhatCannotBeRead has a directory and a link to itself in the place of a manifest, and a file system that fails.
func TestAroundOfWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, manifest.TableName), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := manifest.Around(t.Context(), local.New(), filepath.Join(dir, "new")); err != nil || got != (manifest.Outer{}) {
		t.Errorf("%+v, %v, want none", got, err)
	}
	for _, name := range []string{manifest.TableName, manifest.LoadingName, manifest.ExtractName} {
		if err := errors.Join(os.RemoveAll(filepath.Join(dir, name)), os.Symlink(name, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
		if got, err := manifest.Around(t.Context(), local.New(), filepath.Join(dir, "new")); err != nil || got != (manifest.Outer{}) {
			t.Errorf("%s is a link to itself: %+v, %v, want none", name, got, err)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	testkit.WriteFile(t, filepath.Join(dir, manifest.ExtractName), textOf(t, someResult()))
	for n := range 4 {
		if _, err := manifest.Around(t.Context(), dfstest.FaultAt(local.New(), n), filepath.Join(dir, "new")); !errors.Is(err, dfstest.ErrInjected) {
			t.Errorf("operation %d fails: %v, want its error", n, err)
		}
	}
}
