package catalog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/runlog"
)

// TestTheLockIsAFence leaves an unfinished manifest, as a process does that was frozen
// just before its rename. Once another has the lock, the rename must fail.
func TestTheLockIsAFence(t *testing.T) {
	fs, dir := local.New(), t.TempDir()
	first, err := catalog.Lock(t.Context(), fs, dir)
	if err != nil {
		t.Fatal(err)
	}
	late, err := fs.Create(t.Context(), filepath.Join(dir, catalog.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	ofPiece, err := fs.Create(t.Context(), filepath.Join(dir, catalog.PieceName("1234", 0, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Unlock(); err != nil { // the lease has run out
		t.Fatal(err)
	}
	second, err := catalog.Lock(t.Context(), fs, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Unlock()
	if err := late.Commit(); err == nil {
		t.Error("the manifest of a process without the lock became visible")
	}
	if err := ofPiece.Commit(); err != nil {
		t.Errorf("the file of a piece, whose worker needs no lock: %v", err)
	}
}

// TestALedgerNeverReplacesAnother commits two loads of one number.
func TestALedgerNeverReplacesAnother(t *testing.T) {
	dir := t.TempDir()
	first, second := newCatalog(t, dir), newCatalog(t, dir)
	load := func(path string) *manifest.Load {
		return &manifest.Load{Version: manifest.Version, Number: 1, Inputs: []manifest.Input{{Path: path}}}
	}
	if err := first.Commit(t.Context(), load("a"), nil); err != nil {
		t.Fatal(err)
	}
	err := second.Commit(t.Context(), load("b"), nil)
	if !errors.Is(err, dfs.ErrLockLost) || errors.Is(err, os.ErrExist) || !strings.Contains(err.Error(), "loads/000001.json") {
		t.Errorf("the second load 1: %v, want ErrLockLost that names the ledger", err)
	}
	c, err := catalog.Open(t.Context(), local.New(), dir)
	if err != nil {
		t.Fatal(err)
	}
	ledgers, err := table.Ledgers(t.Context(), c)
	if err != nil || len(ledgers) != 1 || ledgers[0].Inputs[0].Path != "a" {
		t.Errorf("the ledgers are %+v, %v; want the ledger of a", ledgers, err)
	}
}

// TestALedgerThatNoManifestNamesIsSwept kills a load between its ledger and its
// manifest; the next load of that number is committed.
func TestALedgerThatNoManifestNamesIsSwept(t *testing.T) {
	dir := t.TempDir()
	dead := newCatalog(t, dir)
	load := &manifest.Load{Version: manifest.Version, Number: 1}
	name := filepath.Join(dir, "loads", "000001.json")
	if err := manifest.Write(t.Context(), local.New(), name, load); err != nil {
		t.Fatal(err)
	}
	if err := dead.Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	if err := dead.Commit(t.Context(), load, nil); err != nil {
		t.Error(err)
	}
}

// TestTheLockOpensTheRunLog takes the locks of a catalog in a run that has a run log.
func TestTheLockOpensTheRunLog(t *testing.T) {
	fs, dir := local.New(), t.TempDir()
	entries := func(dir string) int {
		t.Helper()
		list, err := os.ReadDir(filepath.Join(dir, "runs"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return len(list)
	}
	ctx := runlog.NewContext(t.Context(), runlog.NewKeeper(func() runlog.Run { return runlog.Run{Command: "load"} }))
	pieces := t.TempDir()
	if err := os.MkdirAll(filepath.Join(catalog.Plans(pieces), "1234"), 0o777); err != nil {
		t.Fatal(err)
	}
	piece, err := catalog.Folder{FS: fs, Plans: catalog.Plans(pieces), ID: "1234"}.Lock(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer piece.Unlock()
	if n := entries(pieces); n != 0 {
		t.Errorf("the lock of a piece made %d entries, want none", n)
	}
	lock, err := catalog.Lock(ctx, fs, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if n := entries(dir); n != 1 {
		t.Errorf("the lock of the table made %d entries, want 1", n)
	}
}

// TestFilesOfOthersAreNotSwept puts files and folders that no run writes into the folders of a table.
func TestFilesOfOthersAreNotSwept(t *testing.T) {
	dir, _ := loadedTable(t)
	others := []string{"d/000001-0000.hfile.bak", "d/notes.txt", "d/sub/000001-0000.hfile", "loads/000001.json.bak", "loads/sub/x", "base/000001.json.bak"}
	for _, name := range others {
		writeText(t, dir, name, "mine")
	}
	left := []string{"d/000004-0000.hfile", "d/000004-0000.roll", "d/r000001-0000-1.hfile", "loads/000004.json"}
	for _, name := range left {
		writeText(t, dir, name, "of a killed load")
	}
	writeText(t, dir, "loading.json", `{"version": 1, "load": 4}`)
	if err := opened(t, dir).Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	for _, name := range others {
		if got := readText(t, dir, name); got != "mine" {
			t.Errorf("%s has %q", name, got)
		}
	}
	for _, name := range left {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is not removed: %v", name, err)
		}
	}
}
