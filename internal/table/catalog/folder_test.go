package catalog_test

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/format/manifest"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// locked is a file system with a folder without rights for this user.
type locked struct {
	dfs.FS
	folder string
}

func (l locked) denied(op, name string) error {
	if name == l.folder || strings.HasPrefix(name, l.folder+"/") {
		return &iofs.PathError{Op: op, Path: name, Err: iofs.ErrPermission}
	}
	return nil
}

func (l locked) List(ctx context.Context, dir string) ([]dfs.Info, error) {
	if err := l.denied("list", dir); err != nil {
		return nil, err
	}
	return l.FS.List(ctx, dir)
}

func (l locked) Stat(ctx context.Context, name string) (dfs.Info, error) {
	if err := l.denied("stat", name); name != l.folder && err != nil {
		return dfs.Info{}, err
	}
	return l.FS.Stat(ctx, name)
}

func (l locked) Sweep(ctx context.Context, dir string, but ...string) error {
	if !strings.HasPrefix(l.folder, dir) {
		return l.FS.Sweep(ctx, dir, but...)
	}
	for _, name := range but {
		if name == l.folder {
			return l.FS.Sweep(ctx, dir, but...)
		}
	}
	return l.denied("sweep", l.folder)
}

func (l locked) Try(_ context.Context, dir string) (time.Time, error) {
	return time.Time{}, l.denied("survey", dir)
}

func (l locked) Room(context.Context, string) (dfs.Room, error) {
	return dfs.Room{}, errors.ErrUnsupported
}

func (l locked) Held(context.Context, string) (bool, string, error) {
	return false, "", errors.ErrUnsupported
}

// swept opens a table, and runs the functions that list its folders.
func swept(t *testing.T, fs dfs.FS, dir string) error {
	t.Helper()
	c, err := catalog.Open(t.Context(), fs, dir)
	if err != nil {
		return err
	}
	if err := c.CheckFiles(t.Context()); err != nil {
		return err
	}
	if err := c.Sweep(t.Context(), "d"); err != nil {
		return err
	}
	if _, err := c.Plans(t.Context()); err != nil {
		return err
	}
	return catalog.CheckBaseWritable(t.Context(), fs, dir)
}

// TestFoldersInWhichSomethingIsWrong has a folder without rights for this user, or something else in the place of the folder. The error names the
// folder and has the status and the next step.
func TestFoldersInWhichSomethingIsWrong(t *testing.T) {
	for _, folder := range []string{"d", "loads", "base", "pieces", "plans", "runs"} {
		step := ": move it away and put the folder back from a copy of the table"
		switch folder {
		case "plans":
			step = ": move it away"
		case "pieces":
			step = ": move it away; if the table has loads in pieces, put the folder back from a copy of the table"
		}
		makeTable := func() string {
			dir, _ := loadedTable(t)
			inPieces(t, dir)
			if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"plans/5d0d", "runs"} {
				if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			return dir
		}
		dir := makeTable()
		if err := swept(t, local.New(), dir); err != nil {
			t.Fatalf("a whole table: %v", err)
		}
		err := swept(t, locked{local.New(), filepath.Join(dir, folder)}, dir)
		if !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "/"+folder) || !strings.HasSuffix(err.Error(), ", or let the owner grant the right") {
			t.Errorf("%s has no rights: got %v, want an unfit table and what to do", folder, err)
		}
		if folder == "runs" {
			continue
		}
		for what, put := range map[string]func(path string) error{
			"a link to itself": func(path string) error { return os.Symlink(filepath.Base(path), path) },
			"a pipe":           func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"a file":           func(path string) error { return os.WriteFile(path, nil, 0o600) },
		} {
			dir := makeTable()
			at := filepath.Join(dir, folder)
			if err := errors.Join(os.RemoveAll(at), put(at)); err != nil {
				t.Fatal(err)
			}
			if err := swept(t, local.New(), dir); exit.Of(err) != exit.Usage || !strings.HasSuffix(err.Error(), " has the name of the folder "+folder+step) {
				t.Errorf("%s is %s: got %v, want status 64 and %q", folder, what, err, step)
			}
		}
	}
}

// planned loads a table, and plans a load in pieces, 5d0d. A piece is finished.
func planned(t *testing.T) (dir string, f catalog.Folder) {
	t.Helper()
	dir, _ = loadedTable(t)
	f = catalog.Folder{FS: local.New(), Plans: catalog.Plans(dir), ID: "5d0d"}
	if err := errors.Join(f.SetPieces(t.Context(), []byte("{}")), f.Begin(t.Context(), &manifest.Plan{Pieces: 1}),
		f.SetReport(t.Context(), &manifest.Report{})); err != nil {
		t.Fatal(err)
	}
	writeText(t, dir, "pieces/5d0d/00000-0000.hfile", "cell")
	return dir, f
}

// TestSomethingElseInThePlaceOfAPlan has something else in the place of the folder of the plans, or of the folder of a plan. All commands name the same
// place, and keep the files of the finished piece. The folder may be on a disk that is not mounted.
func TestSomethingElseInThePlaceOfAPlan(t *testing.T) {
	for what, put := range map[string]func(path string) error{
		"a link to nothing": func(path string) error { return os.Symlink("/nowhere/plans", path) },
		"a link to itself":  func(path string) error { return os.Symlink(filepath.Base(path), path) },
		"a pipe":            func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a file":            func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		for folder, step := range map[string]string{"plans": "move it away", "plans/5d0d": "remove it, and plan again"} {
			dir, f := planned(t)
			if err := opened(t, dir).Sweep(t.Context(), "d"); err != nil {
				t.Fatal(err)
			}
			if at := filepath.Join(dir, folder); errors.Join(os.RemoveAll(at), put(at)) != nil {
				t.Fatalf("%s is not made", at)
			}
			want := " has the name of the folder " + folder + ": " + step
			if what == "a link to nothing" {
				want = filepath.Join(dir, folder) + ": not a directory: " + what + " has the name of the folder " + folder + ": if it leads to a disk, mount the disk; otherwise " + step
			}
			_, reported := f.Reported(t.Context())
			_, open := f.OpenPieces(t.Context())
			errs := map[string]error{"sweep": opened(t, dir).Sweep(t.Context(), "d"), "open": open, "set": f.SetPieces(t.Context(), []byte("[]"))}
			if what != "a link to nothing" {
				errs["reported"] = reported
			}
			for _, locked := range []bool{false, true} {
				check := catalog.CheckUnfinished(t.Context(), local.New(), dir, locked)
				errs["pre-check"] = check.Err
			}
			remove(t, dir, "manifest.json")
			_, errs["rebuild"] = catalog.Rebuild(t.Context(), local.New(), dir, false)
			for does, err := range errs {
				if exit.Of(err) != exit.Usage || !strings.HasSuffix(err.Error(), want) {
					t.Errorf("%s is %s: %s: got %v, want status 64 and %q", folder, what, does, err, want)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "pieces/5d0d/00000-0000.hfile")); err != nil {
				t.Errorf("%s is %s: %v", folder, what, err)
			}
		}
	}
}

// TestSomethingElseInThePlaceOfBase opens and rebuilds tables with and without compacts. Without the bases an older manifest could not be noticed.
func TestSomethingElseInThePlaceOfBase(t *testing.T) {
	for what, put := range map[string]func(path string) error{
		"a link to nothing has": func(path string) error { return os.Symlink("nowhere/base", path) },
		"a file, a pipe":        func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		for _, rewritten := range []bool{false, true} {
			dir, _ := loadedTable(t)
			if rewritten {
				compacted(t, dir)
			}
			opened(t, dir)
			if err := errors.Join(os.RemoveAll(filepath.Join(dir, "base")), put(filepath.Join(dir, "base"))); err != nil {
				t.Fatal(err)
			}
			_, open := catalog.Open(t.Context(), local.New(), dir)
			_, mend := catalog.Mend(t.Context(), local.New(), dir)
			write := catalog.CheckBaseWritable(t.Context(), local.New(), dir)
			remove(t, dir, "manifest.json")
			_, rebuild := catalog.Rebuild(t.Context(), local.New(), dir, false)
			for _, err := range []error{open, mend, rebuild} {
				if exit.Of(err) != exit.Usage || !strings.Contains(err.Error(), what) || !strings.HasSuffix(err.Error(), "move it away and put the folder back from a copy of the table") {
					t.Errorf("%s, compacted %v: got %v, want status 64 and the next step", what, rewritten, err)
				}
			}
			if exit.Of(write) != exit.Usage || !strings.Contains(write.Error(), "has the name of the folder base: move it away") {
				t.Errorf("%s: CheckBaseWritable returned %v, want status 64 and the next step", what, write)
			}
		}
	}
}

// TestTryInAFileHasANextStep has a file in the place of a folder in which a load makes files.
func TestTryInAFileHasANextStep(t *testing.T) {
	dir, _ := loadedTable(t)
	if _, err := catalog.Try(t.Context(), local.New(), dir, "loads"); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "loads")); err != nil {
		t.Fatal(err)
	}
	writeText(t, dir, "loads", "")
	const step = "has the name of the folder loads: move it away and put the folder back from a copy of the table"
	if _, err := catalog.Try(t.Context(), local.New(), dir, "loads"); exit.Of(err) != exit.Usage || !strings.HasSuffix(err.Error(), step) {
		t.Errorf("got %v, want status 64 and %q", err, step)
	}
	if _, err := catalog.Try(t.Context(), local.New(), filepath.Join(dir, "loads"), "d"); err == nil || strings.Contains(err.Error(), "folder d") {
		t.Errorf("the table is a file: got %v, want an error that does not name a folder in it", err)
	}
}

// TestBadRecordsThatCannotBeCopied converts a table with quarantine files that this user may not read, or with something else in their place.
func TestBadRecordsThatCannotBeCopied(t *testing.T) {
	for what, x := range map[string]struct {
		put  func(folder, name string) error
		of   string // the name that this user may not read
		step string
	}{
		"a folder without rights": {nil, "quarantine", "or let the owner grant the right"},
		"a file without rights":   {nil, "quarantine/a.jsonl", "or let the owner grant the right"},
		"a pipe":                  {func(_, name string) error { return syscall.Mkfifo(name, 0o600) }, "", "move it away, then type the same command again"},
		"a link to itself":        {func(_, name string) error { return os.Symlink("a.jsonl", name) }, "", "move it away, then type the same command again"},
		"a link in the place of the folder": {func(folder, _ string) error {
			return errors.Join(os.RemoveAll(folder), os.Symlink("quarantine", folder))
		}, "", "move it away"},
	} {
		dir, _ := loadedTable(t)
		folder, name := filepath.Join(dir, "quarantine"), filepath.Join(dir, "quarantine", "a.jsonl")
		writeText(t, dir, "quarantine/a.jsonl", "{}\n")
		var fs dfs.FS = local.New()
		if x.put == nil {
			fs = unopenable{locked{fs, filepath.Join(dir, x.of)}}
		} else if err := errors.Join(os.Remove(name), x.put(folder, name)); err != nil {
			t.Fatal(err)
		}
		to, err := catalog.New(fs, t.TempDir(), opened(t, dir).Manifest())
		if err != nil {
			t.Fatal(err)
		}
		if err := to.CopyQuarantine(t.Context(), dir); exit.Of(err) != exit.Usage || !strings.HasSuffix(err.Error(), x.step) {
			t.Errorf("%s: got %v, want status 64 and %q", what, err, x.step)
		}
	}
}

// unopenable also opens no file of the folder.
type unopenable struct{ locked }

func (u unopenable) Open(ctx context.Context, name string) (dfs.File, error) {
	if err := u.denied("open", name); err != nil {
		return nil, err
	}
	return u.FS.Open(ctx, name)
}

// TestADirectoryInThePlaceOfTheNextLedger expects the next step.
func TestADirectoryInThePlaceOfTheNextLedger(t *testing.T) {
	dir, _ := loadedTable(t)
	if err := os.Mkdir(filepath.Join(dir, "loads", "000004.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := opened(t, dir).Commit(t.Context(), &manifest.Load{Version: manifest.Version, Number: 4}, nil)
	if exit.Of(err) != exit.Usage || !strings.HasSuffix(err.Error(), "000004.json: is a directory: a directory has the name of a new file: move it away, then type the same command again") {
		t.Errorf("got %v, want status 64 and the next step", err)
	}
}

// TestSomethingElseInThePlaceOfATable opens and locks a table whose name is taken.
func TestSomethingElseInThePlaceOfATable(t *testing.T) {
	for what, put := range map[string]func(path string) error{
		"a file":           func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a pipe":           func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link to itself": func(path string) error { return os.Symlink("trails", path) },
	} {
		dir := filepath.Join(t.TempDir(), "trails")
		if err := put(dir); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{dir, filepath.Join(dir, "below")} {
			_, open := catalog.Open(t.Context(), local.New(), dir)
			_, lock := catalog.Lock(t.Context(), local.New(), dir)
			for _, err := range []error{open, lock} {
				if exit.Of(err) != exit.Usage || !strings.Contains(fmt.Sprint(err), "a table is a directory") || !strings.Contains(fmt.Sprint(err), "correct the name of the table") {
					t.Errorf("%s, %s: got %v, want status 64 and the next step", what, filepath.Base(dir), err)
				}
			}
		}
	}
}
