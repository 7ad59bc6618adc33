package pieces_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs/dfstest"
)

// others are things that are in the place of a file.
var others = map[string]func(name string) error{
	"a directory":       func(name string) error { return os.Mkdir(name, 0o755) },
	"a pipe":            func(name string) error { return syscall.Mkfifo(name, 0o600) },
	"a link to itself":  func(name string) error { return os.Symlink(filepath.Base(name), name) },
	"a link to nothing": func(name string) error { return os.Symlink("nothing", name) },
}

// TestSomethingElseInAPlace puts something else in the place of each file and directory of a plan whose pieces are
// done. Each command ends, or says what to do. After that, the commands make the result.
func TestSomethingElseInAPlace(t *testing.T) {
	h, q := extracttest.Crowd(t, 200, 5)
	u := extracttest.Turn{Name: "trails", Workers: 1, PieceSize: 300}
	clean, out, kept := filepath.Join(h.Dir, "clean"), filepath.Join(h.Dir, "out"), filepath.Join(h.Dir, "kept")
	partial := filepath.Join(h.Dir, ".out.partial")
	if _, err := h.Extract(t.Context(), q, u, clean); err != nil {
		t.Fatal(err)
	}
	want := dfstest.Snapshot(t, h.FS, clean)
	list := planAndRun(t, h, q, u, out)
	if err := os.Rename(partial, kept); err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{".", "_question.json", "_answer", "_piece-00000.json", "_piece-00000", "_piece-00000/_question.json", "_piece-00000/_done-00000.json", "_piece-00000/part-00000.parquet"} {
		for i, what := range []string{"a directory", "a directory", "a pipe", "a pipe", "a link to itself", "a link to itself", "a link to nothing", "a link to nothing"} {
			if base == "." && what == "a link to nothing" {
				continue // the next step is to plan again, and the plan refuses the link
			}
			commitFirst, make := i%2 == 0, others[what]
			t.Run(fmt.Sprint(what, " is ", base, ", commit first: ", commitFirst), func(t *testing.T) {
				name := filepath.Join(partial, base)
				if err := errors.Join(os.RemoveAll(partial), os.RemoveAll(out), os.CopyFS(partial, os.DirFS(kept)), os.RemoveAll(name), make(name)); err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(base, "_piece-00000/") && !strings.HasPrefix(filepath.Base(base), "part-") { // read only if the piece is done again
					if err := os.Remove(filepath.Join(partial, "_piece-00000.json")); err != nil {
						t.Fatal(err)
					}
				}
				for range 6 {
					list = tryPieces(t, h, u, list, func() ([]pieces.Piece, error) { return h.PlanPieces(t.Context(), q, u, out) }, name, commitFirst)
					if _, err := os.Stat(out); err == nil {
						break
					}
				}
				if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, out), want); diff != "" {
					t.Errorf("in the end %s", diff)
				}
			})
		}
	}
}

// tryPieces runs pieces and commits them, or commits them before, too. It follows the next step of an error.
func tryPieces(t *testing.T, h *extracttest.Fixture, u extracttest.Turn, list []pieces.Piece, plan func() ([]pieces.Piece, error), name string, commitFirst bool) []pieces.Piece {
	t.Helper()
	step := func(what string, err error) bool {
		t.Helper()
		switch {
		case err == nil:
			return true
		case strings.Contains(err.Error(), "is a directory") || errors.Is(err, syscall.ELOOP) && !strings.Contains(err.Error(), "away"):
			t.Errorf("%s: %v, want what to do", what, err)
		case errors.Is(err, piece.ErrMissing) && what == "commit" && !strings.Contains(err.Error(), "away"):
			return false
		case strings.HasSuffix(err.Error(), ": plan again"):
		case strings.Contains(err.Error(), "away") && strings.Contains(err.Error(), filepath.Base(name)):
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(err.Error(), "plan again") {
				return false
			}
		default:
			t.Fatalf("%s: %v (status %d), want what to do", what, err, exit.Of(err))
		}
		var again []pieces.Piece
		if again, err = plan(); err != nil {
			t.Fatalf("plan again: %v", err)
		}
		list = again
		return false
	}
	if commitFirst {
		if _, err := pieces.Commit(t.Context(), h.FS, list); err == nil || !step("commit", err) && !errors.Is(err, piece.ErrMissing) {
			return list
		}
	}
	_, err := h.RunPieces(t.Context(), u, list)
	if !step("run-piece", err) {
		return list
	}
	_, err = pieces.Commit(t.Context(), h.FS, list)
	step("commit", err)
	return list
}
