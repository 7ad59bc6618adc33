package catalog_test

import (
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// TestForgetLosesNothing fails every file operation of Forget once, and calls it again: all
// files of the catalog are in one folder then. A second catalog goes into the next.
func TestForgetLosesNothing(t *testing.T) {
	modes := []dfstest.Mode{0, dfstest.Uncertain, dfstest.Dead, dfstest.Uncertain | dfstest.Dead}
	dfstest.Sweep(t, modes, 5, func(t *testing.T, n int, mode dfstest.Mode) bool {
		dir := t.TempDir()
		fill(t, dir)
		want := files(t, dir)
		fs := dfstest.FaultAt(local.New(), n, mode)
		_, err := catalog.Forget(t.Context(), fs, dir)
		if fs.Count() <= n {
			return true
		}
		if err != nil && !errors.Is(err, dfstest.ErrInjected) {
			t.Fatalf("operation %d: %v, want ErrInjected", n, err)
		}
		if _, err := catalog.Forget(t.Context(), local.New(), dir); err != nil && !errors.Is(err, table.ErrNoTable) {
			t.Fatalf("operation %d: again: %v", n, err)
		}
		if got := files(t, filepath.Join(dir, "forgotten", "000001")); !maps.Equal(got, want) {
			t.Errorf("set aside are %v, want %v", got, want)
		}
		if _, err := catalog.Open(t.Context(), local.New(), dir); !errors.Is(err, table.ErrNoTable) {
			t.Errorf("opened after it was forgotten: %v, want ErrNoTable", err)
		}
		for _, number := range []string{"000002", "000003"} {
			write(t, filepath.Join(dir, "begun.json"))
			if aside, err := catalog.Forget(t.Context(), local.New(), dir); err != nil || filepath.Base(aside) != number {
				t.Errorf("forgotten again: %s, %v, want %s", aside, err, number)
			}
		}
		return false
	})
}

// fill makes a catalog with a load and some files next to it.
func fill(t *testing.T, dir string) {
	t.Helper()
	if err := newCatalog(t, dir).Commit(t.Context(), &manifest.Load{Version: manifest.Version, Number: 1}, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"d/000001.roll", "quarantine/a.csv.jsonl", "retired.json"} {
		write(t, filepath.Join(dir, name))
	}
}

func write(t *testing.T, name string) {
	t.Helper()
	if err := dfs.WriteFile(t.Context(), local.New(), name, []byte(name)); err != nil {
		t.Fatal(err)
	}
}

// files are the names of the files below dir.
func files(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for name := range dfstest.Snapshot(t, local.New(), dir) {
		out[strings.TrimPrefix(strings.TrimPrefix(name, dir), "/")] = true
	}
	return out
}
