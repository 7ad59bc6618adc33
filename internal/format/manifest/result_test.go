package manifest_test

import (
	"path/filepath"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

func TestStateOfAFile(t *testing.T) {
	dir := t.TempDir()
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
		{"", 0, manifest.OtherSize}, // a directory
	} {
		got, err := manifest.StateOf(t.Context(), local.New(), filepath.Join(dir, c.name), c.size)
		if err != nil || got != c.want {
			t.Errorf("the state of %q, written with %d bytes, is %q, %v; want %q", c.name, c.size, got, err, c.want)
		}
	}
}
