package extract_test

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/extract"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/table"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// TestExtractSurvivesAnyFault fails the file operations of an extract one after the other, in every
// way in which an operation can fail. After each failure OUT is absent or whole, and the same
// extract then succeeds.
func TestExtractSurvivesAnyFault(t *testing.T) {
	extractSurvives(t, query.Output{}, dfstest.Modes)
}

// TestPartitionedExtractSurvivesFaults is the same where a part is several files.
func TestPartitionedExtractSurvivesFaults(t *testing.T) {
	extractSurvives(t, query.Output{Format: query.CSV, Partition: "date"}, dfstest.Modes[1:3])
}

func extractSurvives(t *testing.T, o query.Output, modes []dfstest.Mode) {
	t.Helper()
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Regions: 3, Output: o}
	h.Load(t, u, w.Span)
	q := testworld.Query{Users: append(w.Users, "nobody"), Span: w.Span, Kinds: w.Names(), Active: "any"}
	clean := filepath.Join(h.Dir, "clean")
	if _, err := h.Extract(t.Context(), q, u, clean); err != nil {
		t.Fatal(err)
	}
	want := dfstest.Snapshot(t, h.FS, clean)
	dfstest.Sweep(t, modes, 30, func(t *testing.T, n int, mode dfstest.Mode) bool {
		home := filepath.Join(h.Dir, fmt.Sprintf("home-%d-%d", mode, n))
		if err := os.Mkdir(home, 0o755); err != nil {
			t.Fatal(err)
		}
		return askWithFault(t, h, q, u, home, n, mode, want)
	})
}

// askWithFault extracts into a directory of home with a fault in operation n, and
// again without. It reports whether the extract ended before operation n.
func askWithFault(t *testing.T, h *extracttest.Fixture, q testworld.Query, u extracttest.Turn, home string, n int, mode dfstest.Mode, want map[string]string) (past bool) {
	t.Helper()
	out := filepath.Join(home, "out")
	fault := dfstest.FaultAt(h.FS, n, mode)
	faulty := *h
	faulty.FS = fault
	_, err := faulty.Extract(t.Context(), q, u, out)
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
	if _, again := h.Extract(t.Context(), q, u, out); again != nil && !errors.Is(again, iofs.ErrExist) {
		t.Fatalf("fault at %d (%v): second run: %v", n, err, again)
	}
	if diff := extracttest.Differ(extracttest.Parts(t, h.FS, out), testtable.OnlyParts(want)); diff != "" {
		t.Errorf("fault at %d (%v): in the end %s", n, err, diff)
	}
	if _, third := h.Extract(t.Context(), q, u, out); !errors.Is(third, iofs.ErrExist) {
		t.Errorf("fault at %d: the third run says %v, want an error about an existing result", n, third)
	}
	if left := extracttest.Leftovers(t, home); len(left) > 0 && mode&(dfstest.Dead|dfstest.Uncertain) == 0 {
		t.Errorf("fault at %d (%v): in the end there is also %q", n, err, left)
	}
	return past
}

// TestOverwriteKeepsAResult fails each operation of an extract that replaces a result with
// the result of another query. After any failure OUT is one of the two results, complete,
// unless the disk stays dead.
func TestOverwriteKeepsAResult(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Regions: 2}
	h.Load(t, u, w.Span)
	r := extracttest.NewReplaced(t, w, h, u)
	dfstest.Sweep(t, []dfstest.Mode{0, dfstest.Uncertain}, 10, func(t *testing.T, n int, mode dfstest.Mode) bool {
		out := filepath.Join(h.Dir, fmt.Sprintf("home-%d-%d", mode, n), "out")
		if _, err := h.Extract(t.Context(), r.Before, u, out); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("mode %d, fault at %d", mode, n)
		fault := dfstest.FaultAt(h.FS, n, mode)
		faulty, replacing := *h, u
		faulty.FS, replacing.Overwrite = fault, true
		_, err := faulty.Extract(t.Context(), r.After, replacing, out)
		r.CheckOne(t, what, out, err)
		if _, err := h.Extract(t.Context(), r.After, replacing, out); err != nil {
			t.Errorf("%s: second run: %v", what, err)
		}
		r.CheckEnd(t, what, out)
		return fault.Count() <= n
	})
}

// brokenRegion is a table in which the users of one region cannot be read.
type brokenRegion struct {
	table.Table
	at int
}

var errBroken = errors.New("the roll cannot be read")

func (b brokenRegion) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	regions, err := b.Regions(ctx)
	if err != nil {
		return nil, err
	}
	if string(r.Start) == string(regions[b.at].Start) {
		return nil, errBroken
	}
	return b.Table.Users(ctx, r, span)
}

// Read implements table.Table.
func (b brokenRegion) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	return b.Table.Read(ctx, q, emit)
}

// TestNoRegionIsLeftOut breaks one region after the other: the last one's error
// must not be lost because there is no other to go on to.
func TestNoRegionIsLeftOut(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 2, Memory: 1 << 20, Regions: 3}
	h.Load(t, u, w.Span)
	tab, err := h.Store(u.Name).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	for at := range 3 {
		for i := range testkit.Pick(20, 100) {
			out := filepath.Join(h.Dir, fmt.Sprintf("out-%d-%d", at, i))
			_, err := extract.Run(t.Context(), extract.Config{
				Spec:   query.Spec{Users: userlist.All(), Span: w.Span, Types: w.Names(), Active: "any"},
				Target: place.Target{FS: h.FS, Out: out},
				Table:  brokenRegion{tab, at}, Workers: 2,
			})
			if !errors.Is(err, errBroken) {
				t.Fatalf("region %d, try %d: %v, want %v", at, i, err, errBroken)
			}
		}
	}
}
