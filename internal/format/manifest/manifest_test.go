package manifest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// TestReadSaysWhatIsWrong checks the errors of Read. A file of a newer release is not damaged, and
// a ledger is no manifest.
func TestReadSaysWhatIsWrong(t *testing.T) {
	name := filepath.Join(t.TempDir(), "000001.json")
	read := func(text string) error {
		t.Helper()
		testkit.WriteFile(t, name, text)
		return manifest.Read(t.Context(), local.New(), name, new(manifest.Load))
	}
	for _, text := range []string{"{", `{"version": 0}`} {
		if err := read(text); !errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "damaged ledger") {
			t.Errorf("%s: got %v, want a damaged ledger", text, err)
		}
	}
	if err := read(`{"version": 3}`); !errors.Is(err, manifest.ErrNewer) || errors.Is(err, manifest.ErrDamaged) || !strings.Contains(err.Error(), "upgrade") {
		t.Errorf("got %v, want a newer release and what to do", err)
	}
}

// TestReadRefusesWhatIsNoFile puts a directory, a link to itself and a pipe in the place of a ledger.
func TestReadRefusesWhatIsNoFile(t *testing.T) {
	for want, make := range map[string]func(name string) error{
		"a directory is in its place":              func(name string) error { return os.Mkdir(name, 0o755) },
		"a link to itself is in its place":         func(name string) error { return os.Symlink(filepath.Base(name), name) },
		"a pipe, socket or device is in its place": func(name string) error { return syscall.Mkfifo(name, 0o600) },
	} {
		name := filepath.Join(t.TempDir(), "000001.json")
		if err := make(name); err != nil {
			t.Fatal(err)
		}
		err := manifest.Read(t.Context(), local.New(), name, new(manifest.Load))
		if want := name + ": damaged ledger: " + want; !errors.Is(err, manifest.ErrDamaged) || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
