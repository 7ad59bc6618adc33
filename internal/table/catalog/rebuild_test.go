package catalog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// rebuilt makes the manifest in dir again, which must be as it was.
func rebuilt(t *testing.T, dir, want string) {
	t.Helper()
	if _, err := catalog.Rebuild(t.Context(), local.New(), dir, false); err != nil {
		t.Fatal(err)
	}
	if got := readText(t, dir, "manifest.json"); got != want {
		t.Errorf("the manifest is\n%s\nwant\n%s", got, want)
	}
	if _, err := catalog.Rebuild(t.Context(), local.New(), dir, false); !errors.Is(err, catalog.ErrWhole) {
		t.Errorf("once more: %v, want ErrWhole", err)
	}
}

// notRebuilt calls Rebuild and checks that the error names the missing file.
func notRebuilt(t *testing.T, dir, want string) {
	t.Helper()
	_, err := catalog.Rebuild(t.Context(), local.New(), dir, false)
	if !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want that something is missing: %s", err, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err == nil {
		t.Errorf("%s: a manifest was written", want)
	}
}

func TestAManifestIsRebuilt(t *testing.T) {
	dir, m := loadedTable(t)
	remove(t, dir, "manifest.json")
	rebuilt(t, dir, m[2])
	writeText(t, dir, "manifest.json", m[0])
	rebuilt(t, dir, m[2])
	writeText(t, dir, "manifest.json", strings.Replace(m[2], "UTC", "UTD", 1))
	rebuilt(t, dir, m[2])
}

// TestAManifestWithoutFilesIsRebuilt has one load, of a delivered file without a record.
func TestAManifestWithoutFilesIsRebuilt(t *testing.T) {
	dir, _ := loadedTable(t)
	c, err := catalog.Open(t.Context(), local.New(), dir)
	if err != nil {
		t.Fatal(err)
	}
	m := *c.Manifest()
	dir = t.TempDir()
	if c, err = catalog.New(local.New(), dir, &m); err != nil {
		t.Fatal(err)
	}
	if err := c.Commit(t.Context(), &manifest.Load{Version: manifest.Version, Number: 1}, nil); err != nil {
		t.Fatal(err)
	}
	want := readText(t, dir, "manifest.json")
	remove(t, dir, "manifest.json")
	rebuilt(t, dir, want)
}

// TestAManifestOfANewerVersionIsKept has one that this program cannot read, and all ledgers.
func TestAManifestOfANewerVersionIsKept(t *testing.T) {
	dir, m := loadedTable(t)
	newer := strings.Replace(unsealed(m[2]), `"version": 1`, `"version": 4`, 1)
	writeText(t, dir, "manifest.json", newer)
	if _, err := catalog.Rebuild(t.Context(), local.New(), dir, false); !errors.Is(err, manifest.ErrNewer) {
		t.Errorf("%v, want ErrNewer", err)
	}
	if readText(t, dir, "manifest.json") != newer {
		t.Error("it was replaced")
	}
}

// TestARewrittenTableIsRebuilt merges files. After the merge, no ledger names the table's
// files.
func TestARewrittenTableIsRebuilt(t *testing.T) {
	dir, before := loadedTable(t)
	c, err := catalog.Open(t.Context(), local.New(), dir)
	if err != nil {
		t.Fatal(err)
	}
	m := *c.Manifest()
	f := fileIn(t, dir, "d/r000001-0000", 2)
	f.Loads = []int{1, 2}
	m.Rewritten, m.Files = 1, []manifest.File{f, m.Files[2]}
	if err := c.Replace(t.Context(), &m, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	merged := readText(t, dir, "manifest.json")
	remove(t, dir, "manifest.json")
	rebuilt(t, dir, merged)
	writeText(t, dir, "manifest.json", before[2]) // no ledger came after it
	writeText(t, dir, "base/notes.txt", "of somebody")
	if _, err := catalog.Open(t.Context(), local.New(), dir); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), "manifest.json is an older one, which does not name base/000001.json") {
		t.Errorf("a manifest of before the files were merged: %v", err)
	}
	rebuilt(t, dir, merged)
	if c, err = catalog.Open(t.Context(), local.New(), dir); err != nil {
		t.Fatal(err)
	}
	if err := c.Commit(t.Context(), &manifest.Load{Version: manifest.Version, Number: 4}, []manifest.File{fileIn(t, dir, "d/000004-0000", 4)}); err != nil {
		t.Fatal(err)
	}
	later := readText(t, dir, "manifest.json")
	remove(t, dir, "manifest.json")
	rebuilt(t, dir, later)
	remove(t, dir, "manifest.json")
	base := readText(t, dir, "base/000001.json")
	remove(t, dir, "base/000001.json")
	notRebuilt(t, dir, "base/000001.json")
	writeText(t, dir, "base/000001.json", base)
	rebuilt(t, dir, later)
}

// TestWhatIsMissingIsTold removes one file after the other, and checks that rebuild names it.
func TestWhatIsMissingIsTold(t *testing.T) {
	dir, _ := loadedTable(t)
	remove(t, dir, "manifest.json")
	for name, want := range map[string]string{
		"loads/000001.json": "the ledger of load 1", "loads/000003.json": "loads/000003.json, whose load has files: d/000003-0000.hfile",
		"d/000002-0000.hfile": "d/000002-0000.hfile is missing", "d/000003-0000.roll": "d/000003-0000.roll is missing",
	} {
		text := readText(t, dir, name)
		remove(t, dir, name)
		notRebuilt(t, dir, want)
		writeText(t, dir, name, text)
	}
	writeText(t, dir, "loads/000002.json", readText(t, dir, "loads/000001.json"))
	notRebuilt(t, dir, "loads/000002.json")
	if err := os.RemoveAll(filepath.Join(dir, "loads")); err != nil {
		t.Fatal(err)
	}
	notRebuilt(t, dir, "no ledger is there")
}

// TestATableOfAnOlderVersionGetsABase sweeps one as each load does, after which its manifest
// can be made again.
func TestATableOfAnOlderVersionGetsABase(t *testing.T) {
	dir, m := loadedTable(t)
	for _, name := range []string{"loads/000001.json", "loads/000002.json", "loads/000003.json"} {
		text, table, _ := strings.Cut(unsealed(readText(t, dir, name)), ",\n \"table\":")
		if table == "" {
			t.Fatalf("%s has no table", name)
		}
		writeText(t, dir, name, text+"\n}\n")
	}
	remove(t, dir, "manifest.json")
	notRebuilt(t, dir, "was written by an older release")
	writeText(t, dir, "manifest.json", unsealed(m[2]))
	c, err := catalog.Open(t.Context(), local.New(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	if err := c.Commit(t.Context(), &manifest.Load{Version: manifest.Version, Number: 4}, []manifest.File{fileIn(t, dir, "d/000004-0000", 4)}); err != nil {
		t.Fatal(err)
	}
	want := readText(t, dir, "manifest.json")
	remove(t, dir, "manifest.json")
	rebuilt(t, dir, want)
}

// TestALedgerOfAnotherTableIsNotTaken puts the last ledger of another table, and the files of its load, into a table whose manifest is lost.
func TestALedgerOfAnotherTableIsNotTaken(t *testing.T) {
	table1, _ := loadedTable(t)
	other := t.TempDir()
	c := newCatalog(t, other)
	for n := 1; n <= 3; n++ {
		f := fileIn(t, other, fmt.Sprintf("d/%06d-0000", n), n)
		if err := c.Commit(t.Context(), &manifest.Load{Version: manifest.Version, Number: n, Inputs: []manifest.Input{{Path: "order.csv"}}}, []manifest.File{f}); err != nil {
			t.Fatal(err)
		}
	}
	remove(t, table1, "manifest.json")
	own := readText(t, table1, "loads/000003.json")
	writeText(t, table1, "loads/000003.json", readText(t, other, "loads/000003.json"))
	const want = "loads/000003.json does not follow the ledger before it, so it is a file of another table: move it"
	if m, err := catalog.Rebuild(t.Context(), local.New(), table1, false); m != nil || !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, %v; want %q", m, err, want)
	}
	writeText(t, table1, "loads/000003.json", own)
	if m, err := catalog.Rebuild(t.Context(), local.New(), table1, false); err != nil || len(m.Loads) != 3 {
		t.Errorf("with its own ledger: %v, %v; want three loads", m, err)
	}
}

// TestAStrayBaseReplacesNoManifest puts a base with another number into a table. The manifest is intact, and stays.
func TestAStrayBaseReplacesNoManifest(t *testing.T) {
	dir, manifests := loadedTable(t)
	writeText(t, dir, "base/000009.json", manifests[1])
	for _, withDropped := range []bool{false, true} {
		_, err := catalog.Rebuild(t.Context(), local.New(), dir, withDropped)
		if !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), "base/000009.json is not a file of this state of the table") {
			t.Errorf("with dropped days %t: %v, want that the base is of another state", withDropped, err)
		}
		if readText(t, dir, "manifest.json") != manifests[2] {
			t.Fatal("the manifest is replaced")
		}
	}
	remove(t, dir, "base/000009.json")
	if _, err := catalog.Open(t.Context(), local.New(), dir); err != nil {
		t.Error(err)
	}
}
