package catalog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// TestAnUndropStaysInTheList undoes a drop of whole files, so that no file is retired. Then it puts the manifest of before the undrop
// back. The base is lost, or it is of before the undrop, too.
func TestAnUndropStaysInTheList(t *testing.T) {
	for _, olderBase := range []bool{false, true} {
		for _, keepFor := range []time.Duration{0, time.Hour} {
			dir, _ := loadedTable(t)
			if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
				t.Fatal(err)
			}
			afterDrop := readText(t, dir, "manifest.json")
			undropped(t, dir, keepFor)
			remove(t, dir, "base/000002.json")
			if olderBase {
				writeText(t, dir, "base/000001.json", afterDrop)
			}
			writeText(t, dir, "manifest.json", afterDrop)
			if _, err := catalog.Open(t.Context(), local.New(), dir); !errors.Is(err, table.ErrDamaged) ||
				!strings.Contains(err.Error(), "manifest.json is an older one, from before the undrop of the days before 2014-09-02, which retired.json has: ") {
				t.Errorf("an older base: %t, kept for %s: the manifest of before the undrop: %v", olderBase, keepFor, err)
			}
			refused(t, dir, []string{"an undrop of the days before 2014-09-02: put the newest manifest.json"}, []string{"--with-dropped"})
			remove(t, dir, "manifest.json")
			if olderBase {
				refused(t, dir, []string{"an undrop of the days before 2014-09-02: put the newest manifest.json"}, []string{"--with-dropped"})
				continue
			}
			if m, err := catalog.Rebuild(t.Context(), local.New(), dir, false); err != nil || m.DroppedBefore != nil || len(m.Files) != 3 {
				t.Errorf("rebuilt from the ledgers: %+v, %v", m, err)
			}
			if c := opened(t, dir); errors.Join(c.CheckFiles(t.Context()), c.Sweep(t.Context(), "d")) != nil || len(opened(t, dir).Manifest().Files) != 3 {
				t.Errorf("swept: %+v", c.Manifest())
			}
		}
	}
}

// TestAnOlderListHasNoDropOfTheTable undoes a drop, loses the manifest, and puts the list of retired files of before the undrop back. The
// base is of after the undrop, so the table has no drop.
func TestAnOlderListHasNoDropOfTheTable(t *testing.T) {
	dir, _ := loadedTable(t)
	if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	older := readText(t, dir, "retired.json")
	undropped(t, dir, time.Hour)
	want := readText(t, dir, "manifest.json")
	writeText(t, dir, "retired.json", older)
	remove(t, dir, "manifest.json")
	if m, err := catalog.Rebuild(t.Context(), local.New(), dir, false); err != nil && !strings.Contains(err.Error(), "the manifest is made again") {
		t.Errorf("%+v, %v", m, err)
	} else if got := readText(t, dir, "manifest.json"); got != want {
		t.Errorf("rebuilt:\n%s\nwant\n%s", got, want)
	}
}

// TestATableWithoutAListIsWhole has a table that was rewritten by a release that removed a list without files. The next sweep writes the
// list.
func TestATableWithoutAListIsWhole(t *testing.T) {
	dir, _ := loadedTable(t)
	if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	undropped(t, dir, time.Hour)
	want := readText(t, dir, "retired.json")
	remove(t, dir, "retired.json")
	c := opened(t, dir)
	wantListFault(t, c, "")
	if err := c.Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	if got := readText(t, dir, "retired.json"); got != want || !strings.Contains(got, `"rewritten": 2`) {
		t.Errorf("the list is\n%s\nwant\n%s", got, want)
	}
	if err := opened(t, dir).Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	if got := readText(t, dir, "retired.json"); got != want {
		t.Errorf("swept again, the list is\n%s\nwant\n%s", got, want)
	}
}

// forked returns a table from which the days before 2014-09-02 were dropped, and a copy of it from which the days before 2014-09-03 were
// dropped.
func forked(t *testing.T) (dir, other string) {
	t.Helper()
	dir, _ = loadedTable(t)
	other = copied(t, dir)
	if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	if err := dropped(t, other, day(t, "2014-09-03"), "d/000002-0000.hfile").Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	return dir, other
}

// forkedAlike returns a table and a copy of it. A compact and a drop ran on both, in different order.
func forkedAlike(t *testing.T) (dir, other string) {
	t.Helper()
	drop := func(dir string) {
		if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
	}
	dir, _ = loadedTable(t)
	other = copied(t, dir)
	compacted(t, dir)
	drop(dir)
	drop(other)
	compacted(t, other)
	return dir, other
}

// filesIn returns the texts of all files of a table, except the lock.
func filesIn(t *testing.T, dir string) string {
	t.Helper()
	all := ""
	for _, pattern := range []string{"*.json", "*/*.json", "d/*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all += name + "\n" + string(b) + "\n"
		}
	}
	return all
}

// TestAFileOfACopyIsFound copies the manifest, the list of retired files or the base of a copy of the table into the table. The numbers in
// these files are the same. No command accepts the table or removes anything. If the wrong file is moved away, rebuild repairs the table.
func TestAFileOfACopyIsFound(t *testing.T) {
	const what = ": one of these files is of another state or copy of the table: put the right file back from a copy of the table, or move the wrong file away, then type bulkload rebuild"
	const inTable, inCopy = "a drop of the days before 2014-09-02", "a drop of the days before 2014-09-03"
	const alike = "different compacts, drops or undrops were number 2 in manifest.json and in "
	for _, of := range []struct {
		fork func(t *testing.T) (dir, other string)
		name string
		want string
	}{
		{forked, "manifest.json", "manifest.json has " + inCopy + ", and retired.json has " + inTable + what},
		{forked, "retired.json", "manifest.json has " + inTable + ", and retired.json has " + inCopy + what},
		{forked, "base/000001.json", "manifest.json has " + inTable + ", and base/000001.json has " + inCopy + what},
		{forkedAlike, "manifest.json", alike + "retired.json" + what},
		{forkedAlike, "retired.json", alike + "retired.json" + what},
		{forkedAlike, "base/000002.json", alike + "base/000002.json" + what},
	} {
		name, want := of.name, of.want
		t.Run(name, func(t *testing.T) {
			dir, other := of.fork(t)
			right := readText(t, dir, "manifest.json")
			writeText(t, dir, name, readText(t, other, name))
			all := filesIn(t, dir)
			c, err := catalog.Open(t.Context(), local.New(), dir)
			if err == nil {
				faults, fail := c.Faults(t.Context())
				if fail != nil || len(faults) != 1 || faults[0].Name != name {
					t.Fatalf("%v, %v; want a fault of %s", faults, fail, name)
				}
				err = faults[0].Err
			}
			if !errors.Is(err, table.ErrDamaged) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			for _, withDropped := range []bool{false, true} {
				_, err = catalog.Rebuild(t.Context(), local.New(), dir, withDropped)
				if errors.Is(err, catalog.ErrWhole) {
					_, err = catalog.Mend(t.Context(), local.New(), dir)
				}
				if !errors.Is(err, table.ErrDamaged) || !strings.HasSuffix(err.Error(), what) {
					t.Errorf("rebuild, with dropped %t: %v, want %s", withDropped, err, what)
				}
			}
			if got := filesIn(t, dir); got != all {
				t.Errorf("the files are\n%s\nwant\n%s", got, all)
			}

			remove(t, dir, name)
			m, err := catalog.Rebuild(t.Context(), local.New(), dir, false)
			if errors.Is(err, catalog.ErrWhole) {
				_, err = catalog.Mend(t.Context(), local.New(), dir)
			}
			if err != nil {
				t.Errorf("without %s: %+v, %v", name, m, err)
			}
			c = opened(t, dir)
			if faults, err := c.Faults(t.Context()); err != nil || len(faults) > 0 {
				t.Errorf("without %s: %v, %v", name, faults, err)
			}
			if err := c.Sweep(t.Context(), "d"); err != nil {
				t.Error(err)
			}
			if got := readText(t, dir, "manifest.json"); name != "retired.json" && got != right {
				t.Errorf("rebuilt:\n%s\nwant\n%s", got, right)
			}
			if m := opened(t, dir).Manifest(); m.DroppedBefore == nil || *m.DroppedBefore != day(t, "2014-09-02") || len(m.Files) != 2 {
				t.Errorf("rebuilt: %+v", m)
			}
		})
	}
}

// TestADropIsNotUndoneByTheListOfACopy drops days from a table twice. The list of retired files is of a copy from which both were dropped at
// once. The undrop in it would restore the days of both drops.
func TestADropIsNotUndoneByTheListOfACopy(t *testing.T) {
	dir, _ := loadedTable(t)
	other := copied(t, dir)
	for _, drop := range []struct{ dir, before, goes string }{
		{dir, "2014-09-02", "d/000001-0000.hfile"}, {dir, "2014-09-03", "d/000002-0000.hfile"}, {other, "2014-09-03", "d/000001-0000.hfile"},
	} {
		if err := dropped(t, drop.dir, day(t, drop.before), drop.goes).Sweep(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
	}
	compacted(t, other)
	writeText(t, dir, "retired.json", readText(t, other, "retired.json"))
	const want = "different compacts, drops or undrops were number 2 in manifest.json and in retired.json: one of these files is of another state or copy of the table"
	if _, err := catalog.Open(t.Context(), local.New(), dir); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	remove(t, dir, "retired.json")
	if _, err := catalog.Mend(t.Context(), local.New(), dir); err != nil {
		t.Error(err)
	}
	if u, err := opened(t, dir).Undrop(t.Context()); u != nil || err != nil {
		t.Errorf("without the list the drop can be undone: %+v, %v", u, err)
	}
}

// TestFilesOfOlderReleasesHaveNoDigest removes the digest from one of the files. The table is whole.
func TestFilesOfOlderReleasesHaveNoDigest(t *testing.T) {
	for _, name := range []string{"manifest.json", "retired.json", "base/000002.json"} {
		dir, _ := forkedAlike(t)
		text := readText(t, dir, name)
		lines := regexp.MustCompile(`(?m)^ "(rewritten_)?sha256":.*\n`)
		if len(lines.FindAllString(text, -1)) < 2 {
			t.Fatalf("%s has no digest:\n%s", name, text)
		}
		writeText(t, dir, name, lines.ReplaceAllString(text, "")) // a file without a checksum is not checked
		c := opened(t, dir)
		if faults, err := c.Faults(t.Context()); err != nil || len(faults) > 0 {
			t.Errorf("%s: %v, %v", name, faults, err)
		}
		if err := c.Sweep(t.Context(), "d"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		compacted(t, dir)
		if m := opened(t, dir).Manifest(); m.Rewritten != 3 || m.RewrittenSHA256 == "" {
			t.Errorf("%s: compacted, the manifest is %+v", name, m)
		}
	}
}

// undropKilled returns a table of three loads. From it the days before 2014-09-02, and with twice the days before 2014-09-03, were dropped. An
// undrop of the last drop was killed after it replaced the manifest.
func undropKilled(t *testing.T, twice bool) string {
	t.Helper()
	dir, _ := loadedTable(t)
	if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	if !twice {
		undropOnly(t, dir, 1, nil, time.Hour)
		return dir
	}
	if err := dropped(t, dir, day(t, "2014-09-03"), "d/000002-0000.hfile").Sweep(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	earlier := day(t, "2014-09-02")
	undropOnly(t, dir, 2, &earlier, time.Hour)
	return dir
}

// TestAKilledUndropIsNoOtherState loses the record of an undrop that was killed after it replaced the manifest. The manifest and the list of
// retired files are of this undrop. If the manifest is lost, too, rebuild does not make one from before the undrop.
func TestAKilledUndropIsNoOtherState(t *testing.T) {
	for _, twice := range []bool{false, true} {
		dir := undropKilled(t, twice)
		want := opened(t, dir).Manifest()
		remove(t, dir, "loading.json")
		c := opened(t, dir)
		if faults, err := c.Faults(t.Context()); err != nil || len(faults) > 0 {
			t.Errorf("twice %t: %v, %v", twice, faults, err)
		}
		text := readText(t, dir, "manifest.json")
		remove(t, dir, "manifest.json")
		if m, err := catalog.Rebuild(t.Context(), local.New(), dir, false); err == nil && len(m.Files) != len(want.Files) {
			t.Errorf("twice %t: rebuilt %+v, want %+v", twice, m, want)
		}
		writeText(t, dir, "manifest.json", text)
		c = opened(t, dir)
		if err := c.Sweep(t.Context(), "d"); err != nil {
			t.Errorf("twice %t: %v", twice, err)
		}
		if m := opened(t, dir).Manifest(); len(m.Files) != len(want.Files) || m.Rewritten != want.Rewritten {
			t.Errorf("twice %t: swept %+v, want %+v", twice, m, want)
		}
	}
}

// TestAKilledCompactHidesNoOlderManifest kills a compact after a drop or an undrop that ended. The record of the compact explains the manifest of
// before the compact, and no earlier one.
func TestAKilledCompactHidesNoOlderManifest(t *testing.T) {
	for _, undo := range []bool{false, true} {
		dir, _ := loadedTable(t)
		older := readText(t, dir, "manifest.json")
		if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
		if undo {
			older = readText(t, dir, "manifest.json")
			undropped(t, dir, time.Hour)
		}
		before := readText(t, dir, "manifest.json")
		replaceLast(t, dir)
		for _, base := range []bool{true, false} {
			if !base {
				if err := os.RemoveAll(filepath.Join(dir, "base")); err != nil {
					t.Fatal(err)
				}
			}
			writeText(t, dir, "manifest.json", before)
			if _, err := catalog.Open(t.Context(), local.New(), dir); err != nil {
				t.Errorf("undrop %t, base %t: the manifest of before the compact: %v", undo, base, err)
			}
			writeText(t, dir, "manifest.json", older)
			if _, err := catalog.Open(t.Context(), local.New(), dir); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), "manifest.json is an older one") {
				t.Errorf("undrop %t, base %t: an older manifest: %v", undo, base, err)
			}
		}
		remove(t, dir, "manifest.json")
		if m, err := catalog.Rebuild(t.Context(), local.New(), dir, false); !undo && !errors.Is(err, table.ErrDamaged) {
			t.Errorf("without manifest and base, rebuilt %+v, %v", m, err)
		}
	}
}

// TestABaseOfACopyMakesNoManifest loses the manifest or the list of retired files, and has a file of a copy of the table.
func TestABaseOfACopyMakesNoManifest(t *testing.T) {
	dir, other := forked(t)
	remove(t, dir, "manifest.json")
	writeText(t, dir, "base/000001.json", readText(t, other, "base/000001.json"))
	refused(t, dir, []string{"base/000001.json has a drop of the days before 2014-09-03, and retired.json has a drop of the days before 2014-09-02: one of these files"}, nil)

	dir, other = forked(t)
	remove(t, dir, "retired.json")
	writeText(t, dir, "manifest.json", readText(t, other, "manifest.json"))
	want := "manifest.json has a drop of the days before 2014-09-03, and base/000001.json has a drop of the days before 2014-09-02: one of these files"
	if _, err := catalog.Open(t.Context(), local.New(), dir); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	refused(t, dir, []string{want}, nil)

	dir, _ = forked(t) // a copy from which nothing was dropped
	other, _ = loadedTable(t)
	compacted(t, other)
	writeText(t, dir, "retired.json", readText(t, other, "retired.json"))
	want = "manifest.json has a drop of the days before 2014-09-02, and retired.json has no drop: one of these files"
	if _, err := catalog.Open(t.Context(), local.New(), dir); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	refused(t, dir, []string{want}, nil)
}

// TestAForeignBaseIsMovedAway has a base with a high number that cannot be read. The manifest is the newest one.
func TestAForeignBaseIsMovedAway(t *testing.T) {
	const name, step = "base/000009.json", "if no newer manifest exists, move base/000009.json away"
	for what, spoil := range map[string]func(t *testing.T, dir string){
		"junk": func(t *testing.T, dir string) { writeText(t, dir, name, "junk") },
		"link": func(t *testing.T, dir string) {
			writeText(t, dir, name, "")
			replaceByLink(t, dir, name)
		},
		"directory": func(t *testing.T, dir string) { writeText(t, dir, name+"/file", "") },
	} {
		dir, _ := loadedTable(t)
		spoil(t, dir)
		if _, err := catalog.Open(t.Context(), local.New(), dir); !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), step) {
			t.Errorf("%s: %v, want %s", what, err, step)
		}
		refused(t, dir, []string{step}, nil)
		if err := os.RemoveAll(filepath.Join(dir, "base")); err != nil {
			t.Fatal(err)
		}
		opened(t, dir)
	}
}

// TestMendNamesMissingFiles mends the base or the list of retired files of a table that has lost an HFile.
func TestMendNamesMissingFiles(t *testing.T) {
	for _, name := range []string{"retired.json", "base/000001.json"} {
		dir, _ := loadedTable(t)
		if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
		writeText(t, dir, name, "{")
		remove(t, dir, "d/000003-0000.hfile")
		done, err := catalog.Mend(t.Context(), local.New(), dir)
		if done.Retired != (name == "retired.json") || (done.Base != "") == done.Retired || !errors.Is(err, table.ErrDamaged) ||
			!strings.Contains(fmt.Sprint(err), "is repaired, and another file must be repaired: the table is damaged: d/000003-0000.hfile is missing: put the file back") {
			t.Errorf("%s: mended %+v, %v", name, done, err)
		}
		if _, err := catalog.Mend(t.Context(), local.New(), dir); err != nil {
			t.Errorf("%s: mended again: %v", name, err)
		}
	}
}
