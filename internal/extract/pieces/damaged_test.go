package pieces_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/extract/place"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs/dfstest"
)

// TestCommitFindsDamagedParts damages a file of a piece that is done: before the commit, or
// after a commit was killed that had collected the parts. The commit names the piece and
// publishes nothing; the piece is done again, and then the commit makes the result.
func TestCommitFindsDamagedParts(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	q.Users = []string{"nobody", "00003", "00250", "00499"}
	for i := range 400 {
		q.Users = append(q.Users, fmt.Sprintf("%05d", i))
	}
	u := extracttest.Turn{Name: "trails", Workers: 1, PieceSize: extracttest.SmallSizes.PartEvents / 2}
	clean := filepath.Join(h.Dir, "clean")
	if _, err := h.Extract(t.Context(), q, u, clean); err != nil {
		t.Fatal(err)
	}
	want := dfstest.Snapshot(t, h.FS, clean)
	for _, x := range []struct {
		file   string
		killed bool // the commit, before
	}{
		{"_piece-00001/part-00000.parquet", false},
		{"_piece-*/" + notfound.FileName, false},
		{"_answer/part-00001.parquet", true},
	} {
		for i, damage := range extracttest.Damages {
			t.Run(x.file+" is "+damage.Name, func(t *testing.T) {
				out := filepath.Join(h.Dir, fmt.Sprint(strings.ReplaceAll(x.file, "/", "-"), i))
				list := linesOf(t, h, extracttest.Task{Query: q, Out: out}, u)
				if _, err := h.RunPieces(t.Context(), u, list); err != nil || len(list) < 2 {
					t.Fatalf("%d pieces, %v", len(list), err)
				}
				if x.killed {
					if _, err := pieces.Commit(t.Context(), extracttest.Refusing{FS: h.FS, Base: place.SuccessName}, list); !errors.Is(err, dfstest.ErrInjected) {
						t.Fatalf("%v, want ErrInjected", err)
					}
				}
				names, err := filepath.Glob(filepath.Join(h.Dir, "."+filepath.Base(out)+".partial", x.file))
				if err != nil || len(names) != 1 {
					t.Fatalf("%q, %v; want one file", names, err)
				}
				damage.Do(t, names[0])
				commitsAgain(t, h, u, list)
				if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, out), want); diff != "" {
					t.Errorf("in the end %s", diff)
				}
			})
		}
	}
}

// commitsAgain commits pieces with a damaged one, does them again, and commits them.
func commitsAgain(t *testing.T, h *extracttest.Fixture, u extracttest.Turn, list []pieces.Piece) {
	t.Helper()
	for range 2 {
		_, err := pieces.Commit(t.Context(), h.FS, list)
		if !errors.Is(err, piece.ErrMissing) || !strings.Contains(err.Error(), "piece ") {
			t.Errorf("commit: %v, want ErrMissing that names the piece", err)
		}
		if _, err := os.Stat(list[0].Out); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("--out is there: %v", err)
		}
	}
	again := 0
	for i := range list {
		r, err := h.RunPieces(t.Context(), u, list[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		if !r.Already {
			again++
		}
	}
	if again != 1 {
		t.Errorf("%d pieces were done again, want one", again)
	}
	if _, err := pieces.Commit(t.Context(), h.FS, list); err != nil {
		t.Fatal(err)
	}
}

// TestAReportOfAnotherPlanIsNoReport puts the report of an earlier plan in the place of one of the plan, or cuts one short. The
// plan is made again with one finished piece less, and only that piece is done again.
func TestAReportOfAnotherPlanIsNoReport(t *testing.T) {
	h, q := extracttest.Crowd(t, 200, 5)
	u := extracttest.Turn{Name: "trails", Workers: 1, PieceSize: 300}
	out := filepath.Join(h.Dir, "out")
	report := filepath.Join(h.Dir, ".out.partial", "_piece-00001.json")
	read := func() []byte {
		b, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	other := q
	other.Kinds = []string{"play"}
	planAndRun(t, h, other, u, out)
	older := read()
	list := planAndRun(t, h, q, u, out)
	for what, b := range map[string][]byte{"of another plan": older, "cut short": read()[:40]} {
		if err := os.WriteFile(report, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := pieces.Commit(t.Context(), h.FS, list); !errors.Is(err, piece.ErrMissing) || !strings.Contains(err.Error(), "piece 1 of") {
			t.Errorf("%s: commit: %v, want that piece 1 is missing", what, err)
		}
		c, err := h.Config(t.Context(), q, u, out)
		if err != nil {
			t.Fatal(err)
		}
		_, planned, err := pieces.Plan(t.Context(), c, c.Table.Info().Address, pieces.Access{})
		if err := errors.Join(err, c.Table.Close()); err != nil || planned.Plan != list[0].Plan || planned.Done != len(list)-1 {
			t.Fatalf("%s: planned again is %+v, %v; want the same plan with %d of %d pieces done", what, planned, err, len(list)-1, len(list))
		}
		for n := range list {
			if r, err := h.RunPieces(t.Context(), u, list[n:n+1]); err != nil || r.Already != (n != 1) {
				t.Errorf("%s: piece %d: %+v, %v", what, n, r, err)
			}
		}
	}
	if _, err := pieces.Commit(t.Context(), h.FS, list); err != nil {
		t.Fatal(err)
	}
}

// TestAnEmptyPartIsChecked damages the part of a result without users.
func TestAnEmptyPartIsChecked(t *testing.T) {
	h, q := extracttest.Crowd(t, 20, 1)
	q.Users = []string{"nobody"}
	u := extracttest.Turn{Name: "trails", Workers: 1, PieceSize: 1}
	for i, damage := range extracttest.Damages {
		out := filepath.Join(h.Dir, fmt.Sprint("out", i))
		list := linesOf(t, h, extracttest.Task{Query: q, Out: out}, u)
		if _, err := h.RunPieces(t.Context(), u, list); err != nil {
			t.Fatal(err)
		}
		partial := filepath.Join(h.Dir, "."+filepath.Base(out)+".partial")
		damage.Do(t, filepath.Join(partial, "_none/part-00000.parquet"))
		if _, err := pieces.Commit(t.Context(), h.FS, list); err == nil || !strings.Contains(err.Error(), "plan again") {
			t.Errorf("%s: commit: %v, want an error that says what to do", damage.Name, err)
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: --out is there: %v", damage.Name, err)
		}
	}
}
