package pieces_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/extract/place"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// appended reports whether err means that the dates are in the result.
func appended(err error) bool {
	return errors.Is(err, manifest.ErrAppended) || errors.Is(err, pieces.ErrNothing)
}

// tinyGrowing returns a small result that grows by extracts of small pieces.
func tinyGrowing(t *testing.T) *extracttest.Growing {
	t.Helper()
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Regions: 2, PieceSize: 2}
	h.Load(t, u, w.Span)
	q := testworld.Query{Users: append(w.Users, "nobody"), Span: w.Span, Kinds: w.Names(), Active: "any"}
	return extracttest.NewGrowing(t, h, u, q)
}

// byPieces appends span i by pieces.
func byPieces(ctx context.Context, g *extracttest.Growing, fs dfs.FS, i int, out string) error {
	return g.ByPieces(ctx, fs, g.Of(i), g.Turn, out)
}

// TestAppendedPiecesAreAsOfOneProcess appends all days by pieces, and compares each state with the state
// of an extract of one process. It also appends by turns by one process and by pieces.
func TestAppendedPiecesAreAsOfOneProcess(t *testing.T) {
	g := tinyGrowing(t)
	out, mixed := filepath.Join(g.Dir, "pieces", "out"), filepath.Join(g.Dir, "mixed", "out")
	for i := range g.Spans {
		if err := byPieces(t.Context(), g, g.FS, i, out); err != nil {
			t.Fatal(err)
		}
		g.CheckEnd(t, i, out)
		other := g.Append
		if i%2 > 0 {
			other = func(t *testing.T, i int, out string) error { return byPieces(t.Context(), g, g.FS, i, out) }
		}
		if err := other(t, i, mixed); err != nil {
			t.Fatal(err)
		}
		g.CheckEnd(t, i, mixed)
	}
	last := len(g.Spans) - 1
	for i := range g.Spans {
		for _, dir := range []string{out, mixed} {
			if err := byPieces(t.Context(), g, g.FS, i, dir); !appended(err) {
				t.Errorf("%s again: %v, want nothing to do", g.Spans[i], err)
			}
			if err := g.Append(t, i, dir); !errors.Is(err, manifest.ErrAppended) {
				t.Errorf("%s again by one process: %v, want nothing to do", g.Spans[i], err)
			}
			g.CheckEnd(t, last, dir)
		}
	}
}

// TestAppendedPiecesSurviveAnyFault fails each operation of an append of two days by pieces. A reader
// never finds half a day. The same commands then end with the result of an undisturbed append, and
// a third time they have nothing to do.
func TestAppendedPiecesSurviveAnyFault(t *testing.T) {
	g := tinyGrowing(t)
	const at = 1 // two days
	if maps.Equal(testtable.OnlyParts(g.States[at]), testtable.OnlyParts(g.States[at+1])) {
		t.Fatal("the days have no events")
	}
	run := func(fs dfs.FS, out string) error { return byPieces(t.Context(), g, fs, at, out) }
	dfstest.Sweep(t, []dfstest.Mode{0, dfstest.Dead, dfstest.Uncertain}, 60, func(t *testing.T, n int, mode dfstest.Mode) bool {
		return g.SurviveFault(t, at, n, mode, run, appended)
	})
}

// TestKilledCommitsOfAppendsContinue kills the commit of an append at each step with SIGKILL. The next command
// is the same commit, or an append of other days by one process or by pieces: it finishes the killed one. The
// same commit succeeds.
func TestKilledCommitsOfAppendsContinue(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	q.Span.From--
	g := extracttest.NewGrowing(t, h, extracttest.Turn{Name: "trails", Workers: 2, Memory: 64 << 20, Regions: 2, PieceSize: 10_000}, q)
	last := len(g.Spans) - 1
	alone := filepath.Join(h.Dir, "alone", "out")
	g.CopyTo(t, last, alone)
	undisturbed := h.RunShared(t, g.Of(last), g.Turn, alone, rand.New(rand.NewPCG(1, 2)))
	if undisturbed.Events == 0 {
		t.Fatal("the days have no events")
	}
	next := map[string]func(list []pieces.Piece, out string) error{
		"the same commit": func(list []pieces.Piece, _ string) error {
			r, err := pieces.Commit(t.Context(), h.FS, list)
			if err == nil && !maps.Equal(r.Counted(), undisturbed.Counted()) {
				return fmt.Errorf("the counts are %v, want %v", r.Counted(), undisturbed.Counted())
			}
			return err
		},
		"an append of other days": func(_ []pieces.Piece, out string) error { return g.Append(t, 0, out) },
		"a plan of other days":    func(_ []pieces.Piece, out string) error { return byPieces(t.Context(), g, h.FS, 0, out) },
	}
	for _, step := range []string{breakpoint.Publish, breakpoint.Moved, breakpoint.Published} {
		for name, run := range next {
			out := filepath.Join(h.Dir, "killed at "+step+", "+name, "out")
			g.CopyTo(t, last, out)
			list, err := h.PlanPieces(t.Context(), g.Of(last), g.Turn, out)
			if err != nil || len(list) < 2 {
				t.Fatalf("%d pieces, %v, want several", len(list), err)
			}
			extracttest.KillProcess(t, extracttest.Task{Dir: h.Dir, Table: "trails", Out: out, Pieces: list}, extracttest.Moment{Step: step, N: 1})
			g.CheckReaders(t, last, out)
			finishes := name == "the same commit"
			if err := run(list, out); finishes && err != nil || !finishes && !appended(err) {
				t.Errorf("killed at %s, then %s: %v, want no error: %t", step, name, err, finishes)
			}
			g.CheckEnd(t, last, out)
			if _, err := pieces.Commit(t.Context(), h.FS, list); !errors.Is(err, pieces.ErrNothing) {
				t.Errorf("killed at %s, then %s: the same commit: %v, want nothing to do", step, name, err)
			}
		}
	}
}

// TestAKilledCommitOfAnAppendKeepsForeignFiles kills the commit of an append, and puts foreign files next to OUT and into it, or
// removes a file of OUT. The same commit reports this, and removes no foreign file. After the step of its message, the result is whole.
func TestAKilledCommitOfAnAppendKeepsForeignFiles(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	q.Span.From--
	g := extracttest.NewGrowing(t, h, extracttest.Turn{Name: "trails", Workers: 2, Memory: 64 << 20, Regions: 2, PieceSize: 10_000}, q)
	last := len(g.Spans) - 1
	for name, c := range map[string]struct {
		path    string // relative to the directory that has OUT
		removes bool
		says    string
	}{
		"a file in the place":          {".out.partial/mine.txt", false, "mine.txt"},
		"a file in a staged directory": {".out.partial/_answer/date=" + g.Spans[last].To.String() + "/mine.txt", false, "mine.txt"},
		"a file in the result":         {"out/mine.txt", false, "it holds mine.txt"},
		"no _SUCCESS":                  {"out/_SUCCESS", true, "it has no file _SUCCESS"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(h.Dir, name, "out")
			g.CopyTo(t, last, out)
			list, err := h.PlanPieces(t.Context(), g.Of(last), g.Turn, out)
			if err != nil {
				t.Fatal(err)
			}
			extracttest.KillProcess(t, extracttest.Task{Dir: h.Dir, Table: "trails", Out: out, Pieces: list}, extracttest.Moment{Step: breakpoint.Publish, N: 1})
			path := filepath.Join(h.Dir, name, c.path)
			was, _ := os.ReadFile(path)
			if c.removes {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, []byte("mine"), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := pieces.Commit(t.Context(), h.FS, list); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want an error with %q", err, c.says)
			}
			if c.removes {
				err = os.WriteFile(path, was, 0o600)
			} else {
				err = os.Remove(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := pieces.Commit(t.Context(), h.FS, list); err != nil && !errors.Is(err, pieces.ErrNothing) {
				t.Error(err)
			}
			g.CheckEnd(t, last, out)
		})
	}
}

// TestPiecesOfAppendedDatesAreNotCommitted appends the dates of a plan by one process. The commit of the
// plan changes nothing. If the process has not removed the files of the plan, the commit removes them.
func TestPiecesOfAppendedDatesAreNotCommitted(t *testing.T) {
	g := tinyGrowing(t)
	const at = 1
	for _, left := range []bool{false, true} {
		out := filepath.Join(g.Dir, fmt.Sprintf("files of the plan left %t", left), "out")
		g.CopyTo(t, at, out)
		list, err := g.PlanPieces(t.Context(), g.Of(at), g.Turn, out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.RunPieces(t.Context(), g.Turn, list); err != nil {
			t.Fatal(err)
		}
		kept, partial := filepath.Join(g.Dir, "kept"), place.At(g.FS, out).Dir
		if left {
			if err := os.CopyFS(kept, os.DirFS(partial)); err != nil {
				t.Fatal(err)
			}
		}
		alone := *g
		alone.Turn.PieceSize = 0
		if err := alone.Append(t, at, out); err != nil {
			t.Fatal(err)
		}
		if left {
			if err := os.CopyFS(partial, os.DirFS(kept)); err != nil {
				t.Fatal(err)
			}
		}
		before := dfstest.Snapshot(t, g.FS, out)
		_, err = pieces.Commit(t.Context(), g.FS, list)
		if want := map[bool]error{false: pieces.ErrStale, true: manifest.ErrAppended}[left]; !errors.Is(err, want) {
			t.Errorf("commit: %v, want %v", err, want)
		}
		if diff := extracttest.Differ(dfstest.Snapshot(t, g.FS, out), before); diff != "" {
			t.Errorf("after the commit %s", diff)
		}
		if _, err := os.Stat(partial); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", partial, err)
		}
	}
}
