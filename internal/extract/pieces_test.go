package extract_test

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
	"sync"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/extract/query"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/table"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// plan cuts a question into pieces, as they are once they have been lines.
func (h *fixture) plan(ctx context.Context, q testworld.Question, u turn, out string) ([]pieces.Piece, error) {
	c, err := h.asks(ctx, q, u, out)
	if err != nil {
		return nil, err
	}
	list, _, err := pieces.Plan(ctx, c, c.Table.Info().Address, pieces.Access{})
	err = errors.Join(err, c.Table.Close())
	for i := range list {
		line, fail := json.Marshal(list[i])
		var p pieces.Piece
		err = errors.Join(err, fail, piece.Decode(line, &p))
		list[i] = p
	}
	return list, err
}

// worker does pieces of the table.
func (h *fixture) worker(u turn) pieces.Worker {
	return pieces.Worker{
		FS: h.fs, Workers: u.workers, Sizes: h.sizes, Patience: time.Minute,
		Open: func(ctx context.Context, _ *pieces.Piece) (table.Table, func() error, error) {
			t, err := h.open(ctx, u)
			if err != nil {
				return nil, nil, err
			}
			return t, t.Close, nil
		},
	}
}

// do does some pieces, one after the other.
func (h *fixture) do(ctx context.Context, u turn, list []pieces.Piece) (pieces.Result, error) {
	var all pieces.Result
	for i := range list {
		r, err := pieces.Run(ctx, h.worker(u), &list[i])
		if err != nil {
			return all, err
		}
		all.Add(r)
	}
	return all, nil
}

// shared has two workers do pieces in any order, some of them again, and commits them.
func (h *fixture) shared(t *testing.T, q testworld.Question, u turn, out string, dice *rand.Rand) extract.Result {
	t.Helper()
	list, err := h.plan(t.Context(), q, u, out)
	if err != nil {
		t.Fatalf("plan %+v: %v", q, err)
	}
	var g sync.WaitGroup
	for range 2 {
		var order []pieces.Piece // most of them, some twice
		for _, p := range list {
			for range dice.IntN(3) {
				order = append(order, p)
			}
		}
		dice.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		g.Go(func() {
			if _, err := h.do(t.Context(), u, order); err != nil {
				t.Errorf("a worker: %v", err)
			}
		})
	}
	g.Wait()
	if _, err := h.do(t.Context(), u, list); err != nil { // what both have left, and the others again
		t.Errorf("again: %v", err)
	}
	r, err := pieces.Commit(t.Context(), h.fs, list)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return r
}

// TestAnyPiecesOneAnswer cuts queries into pieces of any size, which two workers do in any
// order and more than once. The directory has the same bytes as the directory of one process
// that cuts the same pieces. The rows are equal to the oracle's.
func TestAnyPiecesOneAnswer(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 21, 22, 23) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := testworld.World(seed, 40)
			h := inhabit(t, w)
			dice := rand.New(rand.NewPCG(seed, 7))
			for _, regions := range []int{1, 6} {
				h.load(t, turn{name: fmt.Sprint("trails", regions), workers: 2, memory: 1 << 26, regions: regions}, w.Span)
			}
			home := testkit.Scratch(t)
			for i, q := range w.Questions(seed, 12) {
				u := turn{
					name: fmt.Sprint("trails", []int{1, 6}[dice.IntN(2)]), workers: 1 + dice.IntN(3),
					unrolled: dice.IntN(4) == 0, unsure: dice.IntN(4) == 0,
					pieceSize: []int64{1, 1 + dice.Int64N(20), 1 + dice.Int64N(1000), 1 << 40}[i%4],
				}
				what := fmt.Sprintf("question %d, %+v, %+v", i, u, q)
				alone, shared := filepath.Join(home, fmt.Sprint("alone", i)), filepath.Join(home, fmt.Sprint("shared", i))
				if _, err := h.ask(t.Context(), q, u, alone); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				r := h.shared(t, q, u, shared, dice)
				if diff := differ(dfstest.Snapshot(t, h.fs, shared), dfstest.Snapshot(t, h.fs, alone)); diff != "" {
					t.Errorf("%s: by pieces %s", what, diff)
				}
				same(t, what, h.read(t, r, shared), w.Oracle(q))
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
	h := inhabit(t, w)
	u := turn{name: "trails", workers: 2, memory: 1 << 26, regions: 3}
	h.load(t, u, w.Span)
	dice := rand.New(rand.NewPCG(24, 1))
	for i, o := range []query.Output{
		{}, {Format: query.CSV}, {Format: query.JSONL, Partition: "date"}, {Format: query.Arrow, Shape: "wide"}, {Format: query.CSV, Partition: "behaviour"},
	} {
		for _, users := range [][]string{nil, {"nobody"}, {}} {
			u.output, u.pieceSize = o, 40
			q := testworld.Question{Span: w.Span, Kinds: w.Names(), Active: "any", Users: users}
			alone, shared := filepath.Join(h.dir, fmt.Sprint("alone", i, len(users), users == nil)), filepath.Join(h.dir, fmt.Sprint("shared", i, len(users), users == nil))
			if _, err := h.ask(t.Context(), q, u, alone); err != nil {
				t.Fatal(err)
			}
			h.shared(t, q, u, shared, dice)
			want := dfstest.Snapshot(t, h.fs, alone)
			if diff := differ(dfstest.Snapshot(t, h.fs, shared), want); diff != "" {
				t.Errorf("%+v, users %q: by pieces %s", o, users, diff)
			}
			if n := len(onlyParts(want)); users == nil && n < 4 || users != nil && n > 1 {
				t.Errorf("%+v, users %q: %d files", o, users, n)
			}
		}
	}
}

// TestPiecesCoverTheKeysOnce checks the ranges of pieces: small neighbours are one piece, and
// large ranges are cut.
func TestPiecesCoverTheKeysOnce(t *testing.T) {
	h, q := crowd(t, 400, 10) // of 11 behaviours each, in 3 regions
	for size, want := range map[int64][2]int{1: {400, 400}, 110: {36, 46}, 1100: {3, 6}, 3000: {1, 2}, 1 << 40: {1, 1}} {
		out := filepath.Join(h.dir, fmt.Sprint("out", size))
		list, err := h.plan(t.Context(), q, turn{name: "trails", workers: 2, pieceSize: size}, out)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(list); n < want[0] || n > want[1] {
			t.Errorf("of %d behaviours each there are %d pieces, want %d to %d", size, n, want[0], want[1])
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
	h, q := crowd(t, 200, 5)
	u := turn{name: "trails", workers: 1, pieceSize: 300}
	out := filepath.Join(h.dir, "out")
	list, err := h.plan(t.Context(), q, u, out)
	if err != nil || len(list) < 3 {
		t.Fatalf("%d pieces, %v", len(list), err)
	}
	if _, err := h.do(t.Context(), u, list[:2]); err != nil {
		t.Fatal(err)
	}
	u.workers = 3
	again, err := h.plan(t.Context(), q, u, out)
	if err != nil {
		t.Fatal(err)
	}
	was, _ := json.Marshal(list)
	is, _ := json.Marshal(again)
	if string(was) != string(is) {
		t.Errorf("planned again it is\n%s\nwant\n%s", is, was)
	}
	if r, err := h.do(t.Context(), u, again[:2]); err != nil || !r.Already {
		t.Errorf("pieces that are done: %+v, %v", r, err)
	}
	if _, err := pieces.Commit(t.Context(), h.fs, again); !errors.Is(err, piece.ErrMissing) || !strings.Contains(err.Error(), fmt.Sprintf("pieces 2-%d of %d", len(list)-1, len(list))) {
		t.Errorf("commit of a plan of which two pieces are done: %v", err)
	}
	if r, err := h.do(t.Context(), u, again); err != nil || r.Already {
		t.Errorf("all pieces: %+v, %v", r, err)
	}
	if _, err := pieces.Commit(t.Context(), h.fs, again); err != nil {
		t.Fatal(err)
	}
	// All of it once more.
	if _, err := pieces.Commit(t.Context(), h.fs, again); !errors.Is(err, pieces.ErrNothing) {
		t.Errorf("commit again: %v, want nothing to do", err)
	}
	if r, err := h.do(t.Context(), u, again[1:3]); err != nil || !r.Already {
		t.Errorf("pieces of a plan that is committed: %+v, %v", r, err)
	}
	for _, u.overwrite = range []bool{false, true} {
		if _, err := h.plan(t.Context(), q, u, out); !errors.Is(err, pieces.ErrNothing) {
			t.Errorf("plan of what is committed, overwrite %t: %v, want nothing to do", u.overwrite, err)
		}
	}
	if left := leftovers(t, filepath.Dir(out)); slices.ContainsFunc(left, func(name string) bool { return strings.HasPrefix(name, "/.out") }) {
		t.Errorf("left are %q", left)
	}
}

// TestOnePlaceOnePlan plans another question for the same directory.
func TestOnePlaceOnePlan(t *testing.T) {
	h, q := crowd(t, 200, 5)
	u := turn{name: "trails", workers: 1, pieceSize: 300}
	out := filepath.Join(h.dir, "out")
	first, err := h.plan(t.Context(), q, u, out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.do(t.Context(), u, first); err != nil {
		t.Fatal(err)
	}
	other := q
	other.Kinds = []string{"play"}

	lock, err := h.fs.Lock(t.Context(), filepath.Join(h.dir, ".out.partial", "_piece-00001.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.plan(t.Context(), other, u, out); !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("while a piece of another plan is done: %v, want ErrLocked", err)
	}
	alone := u
	alone.pieceSize = 0
	if _, err := h.ask(t.Context(), other, alone, out); !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("an extract while a piece of a plan is done: %v, want ErrLocked", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}

	second, err := h.plan(t.Context(), other, u, out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.do(t.Context(), u, first[:1]); !errors.Is(err, pieces.ErrStale) || !strings.Contains(err.Error(), "another plan") || !strings.Contains(err.Error(), "plan again") {
		t.Errorf("a piece of the plan before: %v", err)
	}
	if _, err := pieces.Commit(t.Context(), h.fs, first); !errors.Is(err, pieces.ErrStale) || !strings.Contains(err.Error(), "has no plan "+first[0].Plan+": plan again") {
		t.Errorf("commit of the plan before: %v", err)
	}
	if _, err := pieces.Commit(t.Context(), h.fs, append(slices.Clone(first), second...)); !errors.Is(err, piece.ErrPiece) {
		t.Errorf("commit of two plans: %v", err)
	}
	if _, err := h.do(t.Context(), u, second); err != nil {
		t.Fatal(err)
	}
	if _, err := pieces.Commit(t.Context(), h.fs, second); err != nil {
		t.Fatal(err)
	}
	if _, err := h.plan(t.Context(), q, u, out); !errors.Is(err, os.ErrExist) {
		t.Errorf("plan for a directory that is there: %v, want that it exists", err)
	}
	if _, err := h.do(t.Context(), u, first[:1]); !errors.Is(err, pieces.ErrStale) || !strings.Contains(err.Error(), "has no plan") {
		t.Errorf("a piece of the plan before, when another is committed: %v", err)
	}
	// To replace it is said in the plan.
	u.overwrite = true
	third, err := h.plan(t.Context(), q, u, out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.do(t.Context(), u, third); err != nil {
		t.Fatal(err)
	}
	if _, err := pieces.Commit(t.Context(), h.fs, third); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(h.dir, "want")
	if _, err := h.ask(t.Context(), q, u, want); err != nil {
		t.Fatal(err)
	}
	if diff := differ(dfstest.Snapshot(t, h.fs, out), dfstest.Snapshot(t, h.fs, want)); diff != "" {
		t.Errorf("replaced: %s", diff)
	}
}

// TestAChangedTableIsPlannedAgain loads another day between plan and run-piece.
func TestAChangedTableIsPlannedAgain(t *testing.T) {
	w := testworld.World(25, 30)
	h := inhabit(t, w)
	u := turn{name: "trails", workers: 1, memory: 1 << 26, pieceSize: 20}
	first := behaviour.Span{From: w.Span.From, To: w.Span.From}
	h.load(t, u, first)
	q := testworld.Question{Span: first, Kinds: w.Names(), Active: "any"}
	out := filepath.Join(h.dir, "out")
	list, err := h.plan(t.Context(), q, u, out)
	if err != nil || len(list) < 2 {
		t.Fatalf("%d pieces, %v", len(list), err)
	}
	if _, err := h.do(t.Context(), u, list[:1]); err != nil {
		t.Fatal(err)
	}
	h.load(t, u, w.Span)
	if r, err := h.do(t.Context(), u, list[:1]); err != nil || !r.Already {
		t.Errorf("a piece that is done: %+v, %v", r, err)
	}
	if _, err := h.do(t.Context(), u, list[1:]); !errors.Is(err, pieces.ErrStale) || !strings.Contains(err.Error(), "has changed since the plan") {
		t.Errorf("a piece of a table that changed: %v", err)
	}
	again, err := h.plan(t.Context(), q, u, out)
	if err != nil || again[0].Plan == list[0].Plan {
		t.Fatalf("planned again it is plan %s, %v; before it was %s", again[0].Plan, err, list[0].Plan)
	}
	if _, err := h.do(t.Context(), u, again); err != nil {
		t.Fatal(err)
	}
	if _, err := pieces.Commit(t.Context(), h.fs, list); err == nil {
		t.Error("pieces of the plan before were committed")
	}
	if _, err := pieces.Commit(t.Context(), h.fs, again); err != nil {
		t.Fatal(err)
	}
}

// TestAPieceIsWaitedFor holds the lock of a piece for a while, and for too long.
func TestAPieceIsWaitedFor(t *testing.T) {
	h, q := crowd(t, 100, 5)
	u := turn{name: "trails", workers: 1}
	out := filepath.Join(h.dir, "out")
	u.pieceSize = 1 << 40
	list, err := h.plan(t.Context(), q, u, out)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := h.fs.Lock(t.Context(), filepath.Join(h.dir, ".out.partial", "_piece-00000.lock"))
	if err != nil {
		t.Fatal(err)
	}
	w := h.worker(u)
	w.Patience = 0
	if _, err := pieces.Run(t.Context(), w, &list[0]); !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("a worker without patience: %v, want ErrLocked", err)
	}
	refused := make(chan struct{}, 1)
	waiting := *h
	waiting.fs = refusedLocks{h.fs, refused}
	done := make(chan error)
	go func() {
		_, err := waiting.do(t.Context(), u, list)
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

// refusedLocks is files that say when a lock was not to be had.
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
	h, q := crowd(t, 100, 5)
	for i := range 50 {
		q.Users = append(q.Users, fmt.Sprintf("%05d", 2*i))
	}
	u := turn{name: "trails", workers: 1, pieceSize: 100}
	out := filepath.Join(h.dir, "out")
	list, err := h.plan(t.Context(), q, u, out)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(h.dir, ".out.partial", "_users")
	users, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string][]byte{
		"another user": []byte(strings.ReplaceAll(string(users), "4", "5")), "shorter": users[:len(users)/4], "lengths": []byte(strings.Repeat("\xff", len(users))), "empty": nil,
	} {
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := h.do(t.Context(), u, list); !errors.Is(err, pieces.ErrStale) || !strings.Contains(err.Error(), "_users is not the list of this plan") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
