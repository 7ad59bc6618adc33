package files_test

import (
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
	"usertrail/internal/table/precheck"
	"usertrail/internal/test/testkit"
)

// TestOneStatusForATableThatMayNotBeWritten changes the mode of one file or folder of a table, so that a
// user may not write or read it. The check and a load fail with status 64.
func TestOneStatusForATableThatMayNotBeWritten(t *testing.T) {
	for _, x := range []struct {
		name string
		mode os.FileMode
	}{{"lock", 0o444}, {"lock", 0}, {"d", 0o555}, {"loads", 0o555}, {"", 0o555}, {catalog.ManifestName, 0}} {
		name, mode := x.name, x.mode
		t.Run(filepath.Join("trails", name)+" "+mode.String(), func(t *testing.T) {
			dir := testkit.Enterable(t)
			s := files.Store{FS: local.New(), Dir: filepath.Join(dir, "trails")}
			open(t, dir)
			if err := loadInto(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			open(t, s.Dir)
			if err := os.Chmod(filepath.Join(s.Dir, name), mode); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Chmod(filepath.Join(s.Dir, name), 0o777) })
			testkit.AsNobody(t, dir, func(ctx context.Context) {
				checked := precheck.Failure(s.Check(ctx, precheck.Load{}))
				loaded := loadInto(ctx, s)
				for what, err := range map[string]error{"check": checked, "load": loaded} {
					if exit.Of(err) != exit.Usage || !strings.Contains(err.Error(), "permission denied") || !strings.Contains(err.Error(), "or let the owner grant the right") {
						t.Errorf("%s: status %d, %v; want 64 and the next step", what, exit.Of(err), err)
					}
				}
				if got, want := checked.Error(), "pre-check "+string(precheck.UnfinishedRun)+": "+loaded.Error(); name == "lock" && got != want {
					t.Errorf("the check says\n%s\nwant\n%s", got, want)
				}
			})
		})
	}
}

// open lets every user enter and write a folder and all in it.
func open(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ iofs.DirEntry, err error) error {
		return errors.Join(err, os.Chmod(path, 0o777))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// loadInto does the steps of a load without records: it locks the table, stages a file and commits.
func loadInto(ctx context.Context, s files.Store) (err error) {
	lock, err := s.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	to, err := s.Open(ctx)
	if errors.Is(err, table.ErrNoTable) {
		to, err = s.New(ctx, plan())
	}
	if err != nil {
		return err
	}
	defer to.Close()
	stager := to.(table.Stager)
	staged, err := stager.Stage(ctx, stager.FileName(to.NextLoad(), 0)+".hfile")
	if err != nil {
		return err
	}
	if err := staged.Commit(); err != nil {
		return err
	}
	return to.TakeIn(ctx, &manifest.Load{Version: manifest.Version, Number: to.NextLoad()}, nil)
}
