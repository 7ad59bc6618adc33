package manifest_test

import (
	"errors"
	"path/filepath"
	"strings"
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
