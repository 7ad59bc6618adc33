package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// TestALostLockStopsChanges takes the lock away in the ways of a person. Then no change is made, and the
// release of the lock reports it.
func TestALostLockStopsChanges(t *testing.T) {
	lose := map[string]func(t *testing.T, dir string){
		"the lock is removed": func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "lock")); err != nil {
				t.Fatal(err)
			}
		},
		"another process has the lock": func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "lock")); err != nil {
				t.Fatal(err)
			}
			if _, err := local.New().Lock(t.Context(), filepath.Join(dir, "lock")); err != nil {
				t.Fatal(err)
			}
		},
		"the folder is moved away": func(t *testing.T, dir string) {
			if err := os.Rename(dir, dir+".bad"); err != nil {
				t.Fatal(err)
			}
		},
		"a copy is put back": func(t *testing.T, dir string) {
			if err := os.Rename(dir, dir+".bad"); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"lock", "old", "other"} {
				testkit.WriteFile(t, filepath.Join(dir, name), "")
			}
		},
	}
	for what, lose := range lose {
		for _, drop := range []bool{false, true} {
			t.Run(what, func(t *testing.T) {
				ctx, fs, dir := t.Context(), local.New(), filepath.Join(t.TempDir(), "table")
				at := func(name string) string { return filepath.Join(dir, name) }
				lock, err := fs.Lock(ctx, at("lock"))
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"old", "other"} {
					if err := dfs.WriteFile(ctx, fs, at(name), nil); err != nil {
						t.Fatal(err)
					}
				}
				p, err := fs.Create(ctx, at("new"))
				if err != nil {
					t.Fatal(err)
				}
				lose(t, dir)

				_, create := fs.Create(ctx, at("b"))
				_, again := fs.CreateNew(ctx, at("b"))
				_, scratch := fs.Scratch(ctx, at("b"))
				_, second := fs.Lock(ctx, at("second"))
				for op, err := range map[string]error{
					"Commit": p.Commit(), "Create": create, "CreateNew": again, "Scratch": scratch, "Lock": second,
					"Mkdir": fs.Mkdir(ctx, at("b")), "Publish": fs.Publish(ctx, at("old"), at("b")),
					"Remove": fs.Remove(ctx, at("other")), "Sweep": fs.Sweep(ctx, dir),
				} {
					if !errors.Is(err, dfs.ErrLockLost) || !strings.Contains(err.Error(), at("lock")) {
						t.Errorf("%s: %v, want ErrLockLost that names the lock", op, err)
					}
				}
				for _, name := range []string{"new", "b", "second"} {
					if _, err := os.Stat(at(name)); err == nil {
						t.Errorf("%s exists", name)
					}
				}
				release := lock.Unlock
				if drop {
					release = lock.Drop
				}
				if err := release(); !errors.Is(err, dfs.ErrLockLost) {
					t.Errorf("the release: %v, want ErrLockLost", err)
				}
				if err := release(); err != nil {
					t.Errorf("the second release: %v", err)
				}
				if err := fs.Mkdir(ctx, at("b")); err != nil {
					t.Errorf("after the release: %v", err)
				}
			})
		}
	}
}
