package pieces_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/extract/query"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

func TestMain(m *testing.M) { extracttest.Main(m) }

// TestAnyPiecesOneResult cuts queries into pieces of any size, which two workers do in any
// order and more than once. The directory has the same bytes as the directory of one process
// that cuts the same pieces. The rows are equal to the oracle's.
func TestAnyPiecesOneResult(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 21, 22, 23) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := testworld.World(seed, 40)
			h := extracttest.Delivered(t, w)
			dice := rand.New(rand.NewPCG(seed, 7))
			for _, regions := range []int{1, 6} {
				h.Load(t, extracttest.Turn{Name: fmt.Sprint("trails", regions), Workers: 2, Memory: 1 << 26, Regions: regions}, w.Span)
			}
			home := testkit.Scratch(t)
			for i, q := range w.Queries(seed, 12) {
				u := extracttest.Turn{
					Name: fmt.Sprint("trails", []int{1, 6}[dice.IntN(2)]), Workers: 1 + dice.IntN(3),
					Unrolled: dice.IntN(4) == 0, Unsure: dice.IntN(4) == 0,
					PieceSize: []int64{1, 1 + dice.Int64N(20), 1 + dice.Int64N(1000), 1 << 40}[i%4],
				}
				what := fmt.Sprintf("query %d, %+v, %+v", i, u, q)
				alone, shared := filepath.Join(home, fmt.Sprint("alone", i)), filepath.Join(home, fmt.Sprint("shared", i))
				if _, err := h.Extract(t.Context(), q, u, alone); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				r := h.RunShared(t, q, u, shared, dice)
				if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, shared), dfstest.Snapshot(t, h.FS, alone)); diff != "" {
					t.Errorf("%s: by pieces %s", what, diff)
				}
				extracttest.Same(t, what, h.Read(t, r, shared), w.Oracle(q))
			}
			if left, err := filepath.Glob(home + "/.*.partial"); err != nil || len(left) > 0 {
				t.Errorf("%q are left, %v", left, err)
			}
		})
	}
}

// TestPiecesOfEveryFormat does the same for every format of a part, with users and without.
func TestPiecesOfEveryFormat(t *testing.T) {
	w := testworld.World(24, 40)
	h := extracttest.Delivered(t, w)
	u := extracttest.Turn{Name: "trails", Workers: 2, Memory: 1 << 26, Regions: 3}
	h.Load(t, u, w.Span)
	dice := rand.New(rand.NewPCG(24, 1))
	for i, o := range []query.Output{
		{}, {Format: query.CSV}, {Format: query.JSONL, Partition: "date"}, {Format: query.Arrow, Shape: "wide"}, {Format: query.CSV, Partition: "behaviour"},
	} {
		for _, users := range [][]string{nil, {"nobody"}, {}} {
			u.Output, u.PieceSize = o, 40
			q := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any", Users: users}
			alone, shared := filepath.Join(h.Dir, fmt.Sprint("alone", i, len(users), users == nil)), filepath.Join(h.Dir, fmt.Sprint("shared", i, len(users), users == nil))
			if _, err := h.Extract(t.Context(), q, u, alone); err != nil {
				t.Fatal(err)
			}
			h.RunShared(t, q, u, shared, dice)
			want := dfstest.Snapshot(t, h.FS, alone)
			if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, shared), want); diff != "" {
				t.Errorf("%+v, users %q: by pieces %s", o, users, diff)
			}
			if n := len(testtable.OnlyParts(want)); users == nil && n < 4 || users != nil && n > 1 {
				t.Errorf("%+v, users %q: %d files", o, users, n)
			}
		}
	}
}

// TestPiecesCoverTheKeysOnce checks the ranges of pieces: small neighbours are one piece, and
// large ranges are cut.
func TestPiecesCoverTheKeysOnce(t *testing.T) {
	h, q := extracttest.Crowd(t, 400, 10) // of 11 events each, in 3 regions
	for size, want := range map[int64][2]int{1: {400, 400}, 110: {36, 46}, 1100: {3, 6}, 3000: {1, 2}, 1 << 40: {1, 1}} {
		out := filepath.Join(h.Dir, fmt.Sprint("out", size))
		list, err := h.PlanPieces(t.Context(), q, extracttest.Turn{Name: "trails", Workers: 2, PieceSize: size}, out)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(list); n < want[0] || n > want[1] {
			t.Errorf("of %d events each there are %d pieces, want %d to %d", size, n, want[0], want[1])
		}
		for i, p := range list {
			if i == 0 && len(p.From) > 0 || i > 0 && string(p.From) != string(list[i-1].Until) || (i == len(list)-1) != (len(p.Until) == 0) {
				t.Errorf("piece %d of %d is from %q to %q", i, len(list), p.From, p.Until)
			}
			if p.Piece != i || p.Of != len(list) || p.Plan != list[0].Plan {
				t.Errorf("piece %d says %+v", i, p.Header)
			}
		}
	}
}

// TestPlanningAgainChangesNothing plans twice, with pieces done in between.
func TestPlanningAgainChangesNothing(t *testing.T) {
	h, q := extracttest.Crowd(t, 200, 5)
	u := extracttest.Turn{Name: "trails", Workers: 1, PieceSize: 300}
	out := filepath.Join(h.Dir, "out")
	list, err := h.PlanPieces(t.Context(), q, u, out)
	if err != nil || len(list) < 3 {
		t.Fatalf("%d pieces, %v", len(list), err)
	}
	if _, err := h.RunPieces(t.Context(), u, list[:2]); err != nil {
		t.Fatal(err)
	}
	u.Workers = 3
	again, err := h.PlanPieces(t.Context(), q, u, out)
	if err != nil {
		t.Fatal(err)
	}
	was, _ := json.Marshal(list)
	is, _ := json.Marshal(again)
	if string(was) != string(is) {
		t.Errorf("planned again it is\n%s\nwant\n%s", is, was)
	}
	if r, err := h.RunPieces(t.Context(), u, again[:2]); err != nil || !r.Already {
		t.Errorf("pieces that are done: %+v, %v", r, err)
	}
	if _, err := pieces.Commit(t.Context(), h.FS, again); !errors.Is(err, piece.ErrMissing) || !strings.Contains(err.Error(), fmt.Sprintf("pieces 2-%d of %d", len(list)-1, len(list))) {
		t.Errorf("commit of a plan with two finished pieces: %v", err)
	}
	if r, err := h.RunPieces(t.Context(), u, again); err != nil || r.Already {
		t.Errorf("all pieces: %+v, %v", r, err)
	}
	if _, err := pieces.Commit(t.Context(), h.FS, again); err != nil {
		t.Fatal(err)
	}
	// All of it once more.
	if _, err := pieces.Commit(t.Context(), h.FS, again); !errors.Is(err, pieces.ErrNothing) {
		t.Errorf("commit again: %v, want nothing to do", err)
	}
	if r, err := h.RunPieces(t.Context(), u, again[1:3]); err != nil || !r.Already {
		t.Errorf("pieces of a plan that is committed: %+v, %v", r, err)
	}
	for _, u.Overwrite = range []bool{false, true} {
		if _, err := h.PlanPieces(t.Context(), q, u, out); !errors.Is(err, pieces.ErrNothing) {
			t.Errorf("plan of a committed result, overwrite %t: %v, want nothing to do", u.Overwrite, err)
		}
	}
	if left := extracttest.Leftovers(t, filepath.Dir(out)); slices.ContainsFunc(left, func(name string) bool { return strings.HasPrefix(name, "/.out") }) {
		t.Errorf("left are %q", left)
	}
}

// wantLocked locks a piece of the plan for out. Another plan and an extract for out must fail.
func wantLocked(t *testing.T, h *extracttest.Fixture, other testworld.Query, u extracttest.Turn, out string) {
	t.Helper()
	lock, err := h.FS.Lock(t.Context(), filepath.Join(h.Dir, ".out.partial", "_piece-00001.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.PlanPieces(t.Context(), other, u, out); !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("while a piece of another plan is done: %v, want ErrLocked", err)
	}
	alone := u
	alone.PieceSize = 0
	if _, err := h.Extract(t.Context(), other, alone, out); !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("an extract while a piece of a plan is done: %v, want ErrLocked", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
}

// planAndRun plans the pieces of an extract, and does all of them.
func planAndRun(t *testing.T, h *extracttest.Fixture, q testworld.Query, u extracttest.Turn, out string) []pieces.Piece {
	t.Helper()
	list, err := h.PlanPieces(t.Context(), q, u, out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.RunPieces(t.Context(), u, list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestOnePlaceOnePlan plans another query for the same directory.
func TestOnePlaceOnePlan(t *testing.T) {
	h, q := extracttest.Crowd(t, 200, 5)
	u := extracttest.Turn{Name: "trails", Workers: 1, PieceSize: 300}
	out := filepath.Join(h.Dir, "out")
	first := planAndRun(t, h, q, u, out)
	other := q
	other.Kinds = []string{"play"}

	wantLocked(t, h, other, u, out)
	second, err := h.PlanPieces(t.Context(), other, u, out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.RunPieces(t.Context(), u, first[:1]); !errors.Is(err, pieces.ErrStale) || !strings.Contains(err.Error(), "another plan") || !strings.Contains(err.Error(), "plan again") {
		t.Errorf("a piece of the plan before: %v", err)
	}
	if _, err := pieces.Commit(t.Context(), h.FS, first); !errors.Is(err, pieces.ErrStale) || !strings.Contains(err.Error(), "has no plan "+first[0].Plan+": plan again") {
		t.Errorf("commit of the plan before: %v", err)
	}
	if _, err := pieces.Commit(t.Context(), h.FS, append(slices.Clone(first), second...)); !errors.Is(err, piece.ErrPiece) {
		t.Errorf("commit of two plans: %v", err)
	}
	if _, err := h.RunPieces(t.Context(), u, second); err != nil {
		t.Fatal(err)
	}
	if _, err := pieces.Commit(t.Context(), h.FS, second); err != nil {
		t.Fatal(err)
	}
	if _, err := h.PlanPieces(t.Context(), q, u, out); !errors.Is(err, os.ErrExist) {
		t.Errorf("plan for an existing directory: %v, want fs.ErrExist", err)
	}
	if _, err := h.RunPieces(t.Context(), u, first[:1]); !errors.Is(err, pieces.ErrStale) || !strings.Contains(err.Error(), "has no plan") {
		t.Errorf("a piece of the plan before, when another is committed: %v", err)
	}
	// The plan with Overwrite replaces the directory.
	u.Overwrite = true
	if _, err := pieces.Commit(t.Context(), h.FS, planAndRun(t, h, q, u, out)); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(h.Dir, "want")
	if _, err := h.Extract(t.Context(), q, u, want); err != nil {
		t.Fatal(err)
	}
	if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, out), dfstest.Snapshot(t, h.FS, want)); diff != "" {
		t.Errorf("replaced: %s", diff)
	}
}

// TestAChangedTableIsPlannedAgain loads another day between plan and run-piece.
func TestAChangedTableIsPlannedAgain(t *testing.T) {
	w := testworld.World(25, 30)
	h := extracttest.Delivered(t, w)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 26, PieceSize: 20}
	first := behaviour.Span{From: w.Span.From, To: w.Span.From}
	h.Load(t, u, first)
	q := testworld.Query{Span: first, Kinds: w.Names(), Active: "any"}
	out := filepath.Join(h.Dir, "out")
	list, err := h.PlanPieces(t.Context(), q, u, out)
	if err != nil || len(list) < 2 {
		t.Fatalf("%d pieces, %v", len(list), err)
	}
	if _, err := h.RunPieces(t.Context(), u, list[:1]); err != nil {
		t.Fatal(err)
	}
	h.Load(t, u, w.Span)
	if r, err := h.RunPieces(t.Context(), u, list[:1]); err != nil || !r.Already {
		t.Errorf("a piece that is done: %+v, %v", r, err)
	}
	if _, err := h.RunPieces(t.Context(), u, list[1:]); !errors.Is(err, pieces.ErrStale) || !strings.Contains(err.Error(), "has changed since the plan") {
		t.Errorf("a piece of a table that changed: %v", err)
	}
	again, err := h.PlanPieces(t.Context(), q, u, out)
	if err != nil || again[0].Plan == list[0].Plan {
		t.Fatalf("planned again it is plan %s, %v; before it was %s", again[0].Plan, err, list[0].Plan)
	}
	if _, err := h.RunPieces(t.Context(), u, again); err != nil {
		t.Fatal(err)
	}
	if _, err := pieces.Commit(t.Context(), h.FS, list); err == nil {
		t.Error("pieces of the plan before were committed")
	}
	if _, err := pieces.Commit(t.Context(), h.FS, again); err != nil {
		t.Fatal(err)
	}
}

// TestAPieceIsWaitedFor holds the lock of a piece for a while, and for too long.
func TestAPieceIsWaitedFor(t *testing.T) {
	h, q := extracttest.Crowd(t, 100, 5)
	u := extracttest.Turn{Name: "trails", Workers: 1}
	out := filepath.Join(h.Dir, "out")
	u.PieceSize = 1 << 40
	list, err := h.PlanPieces(t.Context(), q, u, out)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := h.FS.Lock(t.Context(), filepath.Join(h.Dir, ".out.partial", "_piece-00000.lock"))
	if err != nil {
		t.Fatal(err)
	}
	w := h.Worker(u)
	w.Patience = 0
	if _, err := pieces.Run(t.Context(), w, &list[0]); !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("a worker without patience: %v, want ErrLocked", err)
	}
	refused := make(chan struct{}, 1)
	waiting := *h
	waiting.FS = refusedLocks{h.FS, refused}
	done := make(chan error)
	go func() {
		_, err := waiting.RunPieces(t.Context(), u, list)
		done <- err
	}()
	<-refused
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("a worker that waited: %v", err)
	}
}

// refusedLocks is a file system that reports when a lock is held by another process.
type refusedLocks struct {
	dfs.FS
	refused chan<- struct{}
}

// Lock implements dfs.FS.
func (f refusedLocks) Lock(ctx context.Context, name string) (dfs.Lock, error) {
	l, err := f.FS.Lock(ctx, name)
	if errors.Is(err, dfs.ErrLocked) {
		select {
		case f.refused <- struct{}{}:
		default:
		}
	}
	return l, err
}

// TestAnotherListIsNoticed changes the list of users that a plan left.
func TestAnotherListIsNoticed(t *testing.T) {
	h, q := extracttest.Crowd(t, 100, 5)
	for i := range 50 {
		q.Users = append(q.Users, fmt.Sprintf("%05d", 2*i))
	}
	u := extracttest.Turn{Name: "trails", Workers: 1, PieceSize: 100}
	out := filepath.Join(h.Dir, "out")
	list, err := h.PlanPieces(t.Context(), q, u, out)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(h.Dir, ".out.partial", "_users")
	users, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string][]byte{
		"another user": []byte(strings.ReplaceAll(string(users), "4", "5")), "shorter": users[:len(users)/4], "lengths": []byte(strings.Repeat("\xff", len(users))), "empty": nil,
	} {
		testkit.WriteFile(t, name, string(b))
		if _, err := h.RunPieces(t.Context(), u, list); !errors.Is(err, pieces.ErrStale) || !strings.Contains(err.Error(), "_users is not the list of this plan") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
