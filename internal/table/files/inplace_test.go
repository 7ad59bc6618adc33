package files_test

import (
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/run/exit"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/table/tabletest"
)

// TestReadsSayWhatIsInThePlaceOfAFile replaces an HFile, and then a roll, by something that is no file.
func TestReadsSayWhatIsInThePlaceOfAFile(t *testing.T) {
	store := files.Store{FS: local.New(), Dir: t.TempDir()}
	tabletest.Load(t, tabletest.Files, store)
	for what, x := range map[string]struct {
		make func(name string) error
		want string
		is   error
	}{
		"a directory":      {func(name string) error { return os.Mkdir(name, 0o755) }, ": put the file back from a copy of the table", table.ErrDamaged},
		"a link to itself": {func(name string) error { return os.Symlink(filepath.Base(name), name) }, "otherwise run bulkload verify, which names the missing files", iofs.ErrNotExist},
		"a pipe":           {func(name string) error { return syscall.Mkfifo(name, 0o600) }, ": put the file back from a copy of the table", table.ErrDamaged},
	} {
		hfile, roll := readsWithout(t, store, x.make)
		for file, err := range map[string]error{"an HFile": hfile, "a roll": roll} {
			if !errors.Is(err, x.is) || !strings.HasSuffix(err.Error(), x.want) {
				t.Errorf("%s in the place of %s: %v, want %v with the step %q", what, file, err, x.is, x.want)
			}
		}
	}
}

// readsWithout returns the error of a read of the table while make has replaced its first HFile, and the
// error of a read of its users while make has replaced the first roll.
func readsWithout(t *testing.T, store files.Store, make func(name string) error) (hfile, roll error) {
	t.Helper()
	opened, err := store.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	f := table.Known(opened).Files[0]
	replaced := func(name string, read func() error) error {
		name = filepath.Join(store.Dir, name)
		if err := os.Rename(name, name+".away"); err != nil {
			t.Fatal(err)
		}
		if err := make(name); err != nil {
			t.Fatal(err)
		}
		failed := read()
		if err := errors.Join(os.Remove(name), os.Rename(name+".away", name)); err != nil {
			t.Fatal(err)
		}
		return failed
	}
	hfile = replaced(f.Name, func() error {
		q := table.Query{Ranges: func(yield func(split.Region) bool) { yield(split.Region{}) }, Span: f.Span}
		return opened.Read(t.Context(), q, func(*cell.Cell) error { return nil })
	})
	roll = replaced(f.Roll, func() error {
		users, err := opened.Users(t.Context(), split.Region{}, f.Span)
		if err != nil {
			return err
		}
		return users.Close()
	})
	return hfile, roll
}

// TestADirectoryInThePlaceOfANewFile expects the next step.
func TestADirectoryInThePlaceOfANewFile(t *testing.T) {
	store := files.Store{FS: local.New(), Dir: t.TempDir()}
	tabletest.Load(t, tabletest.Files, store)
	opened, err := files.Open(t.Context(), store.FS, store.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	const name = "d/000002-0000.hfile"
	if err := os.Mkdir(filepath.Join(store.Dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = opened.Stage(t.Context(), name)
	if exit.Of(err) != exit.Usage || !strings.HasSuffix(err.Error(), name+": is a directory: a directory has the name of a new file: move it away, then type the same command again") {
		t.Errorf("%v, want status 64 and the next step", err)
	}
}
