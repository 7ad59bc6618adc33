package extract_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/store/dfs"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

var plain = turn{name: "trails", workers: 2, memory: 64 << 20}

// TestAnswersAreTheOracles loads worlds and asks them many questions: lists and
// everybody, spans, behaviours, all, any and min:N.
func TestAnswersAreTheOracles(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 1, 2, 3, 4, 5, 6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := testworld.World(seed, 30)
			h := inhabit(t, w)
			r := h.load(t, plain, w.Span)
			checkCounts(t, r, w.Counts(true))
			for i, q := range w.Questions(seed, 12) {
				same(t, fmt.Sprintf("question %d, %+v", i, q), h.answer(t, q, plain), w.Oracle(q))
			}
		})
	}
}

func checkCounts(t *testing.T, r bulkload.Result, want testworld.Counts) {
	t.Helper()
	got := testworld.Counts{Files: r.Files, Read: int(r.Read), Loaded: int(r.Loaded), Quarantined: int(r.Quarantined), Missing: r.Missing}
	if got != want {
		t.Errorf("the load counts %+v, want %+v", got, want)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

// TestOneWorldOneAnswer loads a world in many ways that must not matter, and
// compares the trails byte by byte.
func TestOneWorldOneAnswer(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 7) {
		w := testworld.World(seed, 100)
		h := inhabit(t, w)
		questions := w.Questions(seed, 4)
		var want []map[string]string
		for _, u := range []turn{
			{name: "plain", workers: 1, memory: 1 << 30, regions: 1},
			{name: "workers", workers: 8, memory: 1 << 30, regions: 1},
			{name: "spilling", workers: 1, memory: 60 << 10, regions: 1},
			{name: "regions", workers: 2, memory: 1 << 30, regions: 7},
			{name: "all", workers: 8, memory: 260 << 10, regions: 60},
		} {
			h.load(t, u, w.Span)
			for i, q := range questions {
				out := filepath.Join(testkit.Scratch(t), "out")
				if _, err := h.ask(t.Context(), q, u, out); err != nil {
					t.Fatalf("world %d: table %s: %v", seed, u.name, err)
				}
				got := parts(t, h.fs, out)
				if u.name == "plain" {
					want = append(want, got)
				}
				if !maps.Equal(got, want[i]) {
					t.Errorf("world %d: table %s answers question %d, %+v, with other bytes than the plain one", seed, u.name, i, q)
				}
			}
		}
	}
}

// created remembers which sorted runs and parts are written.
type created struct {
	dfs.FS
	mu    sync.Mutex
	runs  int
	parts []string
}

func (c *created) Create(ctx context.Context, name string) (dfs.Pending, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if base := dfs.Base(name); strings.HasPrefix(base, "part-") {
		c.parts = append(c.parts, base)
	}
	return c.FS.Create(ctx, name)
}

func (c *created) Scratch(ctx context.Context, name string) (dfs.Pending, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if strings.HasPrefix(dfs.Base(name), "run-") {
		c.runs++
	}
	return c.FS.Scratch(ctx, name)
}

// TestLittleMemorySpills makes sure that the turn of little memory is one.
func TestLittleMemorySpills(t *testing.T) {
	w := testworld.World(7, 120)
	h := inhabit(t, w)
	spy := &created{FS: h.fs}
	h.fs = spy
	h.load(t, turn{name: "spilling", workers: 1, memory: 60 << 10, regions: 1}, w.Span)
	if n := spy.runs; n < 5 {
		t.Errorf("%d runs were spilled, want many", n)
	}
}

// TestRegionsAreMade makes sure that the turn of many regions is one.
func TestRegionsAreMade(t *testing.T) {
	w := testworld.World(7, 60)
	h := inhabit(t, w)
	for _, n := range []int{1, 7, 20} {
		u := turn{name: fmt.Sprint("regions", n), workers: 2, memory: 1 << 30, regions: n}
		h.load(t, u, w.Span)
		table, err := h.store(u.name).Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		regions, err := table.Regions(t.Context())
		if err != nil || len(regions) != n {
			t.Errorf("%d regions, %v; want %d", len(regions), err, n)
		}
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOrderOfDeliveryDoesNotMatter delivers the files of a world a few at a
// time, in any order, each time followed by a load of everything.
func TestOrderOfDeliveryDoesNotMatter(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 8, 9) {
		w := testworld.World(seed, 25)
		h := newFixture(t, w.Job())
		r := rand.New(rand.NewPCG(seed, 3))
		order := r.Perm(len(w.Files))
		for len(order) > 0 {
			n := 1 + r.IntN(min(5, len(order)))
			for _, i := range order[:n] {
				h.deliver(t, w.Files[i])
			}
			order = order[n:]
			if got := h.load(t, plain, w.Span); got.Files != n {
				t.Errorf("world %d: %d files were taken in, want the %d new ones", seed, got.Files, n)
			}
		}
		for i, q := range w.Questions(seed, 5) {
			same(t, fmt.Sprintf("world %d, question %d, %+v", seed, i, q), h.answer(t, q, plain), w.Oracle(q))
		}
	}
}

// TestDayByDayIsAllAtOnce loads each day by a run of its own, the last first.
func TestDayByDayIsAllAtOnce(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 10, 11) {
		w := testworld.World(seed, 25)
		h := inhabit(t, w)
		for d := w.Span.To; d >= w.Span.From; d-- {
			_, err := load.Run(t.Context(), h.config(plain, behaviour.Span{From: d, To: d}))
			if err != nil && !errors.Is(err, bulkload.ErrNothing) {
				t.Fatalf("world %d: %v", seed, err)
			}
		}
		for i, q := range w.Questions(seed, 5) {
			same(t, fmt.Sprintf("world %d, question %d, %+v", seed, i, q), h.answer(t, q, plain), w.Oracle(q))
		}
	}
}

// TestLateFilesAreAdded loads the files that a first load finds, asks, then loads the late
// files, and asks again. The earlier rows are still there, with the same column IDs: the
// oracle knows only one ID for each.
func TestLateFilesAreAdded(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 1, 2, 3) {
		w := testworld.World(seed, 30)
		h := newFixture(t, w.Job())
		first, later := late(w.Files)
		h.deliver(t, first...)
		checkCounts(t, h.load(t, plain, w.Span), w.Counts(false))
		questions := w.Questions(seed, 5)
		for i, q := range questions {
			q.Early = true
			same(t, fmt.Sprintf("world %d, early question %d, %+v", seed, i, q), h.answer(t, q, plain), w.Oracle(q))
		}
		h.deliver(t, later...)
		_, err := load.Run(t.Context(), h.config(plain, w.Span))
		if none := len(later) == 0; errors.Is(err, bulkload.ErrNothing) != none || err != nil && !none {
			t.Fatalf("world %d: %v", seed, err)
		}
		for i, q := range questions {
			same(t, fmt.Sprintf("world %d, question %d, %+v", seed, i, q), h.answer(t, q, plain), w.Oracle(q))
		}
	}
}

// TestCopiesAreDuplicates delivers a file's bytes again under another name, once
// before the first load and once after it.
func TestCopiesAreDuplicates(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 1, 2) {
		w := testworld.World(seed, 30)
		i := slices.IndexFunc(w.Files, func(f testworld.File) bool { return f.Records > f.Bad })
		f := w.Files[i]
		f.Name = strings.Replace(w.Files[i].Name, ".csv", ".zcopy.csv", 1)
		everything := w.Questions(seed, 1)[0]
		for _, early := range []bool{true, false} {
			h := inhabit(t, w)
			if !early {
				h.load(t, plain, w.Span)
			}
			h.deliver(t, f)
			r := h.load(t, plain, w.Span)
			if n := int64(f.Records - f.Bad); r.Duplicate != n || !early && r.Loaded != 0 {
				t.Errorf("world %d: %d duplicates and %d loaded, want %d duplicates", seed, r.Duplicate, r.Loaded, n)
			}
			same(t, fmt.Sprintf("world %d with a copy", seed), h.answer(t, everything, plain), w.Oracle(everything))
		}
	}
}
