package place_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/store/dfs/local"
)

// TestALinkToItselfInThePlaceOfOut has such a link in the place of OUT, or of the hidden directory next to it.
func TestALinkToItselfInThePlaceOfOut(t *testing.T) {
	for name, want := range map[string]struct {
		err  error
		step string
	}{
		"out":          {query.ErrWrong, ": move the link away, or name another directory"},
		".out.partial": {fs.ErrExist, ".out.partial next to it is not of an extract: move it away, or name another directory"},
	} {
		dir := t.TempDir()
		if err := os.Symlink(name, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		target := place.Target{FS: local.New(), Out: filepath.Join(dir, "out"), Homes: []string{filepath.Join(dir, "trails")}}
		if err := target.Check(t.Context()); !errors.Is(err, want.err) || !strings.HasSuffix(err.Error(), want.step) {
			t.Errorf("%s is a link to itself: %v, want %v with the step %q", name, err, want.err, want.step)
		}
	}
}
