package pieces_test

import (
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
)

// TestPieceKeepsFilesOfOthers puts a file of another program, and a result, into the directory of a piece that is not done. A worker
// and a commit refuse it, and so does a plan. When it is moved away, the piece is done.
func TestPieceKeepsFilesOfOthers(t *testing.T) {
	h, q := extracttest.Crowd(t, 50, 2)
	u := extracttest.Turn{Name: "trails", Workers: 1, PieceSize: 100}
	out := filepath.Join(h.Dir, "out")
	dir := filepath.Join(h.Dir, ".out.partial", "_piece-00000")
	list, err := h.PlanPieces(t.Context(), q, u, out)
	if err != nil {
		t.Fatal(err)
	}
	for what, put := range map[string]func(){
		"a table":       func() { testkit.WriteFile(t, filepath.Join(dir, "manifest.json"), "{}") },
		"a deeper file": func() { testkit.WriteFile(t, filepath.Join(dir, "date=2014-09-01", "precious.txt"), "x") },
		"a result": func() {
			_, failed := h.Extract(t.Context(), q, u, filepath.Join(h.Dir, "made"))
			err = errors.Join(failed, os.Rename(filepath.Join(h.Dir, "made"), dir))
		},
		"files next to a query of the piece": func() {
			testkit.WriteFile(t, filepath.Join(dir, "_question.json"), "{}")
			testkit.WriteFile(t, filepath.Join(dir, "precious.txt"), "x")
		},
	} {
		put()
		if err != nil {
			t.Fatal(err)
		}
		was := dfstest.Snapshot(t, h.FS, dir)
		for range 2 {
			_, err := h.RunPieces(t.Context(), u, list[:1])
			if !errors.Is(err, iofs.ErrExist) || !strings.Contains(err.Error(), dir) || !strings.HasSuffix(err.Error(), "is not of an extract: move it away, and run the piece again") {
				t.Errorf("%s: run-piece: %v", what, err)
			}
		}
		if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, dir), was); diff != "" {
			t.Errorf("%s: after run-piece %s", what, diff)
		}
		if _, err := pieces.Commit(t.Context(), h.FS, list); !errors.Is(err, iofs.ErrExist) {
			t.Errorf("%s: commit: %v", what, err)
		}
		if _, err := h.PlanPieces(t.Context(), q, u, out); !errors.Is(err, iofs.ErrExist) {
			t.Errorf("%s: plan: %v", what, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.RunPieces(t.Context(), u, list); err != nil {
		t.Fatal(err)
	}
	if _, err := pieces.Commit(t.Context(), h.FS, list); err != nil {
		t.Fatal(err)
	}
}
