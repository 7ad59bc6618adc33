package catalog_test

import (
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// refusing makes no lock.
type refusing struct {
	dfs.FS
	err error
}

func (r refusing) Lock(context.Context, string) (dfs.Lock, error) { return nil, r.err }

// TestUnwritableTables are as unfit for a load as for the pre-check of one.
func TestUnwritableTables(t *testing.T) {
	for advice, err := range map[string]error{
		"run as a user": &iofs.PathError{Op: "lock", Path: "x/lock", Err: iofs.ErrPermission},
		"mount it for writing, or name another table": &iofs.PathError{Op: "lock", Path: "x/lock", Err: syscall.EROFS},
	} {
		_, got := catalog.Lock(t.Context(), refusing{local.New(), err}, t.TempDir())
		if !errors.Is(got, table.ErrUnfit) || !errors.Is(got, err) || !strings.Contains(got.Error(), advice) {
			t.Errorf("%v: got %v, want an unfit table and what to do", err, got)
		}
	}
	if _, got := catalog.Lock(t.Context(), refusing{local.New(), syscall.EIO}, t.TempDir()); errors.Is(got, table.ErrUnfit) {
		t.Errorf("got %v, want that another try may help", got)
	}
}

// unlistable lists no ledgers.
type unlistable struct{ dfs.FS }

func (u unlistable) List(ctx context.Context, dir string) ([]dfs.Info, error) {
	if dfs.Base(dir) == "loads" {
		return nil, &iofs.PathError{Op: "list", Path: dir, Err: iofs.ErrPermission}
	}
	return u.FS.List(ctx, dir)
}

// TestUnlistableLedgers checks that a table is unfit if this user may not list its ledgers, or not
// read its manifest.
func TestUnlistableLedgers(t *testing.T) {
	dir, _ := loadedTable(t)
	_, err := catalog.Open(t.Context(), unlistable{local.New()}, dir)
	if !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "run as a user who may read the table") {
		t.Errorf("got %v, want an unfit table and what to do", err)
	}
}

// closed opens nothing.
type closed struct{ dfs.FS }

func (closed) Open(_ context.Context, name string) (dfs.File, error) {
	return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrPermission}
}

// TestUnreadableState reads the state of an HBase table before its manifest, as an extract does.
func TestUnreadableState(t *testing.T) {
	dir, _ := loadedTable(t)
	_, left := catalog.Left(t.Context(), closed{local.New()}, dir)
	_, handover := catalog.Handover(t.Context(), closed{local.New()}, dir)
	for name, err := range map[string]error{"begun.json": left, "handover.json": handover} {
		if !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "run as a user who may read the table") {
			t.Errorf("%s: got %v, want an unfit table and what to do", name, err)
		}
	}
}

// closedFile does not open the file called name.
type closedFile struct {
	dfs.FS
	name string
}

func (c closedFile) Open(ctx context.Context, name string) (dfs.File, error) {
	if strings.HasSuffix(name, "/"+c.name) {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrPermission}
	}
	return c.FS.Open(ctx, name)
}

// problem returns the first error of the functions with which a load and verify look at a table before they read its rows.
func problem(t *testing.T, fs dfs.FS, dir string) error {
	t.Helper()
	c, err := catalog.Open(t.Context(), fs, dir)
	if err != nil {
		return err
	}
	if err := c.CheckFiles(t.Context()); err != nil {
		return err
	}
	faults, err := c.Faults(t.Context())
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		return faults[0].Err
	}
	if err := c.EachLedger(t.Context(), func(*manifest.Load) error { return nil }); err != nil {
		return err
	}
	_, err = c.Begun(t.Context())
	return err
}

// TestFilesOfTheCatalogThatCannotBeRead has a file of the catalog that the user may not read, or a link to itself or a pipe in its place.
// The error has the name of the file, the status and the next step.
func TestFilesOfTheCatalogThatCannotBeRead(t *testing.T) {
	for name, step := range map[string]string{
		"manifest.json":     "move it away, then let bulkload rebuild make the file again",
		"loads/000002.json": "is missing, the ledger of load 2: put the file back from a copy of the table",
		"base/000001.json":  "let bulkload rebuild make it again",
		"retired.json":      "put it back from a copy of the table, or let bulkload rebuild give up the replaced files",
		"loading.json":      "remove it, then type the same command again; if files of a killed run are then in the way, move them out of the table",
		"begun.json":        "put it back from a copy of the catalog; or remove it, and run the load or the piece that was killed again",
	} {
		dir, _ := loadedTable(t)
		if err := dropped(t, dir, day(t, "2014-09-02"), "d/000001-0000.hfile").Sweep(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
		c := opened(t, dir)
		if err := c.Leave(t.Context(), &manifest.Begun{Inputs: []manifest.Input{{Path: "play.csv", Number: 17, Job: "5d0c"}}}); err != nil {
			t.Fatal(err)
		}
		if err := c.BeginFile(t.Context(), "d/000004-0000.hfile"); err != nil {
			t.Fatal(err)
		}
		if err := problem(t, local.New(), dir); err != nil {
			t.Fatalf("a whole table: %v", err)
		}
		if err := problem(t, closedFile{local.New(), name}, dir); !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), name+": permission denied: run as a user who may read the table") {
			t.Errorf("%s may not be read: got %v, want an unfit table and what to do", name, err)
		}
		for what, make := range map[string]func(path string) error{
			"a link to itself": func(path string) error { return os.Symlink(filepath.Base(path), path) },
			"a pipe":           func(path string) error { return syscall.Mkfifo(path, 0o600) },
		} {
			remove(t, dir, name)
			if err := make(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			if err := problem(t, local.New(), dir); err == nil || !strings.Contains(err.Error(), name) || !strings.HasSuffix(err.Error(), step) {
				t.Errorf("%s is %s: got %v, want %q", name, what, err, step)
			}
		}
	}
}
