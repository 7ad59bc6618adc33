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
	"usertrail/internal/test/testkit"
)

func writeIn(t *testing.T, dir, name string) {
	t.Helper()
	writeText(t, dir, name, "")
}

func writeText(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	testkit.WriteFile(t, path, text)
}

// TestADirectoryOfOthersIsNotLocked puts a file of another program where a table keeps
// files of its own.
func TestADirectoryOfOthersIsNotLocked(t *testing.T) {
	for _, name := range []string{
		"thesis.txt", "d/thesis.txt", "d/000001-0000.hfile.bak", "loads/thesis.txt", "loads/1.json", "tmp/thesis.txt", "tmp/deep/thesis.txt", "tmp/.hidden.tmp",
		"pieces/mine/thesis.txt", "pieces/mine/00000-0000.hfile", "pieces/2024/00001.txt", "plans/2024/todo.json", "convert/thesis.txt",
		"quarantine/thesis.txt", "runs/2024.json", "forgotten/thesis.txt", "staging/thesis.txt", "manifest.json.bak", "Begun.json",
	} {
		dir := t.TempDir()
		writeIn(t, dir, name)
		l, err := catalog.Lock(t.Context(), local.New(), dir)
		if err == nil {
			l.Unlock()
		}
		if !errors.Is(err, os.ErrExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want fs.ErrExist that names the file", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "lock")); err == nil {
			t.Errorf("%s: a lock was made next to it", name)
		}
	}
}

// TestWhatAKilledFirstLoadLeavesIsLocked has the files of loads of both kinds, of plans, and
// of a conversion.
func TestWhatAKilledFirstLoadLeavesIsLocked(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"lock", "runs/20140902T020003.120Z-4711-f00d.json", "begun.json", "handover.json", "loads/000001.json",
		"d/000001-0000.hfile", "d/000001-0000.roll", "d/r000002-0001.hfile", "cf/puts-00000000000000ab.roll", ".manifest.json.1f0c6b62d1a0e9f4.tmp",
		"tmp/run-000-00001", "tmp/merge-00000", "tmp/d/000001-0000.roll/run-000-00000", "tmp/rows-00000/merge-00001",
		"quarantine/2014-09-01__play.csv.jsonl", "plans/0123456789abcdef0123/plan.json", "plans/0123456789abcdef0123/00000.json",
		"plans/0123456789abcdef0123/00000.lock", "plans/0123456789abcdef0123/00000.begun.json", "plans/0123456789abcdef0123/00000-0000.bad",
		catalog.PieceName("0123456789abcdef0123", 7, 3) + ".hfile", catalog.PieceName("0123456789abcdef0123", 7, 3) + ".roll",
		catalog.PieceRoll("0123456789abcdef0123", 7), "pieces/0123456789abcdef0123/staging/cf/00007-0003-1.hfile",
		"staging/4711/cf/000001-0000.hfile", "convert/plan.json", "convert/000001.json", "forgotten/000001/manifest.json",
	} {
		writeIn(t, dir, name)
	}
	writeText(t, dir, "loading.json", `{"version": 1, "load": 1}`)
	if err := os.Mkdir(filepath.Join(dir, "photos"), 0o777); err != nil {
		t.Fatal(err)
	}
	l, err := catalog.Lock(t.Context(), local.New(), dir)
	if err != nil {
		t.Fatal(err)
	}
	l.Unlock()
}

// TestATableWithoutItsManifestIsRefused has one file of a table, or a log of runs with a load, and
// no manifest.
func TestATableWithoutItsManifestIsRefused(t *testing.T) {
	const plan = "0123456789abcdef0123"
	run := func(command, end string) map[string]string {
		return map[string]string{"runs/20140902T020003.120Z-4711-f00d.json": `{"version": 1, "command": "` + command + `", "end": ` + end + `}`}
	}
	lost := []map[string]string{
		{"loads/000001.json": ""}, {"d/000001-0000.hfile": ""}, {"d/000001-0000.roll": ""}, {"cf/puts-00000000000000ab.roll": ""},
		{"quarantine/play.csv.jsonl": ""}, {"begun.json": ""}, {"handover.json": ""}, {"retired.json": ""},
		{catalog.PieceName(plan, 7, 3) + ".hfile": ""},
		{"loading.json": `{"version": 1, "load": 2}`, "d/000001-0000.hfile": ""},
		{"d/000001-0000.hfile": "", "thesis.txt": ""},
		{
			"runs/20140902T020003.120Z-4711-f00d.json": `{"version": 1, "command": "load", "end": {"status": 0}}`,
			"loading.json": `{"version": 1, "load": 1}`, "d/000001-0000.hfile": "", // its removal failed
		},
		run("load", `{"status": 0}`), run("convert", `{"status": 0}`), run("load", `{"status": 65, "files": 3}`),
		{"convert/plan.json": "", "loads/000001.json": "", "d/000001-0000.hfile": ""},
		{"convert/plan.json": "", "base/000001.json": "", "d/000001-0000.hfile": ""},
		{"convert/plan.json": "", "loading.json": `{"version": 1, "load": 2}`, "d/000001-0000.hfile": ""},
		{"convert/plan.json": "", "runs/20140902T020003.120Z-4711-f00d.json": `{"version": 1, "command": "load", "end": {"status": 0}}`},
		{
			"convert/plan.json": "", "loading.json": `{"version": 1, "load": 1}`, "d/000001-0000.hfile": "", "loads/000001.json": "",
			"runs/20140902T020003.120Z-4711-f00d.json": `{"version": 1, "command": "convert", "end": {"status": 0}}`,
		},
	}
	for _, all := range lost {
		dir := t.TempDir()
		for name, text := range all {
			writeText(t, dir, name, text)
		}
		if _, err := catalog.Open(t.Context(), local.New(), dir); !errors.Is(err, table.ErrNoManifest) {
			t.Errorf("%v: open: %v, want table.ErrNoManifest", all, err)
		}
		if _, err := catalog.Lock(t.Context(), local.New(), dir); !errors.Is(err, table.ErrNoManifest) {
			t.Errorf("%v: lock: %v, want table.ErrNoManifest", all, err)
		}
		list, err := local.New().List(t.Context(), dir)
		if names := fmt.Sprint(list); err != nil || strings.Contains(names, "/lock") {
			t.Errorf("%v: %s, %v, want no lock", all, names, err)
		}
	}
	fine := []map[string]string{
		{}, {"lock": ""}, {"tmp/run-000-00001": ""}, {"plans/" + plan + "/plan.json": "", catalog.PieceName(plan, 7, 3) + ".hfile": ""},
		{"convert/plan.json": "", "d/000001-0000.hfile": ""},
		{"convert/plan.json": "", "loading.json": `{"version": 1, "load": 1}`, "d/000001-0000.hfile": "", "loads/000001.json": ""}, {"forgotten/000001/manifest.json": "", "forgotten/000001/d/000001-0000.roll": ""},
		run("load", `{"status": 66}`), run("load", "null"), run("plan", `{"status": 0}`), run("pre-check", `{"status": 0}`),
		{
			"runs/20140902T020003.120Z-4711-f00d.json": `{"version": 1, "command": "load", "end": {"status": 0}}`,
			"runs/20140903T020003.120Z-4712-f00d.json": `{"version": 1, "command": "forget"}`,
		},
	}
	for _, all := range fine {
		dir := t.TempDir()
		for name, text := range all {
			writeText(t, dir, name, text)
		}
		l, err := catalog.Lock(t.Context(), local.New(), dir)
		if err != nil {
			t.Errorf("%v: %v", all, err)
			continue
		}
		l.Unlock()
		if _, err := os.Stat(filepath.Join(dir, "loading.json")); err != nil {
			t.Errorf("%v: %v, want that a first load is being made", all, err)
		}
	}
}

// TestALinkToNothingIsNoPlaceForATable expects one error of all functions: a disk may not be mounted.
func TestALinkToNothingIsNoPlaceForATable(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("nothing", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir + "/link", dir + "/link/trails"} {
		want := "table " + name + ": manifest.json is missing: " + dir + "/link is a link to nothing: mount the disk to which the link leads, or remove the link"
		_, opens := catalog.Open(t.Context(), local.New(), name)
		_, locks := catalog.Lock(t.Context(), local.New(), name)
		_, rebuilds := catalog.Rebuild(t.Context(), local.New(), name, false)
		for what, err := range map[string]error{"open": opens, "lock": locks, "rebuild": rebuilds} {
			if !errors.Is(err, table.ErrNoManifest) || err.Error() != want {
				t.Errorf("%s: %v, want %s", what, err, want)
			}
		}
	}
}

// TestATableIsBegunOnce commits a first load, after which no first load is being made.
func TestATableIsBegunOnce(t *testing.T) {
	dir := t.TempDir()
	l, err := catalog.Lock(t.Context(), local.New(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	c := newCatalog(t, dir)
	if err := c.Commit(t.Context(), &manifest.Load{Version: manifest.Version, Number: 1}, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "manifest.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.Open(t.Context(), local.New(), dir); !errors.Is(err, table.ErrNoManifest) {
		t.Errorf("%v, want table.ErrNoManifest", err)
	}
}

// TestATableIsNotInsideAnother locks directories inside a table, and beside it.
func TestATableIsNotInsideAnother(t *testing.T) {
	outer, _ := loadedTable(t)
	for _, name := range []string{"tmp", "pieces/deep/table", "x"} {
		dir := filepath.Join(outer, name)
		l, err := catalog.Lock(t.Context(), local.New(), dir)
		if err == nil {
			l.Unlock()
		}
		if !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "is inside the table "+outer) {
			t.Errorf("%s: %v, want table.ErrUnfit that names the outer table", name, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v, want no such directory", name, err)
		}
	}
	for _, dir := range []string{outer, outer + "2"} {
		l, err := catalog.Lock(t.Context(), local.New(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
}
