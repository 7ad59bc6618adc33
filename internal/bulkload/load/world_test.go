package load_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// TestNightsOnWhichClocksAreSet loads worlds night by night, in zones and at dates at which an
// hour, half an hour, midnight or a day is skipped or occurs twice.
func TestNightsOnWhichClocksAreSet(t *testing.T) {
	for seed := range testworld.Clocks {
		seed += testworld.FirstClock
		w := testworld.World(seed, 12)
		t.Run(w.Schema.Zone+" "+w.Span.String(), func(t *testing.T) {
			h := extracttest.Delivered(t, w)
			var sum testworld.Counts
			for d := w.Span.From; d <= w.Span.To; d++ {
				night := behaviour.Span{From: d, To: d}
				r, err := load.Run(t.Context(), h.LoadConfig(extracttest.Plain, night))
				if err != nil && !errors.Is(err, bulkload.ErrNothing) {
					t.Fatal(err)
				}
				sum.Files, sum.Read, sum.Loaded = sum.Files+r.Files, sum.Read+int(r.Read), sum.Loaded+int(r.Loaded)
				sum.Quarantined, sum.Missing = sum.Quarantined+int(r.Quarantined), sum.Missing+r.Missing
			}
			if want := w.Counts(true); sum != want {
				t.Errorf("the loads count %+v, want %+v", sum, want)
			}
			for i, q := range w.Queries(seed, 6) {
				extracttest.Same(t, fmt.Sprintf("query %d, %+v", i, q), h.Result(t, q, extracttest.Plain), w.Oracle(q))
			}
		})
	}
}

// TestOneWorldOneResult loads a world in many ways that must not matter, and
// compares the trails byte by byte.
func TestOneWorldOneResult(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 7) {
		w := testworld.World(seed, 100)
		h := extracttest.Delivered(t, w)
		queries := w.Queries(seed, 4)
		var want []map[string]string
		for _, u := range []extracttest.Turn{
			{Name: "plain", Workers: 1, Memory: 1 << 30, Regions: 1},
			{Name: "workers", Workers: 8, Memory: 1 << 30, Regions: 1},
			{Name: "spilling", Workers: 1, Memory: 60 << 10, Regions: 1},
			{Name: "regions", Workers: 2, Memory: 1 << 30, Regions: 7},
			{Name: "all", Workers: 8, Memory: 260 << 10, Regions: 60},
		} {
			h.Load(t, u, w.Span)
			for i, q := range queries {
				out := filepath.Join(testkit.Scratch(t), "out")
				if _, err := h.Extract(t.Context(), q, u, out); err != nil {
					t.Fatalf("world %d: table %s: %v", seed, u.Name, err)
				}
				got := extracttest.Parts(t, h.FS, out)
				if u.Name == "plain" {
					want = append(want, got)
				}
				if !maps.Equal(got, want[i]) {
					t.Errorf("world %d: table %s has other bytes for query %d, %+v, than the plain one", seed, u.Name, i, q)
				}
			}
		}
	}
}

// TestLittleMemorySpills makes sure that the turn of little memory is one.
func TestLittleMemorySpills(t *testing.T) {
	w := testworld.World(7, 120)
	h := extracttest.Delivered(t, w)
	spy := &extracttest.Created{FS: h.FS}
	h.FS = spy
	h.Load(t, extracttest.Turn{Name: "spilling", Workers: 1, Memory: 60 << 10, Regions: 1}, w.Span)
	if n := len(spy.Runs()); n < 5 {
		t.Errorf("%d runs were spilled, want many", n)
	}
}

// TestRegionsAreMade makes sure that the turn of many regions is one.
func TestRegionsAreMade(t *testing.T) {
	w := testworld.World(7, 60)
	h := extracttest.Delivered(t, w)
	for _, n := range []int{1, 7, 20} {
		u := extracttest.Turn{Name: fmt.Sprint("regions", n), Workers: 2, Memory: 1 << 30, Regions: n}
		h.Load(t, u, w.Span)
		table, err := h.Store(u.Name).Open(t.Context())
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
		h := extracttest.New(t, w.Job())
		r := rand.New(rand.NewPCG(seed, 3))
		order := r.Perm(len(w.Files))
		for len(order) > 0 {
			n := 1 + r.IntN(min(5, len(order)))
			for _, i := range order[:n] {
				h.Deliver(t, w.Files[i])
			}
			order = order[n:]
			if got := h.Load(t, extracttest.Plain, w.Span); got.Files != n {
				t.Errorf("world %d: %d files were taken in, want the %d new ones", seed, got.Files, n)
			}
		}
		for i, q := range w.Queries(seed, 5) {
			extracttest.Same(t, fmt.Sprintf("world %d, query %d, %+v", seed, i, q), h.Result(t, q, extracttest.Plain), w.Oracle(q))
		}
	}
}

// TestDayByDayIsAllAtOnce loads each day by a run of its own, the last first.
func TestDayByDayIsAllAtOnce(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 10, 11) {
		w := testworld.World(seed, 25)
		h := extracttest.Delivered(t, w)
		for d := w.Span.To; d >= w.Span.From; d-- {
			_, err := load.Run(t.Context(), h.LoadConfig(extracttest.Plain, behaviour.Span{From: d, To: d}))
			if err != nil && !errors.Is(err, bulkload.ErrNothing) {
				t.Fatalf("world %d: %v", seed, err)
			}
		}
		for i, q := range w.Queries(seed, 5) {
			extracttest.Same(t, fmt.Sprintf("world %d, query %d, %+v", seed, i, q), h.Result(t, q, extracttest.Plain), w.Oracle(q))
		}
	}
}

// TestLateFilesAreAdded loads the files that a first load finds, extracts, then loads the late
// files, and extracts again. The earlier rows are still there, with the same column IDs: the
// oracle knows only one ID for each.
func TestLateFilesAreAdded(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 1, 2, 3) {
		w := testworld.World(seed, 30)
		h := extracttest.New(t, w.Job())
		first, later := extracttest.SplitLate(w.Files)
		h.Deliver(t, first...)
		testtable.CheckCounts(t, h.Load(t, extracttest.Plain, w.Span), w.Counts(false))
		queries := w.Queries(seed, 5)
		for i, q := range queries {
			q.Early = true
			extracttest.Same(t, fmt.Sprintf("world %d, early query %d, %+v", seed, i, q), h.Result(t, q, extracttest.Plain), w.Oracle(q))
		}
		h.Deliver(t, later...)
		_, err := load.Run(t.Context(), h.LoadConfig(extracttest.Plain, w.Span))
		if none := len(later) == 0; errors.Is(err, bulkload.ErrNothing) != none || err != nil && !none {
			t.Fatalf("world %d: %v", seed, err)
		}
		for i, q := range queries {
			extracttest.Same(t, fmt.Sprintf("world %d, query %d, %+v", seed, i, q), h.Result(t, q, extracttest.Plain), w.Oracle(q))
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
		everything := w.Queries(seed, 1)[0]
		for _, early := range []bool{true, false} {
			h := extracttest.Delivered(t, w)
			if !early {
				h.Load(t, extracttest.Plain, w.Span)
			}
			h.Deliver(t, f)
			r := h.Load(t, extracttest.Plain, w.Span)
			if n := int64(f.Records - f.Bad); r.Duplicate != n || !early && r.Loaded != 0 {
				t.Errorf("world %d: %d duplicates and %d loaded, want %d duplicates", seed, r.Duplicate, r.Loaded, n)
			}
			extracttest.Same(t, fmt.Sprintf("world %d with a copy", seed), h.Result(t, everything, extracttest.Plain), w.Oracle(everything))
		}
	}
}
