package catalog_test

import (
	"errors"
	"fmt"
	iofs "io/fs"
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

// replacedTable is a table of five loads. The fourth load added a file of pieces. A rewrite replaced
// the files of the first load, and a later one the files of the second load and of the pieces.
func replacedTable(t *testing.T, keepFor time.Duration) (dir string, lists []string) {
	t.Helper()
	dir, _ = loadedTable(t)
	c := opened(t, dir)
	for _, name := range []string{"pieces/5d0c/00000-0000", "d/000005-0000"} {
		f := fileIn(t, dir, name, c.NextLoad())
		load := &manifest.Load{Version: manifest.Version, Number: c.NextLoad(), Inputs: []manifest.Input{{Path: "play.csv"}}}
		if err := c.Commit(t.Context(), load, []manifest.File{f}); err != nil {
			t.Fatal(err)
		}
	}
	for _, goes := range [][]string{{"d/000001-0000.hfile"}, {"d/000002-0000.hfile", "pieces/5d0c/00000-0000.hfile"}} {
		m := *c.Manifest()
		m.Rewritten++
		m.Files = slices.DeleteFunc(slices.Clone(m.Files), func(f manifest.File) bool { return slices.Contains(goes, f.Name) })
		m.Files = append(m.Files, fileIn(t, dir, fmt.Sprintf("d/r%06d-0000", m.Rewritten), 2))
		if err := c.Replace(t.Context(), &m, keepFor); err != nil {
			t.Fatal(err)
		}
		if keepFor > 0 {
			lists = append(lists, readText(t, dir, "retired.json"))
		}
	}
	return dir, lists
}

func opened(t *testing.T, dir string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(t.Context(), local.New(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestALostListOfRetiredFilesIsMissed loses or damages retired.json. CheckFiles, which every load calls
// before it sweeps, returns an error with the next step. After Mend the sweep removes the files.
func TestALostListOfRetiredFilesIsMissed(t *testing.T) {
	for what, x := range map[string]struct {
		spoil func(t *testing.T, dir string, lists []string)
		want  string // in the error; empty is none
	}{
		"whole": {func(*testing.T, string, []string) {}, ""},
		"gone": {func(t *testing.T, dir string, _ []string) { remove(t, dir, "retired.json") },
			"the table is damaged: retired.json: it is missing, and the files that were replaced, such as d/000001-0000.hfile, still exist: "},
		"older": {func(t *testing.T, dir string, lists []string) { writeText(t, dir, "retired.json", lists[0]) },
			"the table is damaged: retired.json: it is not the newest list, and the files that were replaced, such as d/000002-0000.hfile, still exist: "},
		"cut":  {func(t *testing.T, dir string, _ []string) { writeText(t, dir, "retired.json", "{") }, "retired.json: damaged list of retired files: unexpected end of JSON input: "},
		"link": {func(t *testing.T, dir string, _ []string) { replaceByLink(t, dir, "retired.json") }, "retired.json: it is missing"},
		"directory": {func(t *testing.T, dir string, _ []string) {
			remove(t, dir, "retired.json")
			writeText(t, dir, "retired.json/file", "")
		}, "retired.json: damaged list of retired files: a directory is in its place: "},
		"only pieces are left": {func(t *testing.T, dir string, _ []string) {
			remove(t, dir, "retired.json")
			for _, name := range []string{"d/000001-0000", "d/000002-0000"} {
				remove(t, dir, name+".hfile")
				remove(t, dir, name+".roll")
			}
		}, "such as pieces/5d0c/00000-0000.hfile, still exist: "},
		"the files are gone, too": {func(t *testing.T, dir string, _ []string) {
			for _, name := range []string{"retired.json", "d/000001-0000.hfile", "d/000001-0000.roll", "d/000002-0000.hfile", "d/000002-0000.roll",
				"pieces/5d0c/00000-0000.hfile", "pieces/5d0c/00000-0000.roll"} {
				remove(t, dir, name)
			}
		}, ""},
		"killed commands left files": {func(t *testing.T, dir string, _ []string) {
			fileIn(t, dir, "d/000006-0000", 6)
			writeText(t, dir, "loading.json", `{"version": 1, "load": 6}`)
			fileIn(t, dir, "d/r000003-0000", 6)
			fileIn(t, dir, "pieces/77aa/00000-0000", 6)
		}, ""},
		"an older release wrote the manifest": {func(t *testing.T, dir string, _ []string) {
			remove(t, dir, "retired.json")
			remove(t, dir, "base/000002.json")
			writeText(t, dir, "manifest.json", strings.Replace(unsealed(readText(t, dir, "manifest.json")), ` "retired": true,`, "", 1))
		}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			dir, lists := replacedTable(t, time.Hour)
			if err := opened(t, dir).Sweep(t.Context(), "d"); err != nil {
				t.Fatal(err)
			}
			x.spoil(t, dir, lists)
			c := opened(t, dir)
			wantListFault(t, c, x.want)
			kept := mendAndSweep(t, dir, x.want != "")
			if kept != (what == "whole" || what == "killed commands left files") {
				t.Errorf("after a sweep the replaced file exists: %t", kept)
			}
		})
	}
}

// mendAndSweep mends and sweeps a table. damaged means that retired.json needs a mend. It reports
// whether a replaced file still exists.
func mendAndSweep(t *testing.T, dir string, damaged bool) bool {
	t.Helper()
	done, err := catalog.Mend(t.Context(), local.New(), dir)
	if err != nil || done.Retired != (damaged) || done.Base != "" {
		t.Errorf("mended: %+v, %v", done, err)
	}
	c := opened(t, dir)
	if err := c.CheckFiles(t.Context()); err != nil {
		t.Errorf("mended: %v", err)
	}
	if err := c.Sweep(t.Context(), "d"); err != nil {
		t.Error(err)
	}
	if err := c.CheckFiles(t.Context()); err != nil {
		t.Errorf("swept: %v", err)
	}
	_, err = os.Stat(filepath.Join(dir, "d/000002-0000.hfile"))
	return err == nil
}

// wantListFault tests that CheckFiles and Faults return the same error of retired.json. The error contains
// want. If want ends with a blank, the next step follows. If want is empty, there is no error.
func wantListFault(t *testing.T, c *catalog.Catalog, want string) {
	t.Helper()
	const nextStep = "put it back from a copy of the table, or let bulkload rebuild give up the replaced files"
	err := c.CheckFiles(t.Context())
	faults, fail := c.Faults(t.Context())
	if fail != nil {
		t.Fatal(fail)
	}
	if want == "" {
		if err != nil || len(faults) > 0 {
			t.Fatalf("%v, %v; want no fault", err, faults)
		}
		return
	}
	if strings.HasSuffix(want, " ") {
		want += nextStep
	}
	if isDamage := errors.Is(err, table.ErrDamaged) || errors.Is(err, manifest.ErrDamaged); !isDamage || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if len(faults) != 1 || faults[0].Name != "retired.json" || faults[0].Err.Error() != err.Error() {
		t.Errorf("the faults are %v, want %v", faults, err)
	}
}

// TestRebuildNamesADamagedListOfRetiredFiles loses the manifest and damages retired.json. Rebuild makes the
// manifest and returns the error of the list. With the list, or after Mend, the table is whole.
func TestRebuildNamesADamagedListOfRetiredFiles(t *testing.T) {
	for what, spoil := range map[string]func(t *testing.T, dir, older string){
		"gone":  func(t *testing.T, dir, _ string) { remove(t, dir, "retired.json") },
		"older": func(t *testing.T, dir, older string) { writeText(t, dir, "retired.json", older) },
		"cut":   func(t *testing.T, dir, _ string) { writeText(t, dir, "retired.json", "{") },
	} {
		for _, hasCopy := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, has a copy: %t", what, hasCopy), func(t *testing.T) {
				dir, lists := replacedTable(t, time.Hour)
				if err := opened(t, dir).Sweep(t.Context(), "d"); err != nil {
					t.Fatal(err)
				}
				want := readText(t, dir, "manifest.json")
				remove(t, dir, "manifest.json")
				spoil(t, dir, lists[0])
				m, err := catalog.Rebuild(t.Context(), local.New(), dir, false)
				if m == nil || !strings.Contains(fmt.Sprint(err), "the manifest is made again, and another file must be repaired: ") || !strings.Contains(err.Error(), "retired.json: ") {
					t.Fatalf("%+v, %v; want a manifest, and an error of retired.json", m, err)
				}
				if got := readText(t, dir, "manifest.json"); got != want {
					t.Errorf("the manifest is\n%s\nwant\n%s", got, want)
				}
				if hasCopy {
					writeText(t, dir, "retired.json", lists[1])
				} else if done, err := catalog.Mend(t.Context(), local.New(), dir); err != nil || !done.Retired {
					t.Errorf("mended: %+v, %v", done, err)
				}
				if err := opened(t, dir).CheckFiles(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// replaceByLink puts a link to nothing in the place of a file.
func replaceByLink(t *testing.T, dir, name string) {
	t.Helper()
	remove(t, dir, name)
	if err := os.Symlink("nothing", filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// TestFilesThatAreNotKeptNeedNoList replaces files that are not kept, and stops before they are removed.
// The table is whole. It is also whole after ForgetRetired, which leaves a list without files.
func TestFilesThatAreNotKeptNeedNoList(t *testing.T) {
	dir, _ := replacedTable(t, 0)
	c := opened(t, dir)
	if err := c.CheckFiles(t.Context()); err != nil {
		t.Error(err)
	}
	dir, _ = replacedTable(t, time.Hour)
	c = opened(t, dir)
	if err := c.ForgetRetired(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	if list := readText(t, dir, "retired.json"); !strings.Contains(list, `"files": []`) || !strings.Contains(list, `"rewritten": 2`) {
		t.Errorf("the list is %s", list)
	}
	for _, name := range []string{"d/000001-0000.hfile", "pieces/5d0c/00000-0000.roll"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if err := c.CheckFiles(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestADamagedBaseIsMended damages the copy of the manifest that Rebuild needs. Faults names it, and
// Mend makes it again, so that Rebuild can make the manifest.
func TestADamagedBaseIsMended(t *testing.T) {
	for what, spoil := range map[string]func(t *testing.T, dir, name string){
		"cut": func(t *testing.T, dir, name string) { writeText(t, dir, name, "{") },
		"a digit": func(t *testing.T, dir, name string) {
			writeText(t, dir, name, strings.Replace(readText(t, dir, name), `"load": 5`, `"load": 4`, 1))
		},
		"not its table": func(t *testing.T, dir, name string) {
			writeText(t, dir, name, strings.Replace(unsealed(readText(t, dir, name)), `"number": 3`, `"number": 7`, 1))
		},
		"directory": func(t *testing.T, dir, name string) {
			remove(t, dir, name)
			writeText(t, dir, name+"/file", "")
		},
	} {
		t.Run(what, func(t *testing.T) {
			const name = "base/000002.json"
			dir, _ := replacedTable(t, time.Hour)
			if err := opened(t, dir).Sweep(t.Context(), "d"); err != nil {
				t.Fatal(err)
			}
			want := readText(t, dir, "manifest.json")
			spoil(t, dir, name)
			faults, err := opened(t, dir).Faults(t.Context())
			if err != nil || len(faults) != 1 || faults[0].Name != name || !strings.HasSuffix(faults[0].Err.Error(), ": let bulkload rebuild make it again") {
				t.Errorf("faults: %v, %v; want %s", faults, err, name)
			}
			done, err := catalog.Mend(t.Context(), local.New(), dir)
			if err != nil || done.Base != name || done.Retired {
				t.Errorf("mended: %+v, %v", done, err)
			}
			if faults, err := opened(t, dir).Faults(t.Context()); err != nil || len(faults) > 0 {
				t.Errorf("then: %v, %v", faults, err)
			}
			remove(t, dir, "manifest.json")
			rebuilt(t, dir, want)
			remove(t, dir, "manifest.json")
			spoil(t, dir, name)
			if _, err := catalog.Rebuild(t.Context(), local.New(), dir, false); what != "not its table" && !strings.Contains(fmt.Sprint(err), "the manifest cannot be made again: put this file or manifest.json back from a copy of the table") {
				t.Errorf("without both: %v, want the next step", err)
			}
		})
	}
}

// TestAMissingBaseIsMended removes the base when the files are gone that were replaced, or after a load
// that began with the base. Faults names the base, and Mend makes it again. Without a base after a
// killed command, the replaced files exist, and nothing is at fault.
func TestAMissingBaseIsMended(t *testing.T) {
	const name = "base/000002.json"
	for what, x := range map[string]struct {
		keepFor             time.Duration
		sweep, load, damage bool
	}{
		"files are gone":  {sweep: true, damage: true},
		"a load came":     {keepFor: time.Hour, sweep: true, load: true, damage: true},
		"killed":          {},
		"killed, kept":    {keepFor: time.Hour},
		"files are there": {keepFor: time.Hour, sweep: true},
	} {
		t.Run(what, func(t *testing.T) {
			dir, _ := replacedTable(t, x.keepFor)
			c := opened(t, dir)
			if x.sweep {
				if err := c.Sweep(t.Context(), "d"); err != nil {
					t.Fatal(err)
				}
				remove(t, dir, name)
			}
			if x.load {
				load := &manifest.Load{Version: manifest.Version, Number: c.NextLoad()}
				if err := c.Commit(t.Context(), load, []manifest.File{fileIn(t, dir, "d/000006-0000", 3)}); err != nil {
					t.Fatal(err)
				}
			}
			faults, err := opened(t, dir).Faults(t.Context())
			switch {
			case err != nil || (len(faults) == 1) != x.damage || len(faults) > 1:
				t.Fatalf("faults: %v, %v", faults, err)
			case x.damage && (faults[0].Name != name || !strings.Contains(faults[0].Err.Error(), name+" is missing: put it back")):
				t.Errorf("faults: %v; want %s", faults, name)
			}
			want := readText(t, dir, "manifest.json")
			done, err := catalog.Mend(t.Context(), local.New(), dir)
			if err != nil || (done.Base == name) != x.damage {
				t.Errorf("mended: %+v, %v", done, err)
			}
			if x.damage {
				remove(t, dir, "manifest.json")
				rebuilt(t, dir, want)
			}
		})
	}
}

// dropped drops the days before a date from the table in dir. It removes a file from the manifest, and adds files that were made.
func dropped(t *testing.T, dir string, date behaviour.Date, goes string, made ...string) *catalog.Catalog {
	t.Helper()
	c := opened(t, dir)
	m := *c.Manifest()
	m.Rewritten++
	m.Files = slices.DeleteFunc(slices.Clone(m.Files), func(f manifest.File) bool { return f.Name == goes })
	for i := range m.Files {
		m.Files[i].Span.From = date
	}
	for _, name := range made {
		m.Files = append(m.Files, manifest.File{Name: name + ".hfile", Roll: name + ".roll", Size: 4, RollSize: 2, Load: 3, Span: behaviour.Span{From: date, To: date}})
	}
	m.DroppedBefore = &date
	if err := c.Replace(t.Context(), &m, time.Hour); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAManifestFromBeforeADropIsDamaged puts the manifest from before a drop back, without the base. Then the list of
// retired files alone has the drop. A drop that was killed before it replaced the manifest leaves the same list, and the
// record that it was under way.
func TestAManifestFromBeforeADropIsDamaged(t *testing.T) {
	dir, manifests := loadedTable(t)
	c := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile")
	killed := map[string]string{"retired.json": readText(t, dir, "retired.json"), "loading.json": readText(t, dir, "loading.json")}
	if err := c.Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "loading.json")); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("after the sweep the drop is under way: %v", err)
	}
	opened(t, dir)
	remove(t, dir, "base/000001.json")
	writeText(t, dir, "manifest.json", manifests[2])
	if _, err := catalog.Open(t.Context(), local.New(), dir); !errors.Is(err, table.ErrDamaged) ||
		!strings.Contains(err.Error(), "manifest.json is an older one, from before the drop of the days before 2014-09-02, which retired.json has: ") {
		t.Errorf("a manifest from before the drop: %v", err)
	}
	if _, err := catalog.Rebuild(t.Context(), local.New(), dir, false); err == nil || !strings.Contains(err.Error(), "a drop of the days before 2014-09-02") {
		t.Errorf("rebuilt without the drop: %v", err)
	}
	m, err := catalog.Rebuild(t.Context(), local.New(), dir, true)
	if err != nil || m.DroppedBefore != nil || len(m.Files) != 3 {
		t.Errorf("rebuilt with the dropped days: %+v, %v", m, err)
	}
	opened(t, dir)

	for name, text := range killed {
		writeText(t, dir, name, text)
	}
	writeText(t, dir, "manifest.json", manifests[2])
	c = opened(t, dir)
	if err := c.Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	opened(t, dir)
	for name := range killed {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("after the sweep of a killed drop, %s exists: %v", name, err)
		}
	}
}

// TestAnUndropIsNoOlderManifest undoes a drop. Until the next sweep the list of retired files still has the drop.
func TestAnUndropIsNoOlderManifest(t *testing.T) {
	for _, keepFor := range []time.Duration{0, time.Hour} {
		dir, _ := loadedTable(t)
		if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
		c := opened(t, dir)
		m := *c.Manifest()
		m.Rewritten++
		m.DroppedBefore = nil
		m.Files = append([]manifest.File{{Name: "d/000001-0000.hfile", Roll: "d/000001-0000.roll", Size: 4, RollSize: 2, Load: 1}}, m.Files...)
		if err := c.Replace(t.Context(), &m, keepFor); err != nil {
			t.Fatal(err)
		}
		if err := opened(t, dir).Sweep(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
		if got := opened(t, dir).Manifest(); got.DroppedBefore != nil || len(got.Files) != 3 {
			t.Errorf("kept for %s: the manifest is %+v", keepFor, got)
		}
		if _, err := os.Stat(filepath.Join(dir, "loading.json")); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("kept for %s: after the sweep the undrop is under way: %v", keepFor, err)
		}
	}
}

func day(t *testing.T, text string) behaviour.Date {
	t.Helper()
	d, err := behaviour.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
