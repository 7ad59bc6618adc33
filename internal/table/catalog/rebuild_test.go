package catalog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/behaviour"
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

// refused checks that rebuild returns an error with each of the wanted texts and without the others, and changes no manifest.
func refused(t *testing.T, dir string, wants, others []string) {
	t.Helper()
	was, _ := os.ReadFile(filepath.Join(dir, "manifest.json"))
	_, err := catalog.Rebuild(t.Context(), local.New(), dir, false)
	if err == nil {
		t.Errorf("rebuilt; want an error with %q", wants)
		return
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	for _, other := range others {
		if strings.Contains(err.Error(), other) {
			t.Errorf("%v; want nothing of %q", err, other)
		}
	}
	if is, _ := os.ReadFile(filepath.Join(dir, "manifest.json")); string(is) != string(was) {
		t.Errorf("the manifest was %q and is %q", was, is)
	}
}

// TestRebuildMakesNoOlderManifest loses ledgers, with and without the manifest. The manifest names the lost ledger, or the files of its
// load show that it was there.
func TestRebuildMakesNoOlderManifest(t *testing.T) {
	dir, _ := loadedTable(t)
	inPieces(t, dir)
	ledger := readText(t, dir, "loads/000004.json")
	remove(t, dir, "loads/000004.json")
	refused(t, dir, []string{"ledger of load 4", "put these files back", "if manifest.json is a file of another table, move it away"}, nil)
	remove(t, dir, "manifest.json")
	refused(t, dir, []string{"loads/000004.json, whose load has files: pieces/000004-5d0c.json"}, []string{"the ledger of a load in pieces"})
	remove(t, dir, "pieces/000004-5d0c.json") // earlier releases did not write it
	refused(t, dir, []string{"the ledger of a load in pieces, which wrote pieces/5d0c/00000-0000.hfile: put it back"}, nil)
	writeText(t, dir, "plans/5d0c/plan.json", "{}")
	remove(t, dir, "pieces/5d0c/00000-0000.roll")
	if _, err := catalog.Rebuild(t.Context(), local.New(), dir, false); err != nil { // the pieces of a plan are no files of the table
		t.Errorf("with a plan: %v", err)
	}
	remove(t, dir, "plans/5d0c/plan.json")
	fileIn(t, dir, "pieces/5d0c/00000-0000", 4)
	writeText(t, dir, "loads/000004.json", ledger)
	if _, err := catalog.Rebuild(t.Context(), local.New(), dir, false); err != nil {
		t.Errorf("with the ledger: %v", err)
	}
	if got := opened(t, dir).Manifest(); len(got.Loads) != 4 || len(got.Files) != 4 {
		t.Errorf("rebuilt: %+v", got)
	}

	dir, _ = loadedTable(t) // the last ledger and the files of its load are lost
	for _, name := range []string{"loads/000003.json", "d/000003-0000.hfile", "d/000003-0000.roll"} {
		remove(t, dir, name)
	}
	refused(t, dir, []string{"ledger of load 3"}, nil)
}

// TestALedgerOfACopyCanBeMovedAway puts ledgers of a copy of the table, on which later loads ran, into the table without the files of these
// loads. The message has the step that keeps the table. It does not have the step if such a load may have run here.
func TestALedgerOfACopyCanBeMovedAway(t *testing.T) {
	newest := []string{"loads/000002.json", "loads/000003.json"}
	hfiles := []string{"d/000002-0000.hfile", "d/000002-0000.roll", "d/000003-0000.hfile", "d/000003-0000.roll"}
	const step = "; or, if bulkload runs lists no such load of this table, move loads/000002.json and loads/000003.json away"
	lose := func(names ...string) string {
		dir, manifests := loadedTable(t)
		writeText(t, dir, "manifest.json", manifests[0])
		for _, name := range names {
			remove(t, dir, name)
		}
		return dir
	}
	dir := lose(hfiles...)
	refused(t, dir, []string{"d/000002-0000.hfile is missing; ", step}, nil)
	for _, name := range newest {
		remove(t, dir, name)
	}
	if m := opened(t, dir).Manifest(); len(m.Loads) != 1 {
		t.Errorf("without these ledgers: %+v", m)
	}
	refused(t, lose(hfiles[1:]...), []string{"d/000002-0000.roll is missing"}, []string{"bulkload runs"})
	refused(t, lose(append(hfiles, "d/000001-0000.hfile")...), []string{"d/000001-0000.hfile is missing"}, []string{"bulkload runs"})
	refused(t, lose(append(hfiles, "manifest.json")...), []string{"d/000002-0000.hfile is missing"}, []string{"bulkload runs"})
}

// TestALostLedgerBlamesNoOther loses the manifest and a ledger in the middle. The later ledgers are of this table.
func TestALostLedgerBlamesNoOther(t *testing.T) {
	dir, _ := loadedTable(t)
	remove(t, dir, "manifest.json")
	remove(t, dir, "loads/000002.json")
	refused(t, dir, []string{"the ledger of load 2", "put these files back from a copy of the table"}, []string{"another table"})
}

// TestTheRecordOfALoadHidesNoLaterLedger puts the manifest and the record of a load that was being made back. Later loads were committed.
func TestTheRecordOfALoadHidesNoLaterLedger(t *testing.T) {
	dir, manifests := loadedTable(t)
	writeText(t, dir, "manifest.json", manifests[0])
	writeText(t, dir, "loading.json", `{"version": 1, "load": 2}`)
	if _, err := catalog.Open(t.Context(), local.New(), dir); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), "it does not name loads/000003.json") &&
		!strings.Contains(err.Error(), "which does not name loads/000003.json") {
		t.Errorf("a manifest of before two loads: %v", err)
	}
	if m, err := catalog.Rebuild(t.Context(), local.New(), dir, false); err != nil || len(m.Loads) != 3 {
		t.Errorf("rebuilt: %+v, %v", m, err)
	}
	opened(t, dir)
}

// TestRebuildStartsFromTheManifest has a manifest that is newer than the list of retired files or than the base, and a base of a copy of
// the table that was changed on its own.
func TestRebuildStartsFromTheManifest(t *testing.T) {
	dir, _ := loadedTable(t)
	c := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile")
	if err := c.Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	list, base := readText(t, dir, "retired.json"), readText(t, dir, "base/000001.json")
	undropped(t, dir, time.Hour)

	// The list and the base of before the undrop: the manifest is the newest file.
	writeText(t, dir, "retired.json", list)
	remove(t, dir, "base/000002.json")
	writeText(t, dir, "base/000001.json", base)
	opened(t, dir)
	if _, err := catalog.Mend(t.Context(), local.New(), dir); err != nil {
		t.Error(err)
	}
	if m := opened(t, dir).Manifest(); m.DroppedBefore != nil || len(m.Files) != 3 {
		t.Errorf("mended: %+v; want the manifest without the drop", m)
	}

	// A manifest of before the undrop, without the newer base.
	dir, _ = loadedTable(t)
	if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	afterDrop := readText(t, dir, "manifest.json")
	compacted(t, dir) // so that the list has a file after the undrop
	undropped(t, dir, time.Hour)
	remove(t, dir, "base/000003.json")
	writeText(t, dir, "manifest.json", afterDrop)
	if _, err := catalog.Open(t.Context(), local.New(), dir); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), "from before the undrop of the days before 2014-09-02") {
		t.Errorf("a manifest of before the undrop: %v", err)
	}
	refused(t, dir, []string{"an undrop of the days before 2014-09-02: put the newest manifest.json"}, []string{"--with-dropped"})

	// A manifest of before a drop that wrote a file, without the newer base.
	dir, _ = loadedTable(t)
	compacted(t, dir)
	before := readText(t, dir, "manifest.json")
	fileIn(t, dir, "d/r000002-0000", 3)
	if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile", "d/r000002-0000").Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	remove(t, dir, "base/000002.json")
	writeText(t, dir, "manifest.json", before)
	refused(t, dir, []string{"a drop of the days before 2014-09-02", "--with-dropped"}, nil)
	if m, err := catalog.Rebuild(t.Context(), local.New(), dir, true); err != nil || m.DroppedBefore != nil || len(m.Files) != 3 {
		t.Errorf("rebuilt with the dropped days: %+v, %v", m, err)
	}
	c = opened(t, dir)
	if err := errors.Join(c.CheckFiles(t.Context()), c.Sweep(t.Context(), "d")); err != nil {
		t.Error(err)
	}
	if m := opened(t, dir).Manifest(); m.DroppedBefore != nil || len(m.Files) != 3 {
		t.Errorf("after a sweep: %+v", m)
	}

	// A base of a copy of the table.
	dir, manifests := loadedTable(t)
	other := copied(t, dir)
	if err := dropped(t, other, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	writeText(t, dir, "base/000001.json", readText(t, other, "base/000001.json"))
	refused(t, dir, []string{"base/000001.json is not a file of this state of the table", "; if it is the newest manifest, move base/000001.json away"}, nil)
	remove(t, dir, "base/000001.json")
	opened(t, dir)
	if readText(t, dir, "manifest.json") != manifests[2] {
		t.Error("the manifest has changed")
	}
}

// TestACopyLaidOverATableIsRebuilt has the manifest, the list of retired files and the base of a copy of before a drop or a compact in the
// table. The base is newer. The step in the message makes the newest manifest again.
func TestACopyLaidOverATableIsRebuilt(t *testing.T) {
	for what, change := range map[string]func(t *testing.T, dir string){
		"drop": func(t *testing.T, dir string) {
			if err := dropped(t, dir, day(t, "2014-09-03"), "d/000002-0000.hfile").Sweep(t.Context(), "d"); err != nil {
				t.Fatal(err)
			}
		},
		"compact": compacted,
	} {
		dir, _ := loadedTable(t)
		if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
		older := map[string]string{}
		for _, name := range []string{"manifest.json", "retired.json", "base/000001.json"} {
			older[name] = readText(t, dir, name)
		}
		change(t, dir)
		want := readText(t, dir, "manifest.json")
		for name, text := range older {
			writeText(t, dir, name, text)
		}
		refused(t, dir, []string{"base/000002.json is not a file of this state of the table, because it does not have d/", ": if manifest.json is an older copy, move it away and rebuild again; if it is the newest manifest, "}, nil)
		remove(t, dir, "manifest.json")
		m, err := catalog.Rebuild(t.Context(), local.New(), dir, false)
		if m == nil || err != nil && !strings.Contains(err.Error(), "the manifest is made again") {
			t.Fatalf("%s: %v", what, err)
		}
		if got := readText(t, dir, "manifest.json"); got != want {
			t.Errorf("%s: rebuilt:\n%s\nwant\n%s", what, got, want)
		}
		if _, err := catalog.Mend(t.Context(), local.New(), dir); err != nil { // the older list
			t.Errorf("%s: %v", what, err)
		}
		if c := opened(t, dir); errors.Join(c.CheckFiles(t.Context()), c.Sweep(t.Context(), "d")) != nil {
			t.Errorf("%s: swept: %+v", what, c.Manifest())
		}
	}
}

// undropped undoes the drop of the files of load 1, and sweeps.
func undropped(t *testing.T, dir string, keepFor time.Duration) {
	t.Helper()
	if err := undropOnly(t, dir, 1, nil, keepFor).Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
}

// undropOnly undoes the drop of the files of a load, and does not sweep. Before the date earlier, other days stay dropped.
func undropOnly(t *testing.T, dir string, load int, earlier *behaviour.Date, keepFor time.Duration) *catalog.Catalog {
	t.Helper()
	c := opened(t, dir)
	m := *c.Manifest()
	m.Rewritten++
	m.DroppedBefore = earlier
	name := fmt.Sprintf("d/%06d-0000", load)
	m.Files = append([]manifest.File{{Name: name + ".hfile", Roll: name + ".roll", Size: 4, RollSize: 2, Load: load}}, m.Files...)
	if err := c.Replace(t.Context(), &m, keepFor); err != nil {
		t.Fatal(err)
	}
	return c
}

// copied returns a copy of a table.
func copied(t *testing.T, dir string) string {
	t.Helper()
	other := t.TempDir()
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return other
}

// compacted replaces the last file by a new one, and sweeps.
func compacted(t *testing.T, dir string) {
	t.Helper()
	if err := replaceLast(t, dir).Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
}

// replaceLast replaces the last file by a new one.
func replaceLast(t *testing.T, dir string) *catalog.Catalog {
	t.Helper()
	c := opened(t, dir)
	m := *c.Manifest()
	m.Rewritten++
	m.Files = slices.Clone(m.Files)
	m.Files[len(m.Files)-1] = fileIn(t, dir, fmt.Sprintf("d/r%06d-0000", m.Rewritten), 3)
	if err := c.Replace(t.Context(), &m, time.Hour); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestALinkToNothingIsNoBase has such a link in the place of the base. Verify reports it, and a sweep or a mend writes the base again.
func TestALinkToNothingIsNoBase(t *testing.T) {
	for _, mend := range []bool{false, true} {
		dir, _ := loadedTable(t)
		c := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile")
		if err := c.Sweep(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
		base := readText(t, dir, "base/000001.json")
		replaceByLink(t, dir, "base/000001.json")
		c = opened(t, dir)
		if faults, err := c.Faults(t.Context()); err != nil || len(faults) != 1 || faults[0].Name != "base/000001.json" {
			t.Errorf("the faults are %v, %v", faults, err)
		}
		if mend {
			if done, err := catalog.Mend(t.Context(), local.New(), dir); err != nil || done.Base != "base/000001.json" {
				t.Errorf("mended %+v, %v", done, err)
			}
		} else if err := c.Sweep(t.Context(), "d"); err != nil {
			t.Error(err)
		}
		if readText(t, dir, "base/000001.json") != base {
			t.Error("the base has another content")
		}
	}
}
