package manifest_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

func TestStateOfAFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"loop", manifest.SuccessName} { // links to themselves
		if err := os.Symlink(name, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if complete, err := manifest.IsComplete(t.Context(), local.New(), dir); complete || err != nil {
		t.Errorf("a result whose %s is a link to itself is complete: %t, %v", manifest.SuccessName, complete, err)
	}
	testkit.WriteFile(t, filepath.Join(dir, "part"), "four")
	for _, c := range []struct {
		name string
		size int64
		want manifest.FileState
	}{
		{"part", 4, manifest.Whole},
		{"part", 3, manifest.OtherSize},
		{"part", 5, manifest.OtherSize},
		{"none", 0, manifest.Missing},
		{"loop", 4, manifest.Missing},
		{"", 0, manifest.OtherSize}, // a directory
	} {
		got, err := manifest.StateOf(t.Context(), local.New(), filepath.Join(dir, c.name), c.size)
		if err != nil || got != c.want {
			t.Errorf("the state of %q, written with %d bytes, is %q, %v; want %q", c.name, c.size, got, err, c.want)
		}
	}
}

// TestAPipeIsNoFileOfAResult puts pipes in the places of the files of a result.
func TestAPipeIsNoFileOfAResult(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"part", manifest.SuccessName} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := manifest.BytesOf(t.Context(), local.New(), filepath.Join(dir, "part"), 0, "ef46db3751d8e999"); got != manifest.OtherSize || err != nil {
		t.Errorf("the state of a pipe is %q, %v; want %q", got, err, manifest.OtherSize)
	}
	if complete, err := manifest.IsComplete(t.Context(), local.New(), dir); complete || err != nil {
		t.Errorf("a result whose %s is a pipe is complete: %t, %v", manifest.SuccessName, complete, err)
	}
}
