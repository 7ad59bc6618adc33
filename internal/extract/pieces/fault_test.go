package pieces_test

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/extract/place"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// TestPiecesSurviveAnyFault fails each operation of plan, run-piece and commit, one after
// the other. After each failure OUT is absent or whole, and the same again ends with the
// result of one process.
func TestPiecesSurviveAnyFault(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Regions: 2}
	h.Load(t, u, w.Span)
	q := testworld.Query{Users: append(w.Users, "nobody"), Span: w.Span, Kinds: w.Names(), Active: "any"}
	sizes := testkit.Pick(map[int64][]dfstest.Mode{1: dfstest.Modes}, map[int64][]dfstest.Mode{1: {0, dfstest.Dead | dfstest.Torn}, 1 << 40: {dfstest.Torn, dfstest.Uncertain, dfstest.Dead}})
	for size, modes := range sizes {
		u.PieceSize = size
		clean := filepath.Join(h.Dir, fmt.Sprint("clean", size))
		if _, err := h.Extract(t.Context(), q, u, clean); err != nil {
			t.Fatal(err)
		}
		want := dfstest.Snapshot(t, h.FS, clean)
		t.Run(fmt.Sprintf("pieces of %d", size), func(t *testing.T) {
			dfstest.Sweep(t, modes, 60, func(t *testing.T, n int, mode dfstest.Mode) bool {
				home := filepath.Join(h.Dir, fmt.Sprintf("home-%d-%d-%d", size, mode, n))
				if err := os.Mkdir(home, 0o755); err != nil {
					t.Fatal(err)
				}
				return pieceFault(t, h, q, u, home, n, mode, want)
			})
		})
	}
}

// pieceFault extracts into a directory of home by pieces with a fault in operation n, and
// again without. It reports whether the extract ended before operation n.
func pieceFault(t *testing.T, h *extracttest.Fixture, q testworld.Query, u extracttest.Turn, home string, n int, mode dfstest.Mode, want map[string]string) (past bool) {
	t.Helper()
	out := filepath.Join(home, "out")
	fault := dfstest.FaultAt(h.FS, n, mode)
	err := h.ByPieces(t.Context(), fault, q, u, out)
	past = fault.Count() <= n
	if past && err != nil {
		t.Fatalf("fault at %d was not reached, and yet: %v", n, err)
	}
	if err != nil && !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("fault at %d: lost the cause: %v", n, err)
	}
	if _, none := os.Stat(out); none == nil {
		if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, out), want); diff != "" {
			t.Errorf("fault at %d (%v): half published: %s", n, err, diff)
		}
	}
	if again := h.ByPieces(t.Context(), h.FS, q, u, out); again != nil && !errors.Is(again, pieces.ErrNothing) {
		t.Fatalf("fault at %d (%v): second run: %v", n, err, again)
	}
	if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, out), want); diff != "" {
		t.Errorf("fault at %d (%v): in the end %s", n, err, diff)
	}
	if third := h.ByPieces(t.Context(), h.FS, q, u, out); !errors.Is(third, pieces.ErrNothing) {
		t.Errorf("fault at %d: the third run says %v, want nothing to do", n, third)
	}
	left := extracttest.Leftovers(t, home)
	inOut := slices.ContainsFunc(left, func(name string) bool { return strings.HasPrefix(name, "/out/") })
	if inOut || len(left) > 0 && mode&(dfstest.Dead|dfstest.Uncertain) == 0 {
		t.Errorf("fault at %d (%v): in the end there is also %q", n, err, left)
	}
	return past
}

// TestACommitTidiesUpAfterOneThatWasKilled kills a commit while it removes the files of the
// pieces, and commits again.
func TestACommitTidiesUpAfterOneThatWasKilled(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Regions: 2, PieceSize: 3}
	h.Load(t, u, w.Span)
	q := testworld.Query{Users: append(w.Users, "nobody"), Span: w.Span, Kinds: w.Names(), Active: "any"}
	out := filepath.Join(h.Dir, "home", "out")
	partial, kept := filepath.Join(h.Dir, "home", ".out.partial"), filepath.Join(h.Dir, "kept")
	list := planAndRun(t, h, q, u, out)
	if err := os.CopyFS(kept, os.DirFS(partial)); err != nil {
		t.Fatal(err)
	}
	if _, err := pieces.Commit(t.Context(), h.FS, list); err != nil {
		t.Fatal(err)
	}
	again := map[string]func() error{
		"commit": func() error { _, err := pieces.Commit(t.Context(), h.FS, list); return err },
		"plan":   func() error { _, err := h.PlanPieces(t.Context(), q, u, out); return err },
	}
	for what, run := range again {
		for _, gone := range []string{"", "_users", "_question.json", "*"} {
			if err := os.CopyFS(partial, os.DirFS(kept)); err != nil {
				t.Fatal(err)
			}
			names, err := filepath.Glob(filepath.Join(partial, gone))
			for _, name := range names {
				if gone != "" {
					err = errors.Join(err, os.RemoveAll(name))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := run(); !errors.Is(err, pieces.ErrNothing) {
				t.Errorf("%s without %q: %v, want nothing to do", what, gone, err)
			}
			if left := extracttest.Leftovers(t, filepath.Dir(out)); len(left) > 0 {
				t.Errorf("%s without %q leaves %q", what, gone, left)
			}
			if _, err := os.Stat(partial); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("%s without %q: the folder is left: %v", what, gone, err)
			}
		}
		notes := filepath.Join(partial, "notes.txt")
		if err := errors.Join(os.Mkdir(partial, 0o755), os.WriteFile(notes, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		if err := run(); !errors.Is(err, pieces.ErrNothing) {
			t.Errorf("%s next to a folder of others: %v, want nothing to do", what, err)
		}
		if _, err := os.Stat(notes); err != nil {
			t.Errorf("%s removed a file of others: %v", what, err)
		}
		os.RemoveAll(partial)
	}
}

// TestTheQueryIsRemovedLast fails each operation by which a commit removes files. As long as a
// file is left, the plan must exist, because it shows to which query the file belongs.
func TestTheQueryIsRemovedLast(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Regions: 2, PieceSize: 3}
	h.Load(t, u, w.Span)
	q := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"}
	dfstest.Sweep(t, []dfstest.Mode{dfstest.Dead}, 10, func(t *testing.T, n int, mode dfstest.Mode) bool {
		home := filepath.Join(h.Dir, fmt.Sprint("home-", n))
		list, err := h.PlanPieces(t.Context(), q, u, filepath.Join(home, "out"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.RunPieces(t.Context(), u, list); err != nil {
			t.Fatal(err)
		}
		fault := dfstest.FaultAt(h.FS, n, mode)
		pieces.Commit(t.Context(), fault, list)
		left, err := os.ReadDir(filepath.Join(home, ".out.partial"))
		if err == nil && len(left) > 0 && !slices.ContainsFunc(left, func(e os.DirEntry) bool { return e.Name() == "_question.json" }) {
			t.Errorf("fault at %d: %v is left without its query", n, left)
		}
		return fault.Count() <= n
	})
}

// TestCommitKeepsAResult fails each operation of a commit that replaces a result. One of
// the two results is in OUT, complete. The same commit then continues, and leaves nothing behind.
func TestCommitKeepsAResult(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Regions: 2, PieceSize: 3}
	h.Load(t, u, w.Span)
	r := extracttest.NewReplaced(t, w, h, u)
	dfstest.Sweep(t, []dfstest.Mode{0, dfstest.Uncertain}, 10, func(t *testing.T, n int, mode dfstest.Mode) bool {
		out := filepath.Join(h.Dir, fmt.Sprintf("home-%d-%d", mode, n), "out")
		if _, err := h.Extract(t.Context(), r.Before, u, out); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("mode %d, fault at %d", mode, n)
		replacing := u
		replacing.Overwrite = true
		list, err := h.PlanPieces(t.Context(), r.After, replacing, out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.RunPieces(t.Context(), u, list); err != nil {
			t.Fatal(err)
		}
		fault := dfstest.FaultAt(h.FS, n, mode)
		_, err = pieces.Commit(t.Context(), fault, list)
		r.CheckOne(t, what, out, err)
		if _, again := pieces.Commit(t.Context(), h.FS, list); again != nil && !errors.Is(again, pieces.ErrNothing) {
			t.Errorf("%s (%v): second commit: %v", what, err, again)
		}
		r.CheckEnd(t, what, out)
		return fault.Count() <= n
	})
}

// errKilled is the error of a command that a test has killed.
var errKilled = errors.New("killed")

// TestAKilledCommitThatReplacesIsUndone kills a commit that replaces a result when OUT does not exist. Whatever command is
// next, it finds the old result in OUT. The same commit publishes the result, unless another plan has replaced its pieces.
func TestAKilledCommitThatReplacesIsUndone(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Regions: 2, PieceSize: 3}
	h.Load(t, u, w.Span)
	extracttest.SaveJob(t, h, w.Job())
	r := extracttest.NewReplaced(t, w, h, u)
	over := u
	over.Overwrite = true
	commit := func(list []pieces.Piece, _ string) error {
		_, err := pieces.Commit(t.Context(), h.FS, list)
		return err
	}
	for name, next := range map[string]struct {
		run  func(list []pieces.Piece, out string) error
		want error
	}{
		"the same commit": {commit, nil},
		"the same plan, not replacing": {func(_ []pieces.Piece, out string) error {
			_, err := h.PlanPieces(t.Context(), r.After, u, out)
			return err
		}, iofs.ErrExist},
		"the same plan": {func(_ []pieces.Piece, out string) error {
			_, err := h.PlanPieces(t.Context(), r.After, over, out)
			return err
		}, nil},
		"the same pieces": {func(list []pieces.Piece, _ string) error { _, err := h.RunPieces(t.Context(), u, list); return err }, nil},
		"an extract of one process": {func(_ []pieces.Piece, out string) error {
			_, err := h.Extract(t.Context(), r.After, u, out)
			return err
		}, iofs.ErrExist},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(h.Dir, name, "out")
			if _, err := h.Extract(t.Context(), r.Before, u, out); err != nil {
				t.Fatal(err)
			}
			list, err := h.PlanPieces(t.Context(), r.After, over, out)
			if err != nil {
				t.Fatal(err)
			}
			extracttest.KillProcess(t, extracttest.Task{Dir: h.Dir, Table: "trails", Out: out, Pieces: list}, extracttest.Moment{Step: breakpoint.Aside, N: 1})
			if err := next.run(list, out); !errors.Is(err, next.want) {
				t.Errorf("%v, want %v", err, next.want)
			}
			if name != "the same pieces" { // which do not take the lock of OUT
				r.CheckOne(t, name, out, errKilled)
			}
			if err := commit(list, out); err != nil && !errors.Is(err, pieces.ErrNothing) {
				t.Error(err)
			}
			r.CheckEnd(t, name, out)
		})
	}
}

// TestKilledPiecesContinue kills workers and commits with SIGKILL. Other workers continue until
// the result exists.
func TestKilledPiecesContinue(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	for name, e := range map[string]extracttest.Task{
		"everything":              {Query: q},
		"conditions of rows only": {Query: extracttest.Picky(q), Unrolled: true},
	} {
		t.Run(name, func(t *testing.T) {
			u := extracttest.Turn{Name: "trails", Workers: 2, PieceSize: extracttest.SmallSizes.PartEvents * 5 / 4, Unrolled: e.Unrolled}
			clean := filepath.Join(h.Dir, "clean pieces", name)
			if _, err := h.Extract(t.Context(), e.Query, u, clean); err != nil {
				t.Fatal(err)
			}
			want := dfstest.Snapshot(t, h.FS, clean)
			e.Dir, e.Table = h.Dir, "trails"
			e.Out = filepath.Join(h.Dir, "pieces", name, "whole")
			e.Pieces = linesOf(t, h, e, u)
			extracttest.RunProcess(t, e)
			if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, e.Out), want); diff != "" || len(e.Pieces) < 2 {
				t.Fatalf("undisturbed, by %d pieces, %s", len(e.Pieces), diff)
			}
			extracttest.KillTwice(t, h, filepath.Join(h.Dir, "pieces", name), want, func(out string) extracttest.Task {
				e.Out = out
				e.Pieces = linesOf(t, h, e, u)
				return e
			})
		})
	}
}

func linesOf(t *testing.T, h *extracttest.Fixture, e extracttest.Task, u extracttest.Turn) []pieces.Piece {
	t.Helper()
	list, err := h.PlanPieces(t.Context(), e.Query, u, e.Out)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestAPieceContinuesAfterItsLastWholePart fails a piece as it writes its last part: the
// next worker writes that part alone.
func TestAPieceContinuesAfterItsLastWholePart(t *testing.T) {
	h, q := extracttest.SeveralParts(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, PieceSize: 1 << 40}
	out := filepath.Join(h.Dir, "out")
	list, err := h.PlanPieces(t.Context(), q, u, out)
	if err != nil {
		t.Fatal(err)
	}
	broken := *h
	broken.FS = extracttest.Refusing{FS: h.FS, Base: "part-00002.parquet"}
	if _, err := broken.RunPieces(t.Context(), u, list); !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("%v, want ErrInjected", err)
	}
	spy := &extracttest.Created{FS: h.FS}
	watched := *h
	watched.FS = spy
	if _, err := watched.RunPieces(t.Context(), u, list); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(spy.Parts(), []string{"part-00002.parquet"}) {
		t.Errorf("going on wrote %q, want the part that was not finished", spy.Parts())
	}
}

// TestContinuingCountsOnce stops an extract between its last part and its end: users who
// were read after the last one who comes out are counted, and once.
func TestContinuingCountsOnce(t *testing.T) {
	h, q := extracttest.Crowd(t, 400, 4)
	q.Conditions.Where = testworld.Where{Text: "play.seconds < 5"}
	q.Kinds = []string{"play"}
	for _, size := range []int64{0, 300} {
		u := extracttest.Turn{Name: "trails", Workers: 1, Unrolled: true, PieceSize: size}
		clean := filepath.Join(h.Dir, fmt.Sprint("clean", size))
		if _, err := h.Extract(t.Context(), q, u, clean); err != nil {
			t.Fatal(err)
		}
		broken := *h
		broken.FS = extracttest.Refusing{FS: h.FS, Base: place.SuccessName}
		out := filepath.Join(h.Dir, fmt.Sprint("out", size))
		if _, err := broken.Extract(t.Context(), q, u, out); !errors.Is(err, dfstest.ErrInjected) {
			t.Fatalf("%v, want ErrInjected", err)
		}
		if _, err := h.Extract(t.Context(), q, u, out); err != nil {
			t.Fatal(err)
		}
		if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, out), dfstest.Snapshot(t, h.FS, clean)); diff != "" {
			t.Errorf("pieces of %d: in the end %s", size, diff)
		}
	}
}

// TestAWorkerThatIsStoppedReleasesItsPiece ends a worker by its context. The worker has released the piece.
func TestAWorkerThatIsStoppedReleasesItsPiece(t *testing.T) {
	h, q := extracttest.Crowd(t, 500, 20)
	u := extracttest.Turn{Name: "trails", Workers: 2, PieceSize: 2000}
	out := filepath.Join(h.Dir, "out")
	list, err := h.PlanPieces(t.Context(), q, u, out)
	if err != nil {
		t.Fatal(err)
	}
	stopped := 0
	for done := false; !done; {
		ctx, cancel := context.WithCancel(t.Context())
		ended := *h
		ended.FS = &endsAt{FS: h.FS, left: stopped + 1, end: cancel}
		_, err := ended.RunPieces(ctx, u, list)
		done = err == nil
		if !done && ctx.Err() == nil {
			t.Fatalf("a worker that was not stopped: %v", err)
		}
		cancel()
		if !done {
			stopped++
		}
	}
	if stopped < 10 {
		t.Errorf("only %d workers were stopped", stopped)
	}
	impatient := h.Worker(u)
	impatient.Patience = 0
	for i := range list {
		if _, err := pieces.Run(t.Context(), impatient, &list[i]); err != nil {
			t.Errorf("after it was stopped: %v", err)
		}
	}
	if _, err := pieces.Commit(t.Context(), h.FS, list); err != nil {
		t.Error(err)
	}
}

// endsAt is files that end a context at an operation, left counting down to it.
type endsAt struct {
	dfs.FS
	mu   sync.Mutex
	left int
	end  func()
}

func (f *endsAt) count() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left == 0 {
		f.end()
	}
}

// Open implements dfs.FS.
func (f *endsAt) Open(ctx context.Context, name string) (dfs.File, error) {
	f.count()
	return f.FS.Open(ctx, name)
}

// Create implements dfs.FS.
func (f *endsAt) Create(ctx context.Context, name string) (dfs.Pending, error) {
	f.count()
	return f.FS.Create(ctx, name)
}

// Stat implements dfs.FS.
func (f *endsAt) Stat(ctx context.Context, name string) (dfs.Info, error) {
	f.count()
	return f.FS.Stat(ctx, name)
}

// Lock implements dfs.FS. The context ends when the lock is held.
func (f *endsAt) Lock(ctx context.Context, name string) (dfs.Lock, error) {
	l, err := f.FS.Lock(ctx, name)
	f.count()
	return l, err
}
