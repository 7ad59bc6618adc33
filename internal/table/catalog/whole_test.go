package catalog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// loadedTable is a directory with a table of three loads, and what its manifest was after
// each.
func loadedTable(t *testing.T) (dir string, manifests []string) {
	t.Helper()
	dir = t.TempDir()
	c := newCatalog(t, dir)
	for n := 1; n <= 3; n++ {
		f := fileIn(t, dir, fmt.Sprintf("d/%06d-0000", n), n)
		if err := c.Commit(t.Context(), &manifest.Load{Version: manifest.Version, Number: n, Inputs: []manifest.Input{{Path: "play.csv"}}}, []manifest.File{f}); err != nil {
			t.Fatal(err)
		}
		manifests = append(manifests, readText(t, dir, "manifest.json"))
	}
	return dir, manifests
}

// inPieces adds load 4, which was done in pieces, to a table of three loads.
func inPieces(t *testing.T, dir string) {
	t.Helper()
	f := fileIn(t, dir, "pieces/5d0c/00000-0000", 4)
	if err := opened(t, dir).Commit(t.Context(), &manifest.Load{Version: manifest.Version, Number: 4, Plan: "5d0c"}, []manifest.File{f}); err != nil {
		t.Fatal(err)
	}
}

// TestPlansOfLoadsAreSwept replaces the files of a load in pieces. The record of its plan is removed after them.
func TestPlansOfLoadsAreSwept(t *testing.T) {
	dir, _ := loadedTable(t)
	inPieces(t, dir)
	sweep := func(want bool) {
		t.Helper()
		if err := opened(t, dir).Sweep(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"pieces/000004-5d0c.json", "pieces/5d0c"} {
			if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
				t.Errorf("%s: %v, want it: %v", name, err, want)
			}
		}
	}
	sweep(true)
	writeText(t, dir, "pieces/000003-77.json", "{}") // a killed process removed the folder of the pieces, and not the record
	writeText(t, dir, "pieces/notes.json", "{}")
	sweep(true)
	if _, err := os.Stat(filepath.Join(dir, "pieces/000003-77.json")); err == nil {
		t.Error("pieces/000003-77.json was not removed")
	}
	readText(t, dir, "pieces/notes.json")
	writeText(t, dir, "pieces/000005-5d0c.json", "{}") // a commit was killed before it wrote the manifest
	writeText(t, dir, "loading.json", `{"version": 1, "load": 5}`)
	sweep(true)
	if _, err := os.Stat(filepath.Join(dir, "pieces/000005-5d0c.json")); err == nil {
		t.Error("pieces/000005-5d0c.json was not removed")
	}
	m := opened(t, dir).Manifest()
	m.Files = m.Files[:3]
	if err := manifest.Write(t.Context(), local.New(), filepath.Join(dir, "manifest.json"), m); err != nil {
		t.Fatal(err)
	}
	sweep(false)
}

// TestTheWorkshopOfAFinishedConversionIsSwept has the rest of a conversion that was killed after it had made the table.
func TestTheWorkshopOfAFinishedConversionIsSwept(t *testing.T) {
	for _, others := range []bool{false, true} {
		dir, _ := loadedTable(t)
		for _, name := range []string{"convert/plan.json", "convert/000001.json"} {
			writeText(t, dir, name, "{}")
		}
		if others {
			writeText(t, dir, "convert/notes.txt", "")
		}
		if err := opened(t, dir).Sweep(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
		list, err := filepath.Glob(filepath.Join(dir, "convert", "*"))
		if _, stat := os.Stat(filepath.Join(dir, "convert")); err != nil || (stat == nil) != others || others != (len(list) == 1) {
			t.Errorf("files of others: %t: %v, %v, the folder: %v", others, list, err, stat)
		}
	}
}

// fileIn writes an HFile of a load, and its roll.
func fileIn(t *testing.T, dir, name string, load int) manifest.File {
	t.Helper()
	f := manifest.File{Name: name + ".hfile", Roll: name + ".roll", Size: 4, RollSize: 2, Load: load}
	writeText(t, dir, f.Name, "cell")
	writeText(t, dir, f.Roll, "us")
	return f
}

func readText(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// unsealed is a JSON file as a version wrote it that knew no checksums, sizes or digests.
func unsealed(text string) string {
	text = regexp.MustCompile(`(?m)^ "sha256": .*\n`).ReplaceAllString(text, "")
	return regexp.MustCompile(`,\s*"(?:size|roll_size|sha256)": [^,\n]*`).ReplaceAllString(text, "")
}

// TestLedgersAreThoseOfTheManifest damages the ledgers of a table, and puts an older
// manifest back.
func TestLedgersAreThoseOfTheManifest(t *testing.T) {
	for what, x := range map[string]struct {
		spoil func(t *testing.T, dir string, manifests []string)
		want  string // in the error; empty is none
		file  bool   // the error is about one file, and not about the table
	}{
		"nothing":          {func(*testing.T, string, []string) {}, "", false},
		"a ledger is gone": {func(t *testing.T, dir string, _ []string) { remove(t, dir, "loads/000002.json") }, "loads/000002.json is missing, the ledger of load 2", false},
		"all of them are":  {func(t *testing.T, dir string, _ []string) { os.RemoveAll(filepath.Join(dir, "loads")) }, "loads/000001.json is missing", false},
		"a ledger is cut":  {func(t *testing.T, dir string, _ []string) { writeText(t, dir, "loads/000001.json", "{}") }, "loads/000001.json has 2 bytes", false},
		"one byte differs": {func(t *testing.T, dir string, _ []string) {
			writeText(t, dir, "loads/000001.json", strings.Replace(readText(t, dir, "loads/000001.json"), "play", "plax", 1))
		}, "loads/000001.json: damaged", true},
		"it is another load": {func(t *testing.T, dir string, _ []string) {
			writeText(t, dir, "loads/000002.json", readText(t, dir, "loads/000003.json"))
		}, "damaged ledger: it is the ledger of load 3: put it back from a copy of the table", true},
		"the manifest is older": {func(t *testing.T, dir string, m []string) { writeText(t, dir, "manifest.json", m[1]) },
			"manifest.json is an older one, which does not name loads/000003.json", false},
		"the manifest is older, and the newest ledger is gone": {func(t *testing.T, dir string, m []string) {
			writeText(t, dir, "manifest.json", m[1])
			remove(t, dir, "loads/000003.json")
		}, "manifest.json is an older one, which does not name d/000003-0000.hfile", false},
		"the manifest is older, and the newest ledger, of a load in pieces, is gone": {func(t *testing.T, dir string, m []string) {
			inPieces(t, dir)
			writeText(t, dir, "manifest.json", m[2])
			remove(t, dir, "loads/000004.json")
		}, "manifest.json is an older one, which does not name pieces/000004-5d0c.json", false},
		"the commit of a load in pieces was killed": {func(t *testing.T, dir string, m []string) {
			inPieces(t, dir)
			writeText(t, dir, "loading.json", `{"version": 1, "load": 4}`)
			writeText(t, dir, "manifest.json", m[2])
		}, "", false},
		"a load in pieces": {func(t *testing.T, dir string, _ []string) { inPieces(t, dir) }, "", false},
		"a stray base": {func(t *testing.T, dir string, m []string) { writeText(t, dir, "base/000009.json", m[1]) },
			"base/000009.json is not a file of this state of the table, because it is the copy of base/000000.json: move it away", false},
		"the next ledger is of another table": {func(t *testing.T, dir string, m []string) {
			writeText(t, dir, "manifest.json", m[1])
			l := new(manifest.Load)
			name := filepath.Join(dir, "loads/000003.json")
			if err := manifest.Read(t.Context(), local.New(), name, l); err != nil {
				t.Fatal(err)
			}
			l.Previous = strings.Repeat("0", 64)
			if err := manifest.Write(t.Context(), local.New(), name, l); err != nil {
				t.Fatal(err)
			}
		}, "loads/000003.json does not follow the ledger before it, so it is a file of another table: move it and the files of its load away", false},
		"it is much older, after a load was killed": {func(t *testing.T, dir string, m []string) {
			writeText(t, dir, "loading.json", `{"version": 1, "load": 4}`)
			writeText(t, dir, "manifest.json", m[0])
		}, "does not name loads/000002.json", false},
		"the record of the load is cut": {func(t *testing.T, dir string, m []string) {
			writeText(t, dir, "loading.json", "{")
			writeText(t, dir, "manifest.json", m[1])
		}, "loading.json: damaged record of a load: unexpected end of JSON input: remove it, then type the same command again", true},
		"the commit was killed": {func(t *testing.T, dir string, m []string) {
			writeText(t, dir, "loading.json", `{"version": 1, "load": 3}`)
			writeText(t, dir, "manifest.json", m[1])
		}, "", false},
		"an older version wrote it": {func(t *testing.T, dir string, m []string) {
			writeText(t, dir, "manifest.json", unsealed(m[2]))
			for _, name := range []string{"loads/000001.json", "loads/000002.json", "loads/000003.json"} {
				writeText(t, dir, name, unsealed(readText(t, dir, name)))
			}
		}, "", false},
	} {
		t.Run(what, func(t *testing.T) {
			dir, manifests := loadedTable(t)
			x.spoil(t, dir, manifests)
			c, err := catalog.Open(t.Context(), local.New(), dir)
			if err == nil {
				_, err = table.Ledgers(t.Context(), c)
			}
			is := errors.Is(err, table.ErrDamaged) || x.file && errors.Is(err, manifest.ErrDamaged)
			switch {
			case x.want == "" && err != nil:
				t.Errorf("%v, want no error", err)
			case x.want != "" && (!is || !strings.Contains(err.Error(), x.want)):
				t.Errorf("%v, want that the table is damaged: %s", err, x.want)
			}
		})
	}
}

// TestFilesAreThoseOfTheManifest damages files of a table.
func TestFilesAreThoseOfTheManifest(t *testing.T) {
	dir, _ := loadedTable(t)
	c, err := catalog.Open(t.Context(), local.New(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CheckFiles(t.Context()); err != nil {
		t.Error(err)
	}
	for name, text := range map[string]string{"d/000002-0000.hfile": "cell", "d/000003-0000.roll": "us"} {
		writeText(t, dir, name, "x")
		if err := c.CheckFiles(t.Context()); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), name+" has 1 bytes") {
			t.Errorf("%s is cut: %v", name, err)
		}
		remove(t, dir, name)
		if err := c.CheckFiles(t.Context()); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), name+" is missing") {
			t.Errorf("%s is gone: %v", name, err)
		}
		writeText(t, dir, name, text)
	}
}
