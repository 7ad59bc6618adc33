package load_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/table/catalog"
	"usertrail/internal/test/testworld"
)

// TestLoadSurvivesAnyFault fails a load's first file operation, then its second,
// and so on, in every way in which an operation can fail. After each failure the error names
// what failed, and the table is as before or as after the load. The same load then ends with
// the table of an undisturbed load. A third load does nothing.
func TestLoadSurvivesAnyFault(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "clean", Workers: 1, Memory: 1 << 20, Regions: 2}
	h.Load(t, u, w.Span)
	want := h.Lasting(t, u.Name)
	u.Name = "trails"
	dfstest.Sweep(t, dfstest.Modes, 50, func(t *testing.T, n int, mode dfstest.Mode) bool {
		if err := os.RemoveAll(filepath.Join(h.Dir, u.Name)); err != nil {
			t.Fatal(err)
		}
		return loadWithFault(t, h, u, w.Span, n, mode, want)
	})
}

// loadWithFault loads with a fault in operation n, and again without. It reports whether the
// load ended before operation n.
func loadWithFault(t *testing.T, h *extracttest.Fixture, u extracttest.Turn, span behaviour.Span, n int, mode dfstest.Mode, want map[string]string) (past bool) {
	t.Helper()
	fault := dfstest.FaultAt(h.FS, n, mode)
	faulty := *h
	faulty.FS = fault
	_, err := load.Run(t.Context(), faulty.LoadConfig(u, span))
	past = fault.Count() <= n
	if past && err != nil {
		t.Fatalf("fault at %d was not reached, and yet: %v", n, err)
	}
	if err != nil && !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("fault at %d: lost the cause: %v", n, err)
	}
	if got := h.Lasting(t, u.Name); got[catalog.ManifestName] != "" && !maps.Equal(extracttest.Named(got), extracttest.Named(want)) {
		t.Errorf("fault at %d (%v): the table is neither as before nor as after", n, err)
	}
	_, again := load.Run(t.Context(), h.LoadConfig(u, span))
	if again != nil && !errors.Is(again, bulkload.ErrNothing) {
		t.Fatalf("fault at %d (%v): second run: %v", n, err, again)
	}
	// A fault while sorted runs are removed leaves them to the next load that has
	// something to do.
	if diff := extracttest.Differ(h.Lasting(t, u.Name), want); again == nil && diff != "" || diff != "" && !strings.HasPrefix(diff, catalog.TempName+"/") {
		t.Errorf("fault at %d (%v): in the end %s", n, err, diff)
	}
	if _, third := load.Run(t.Context(), h.LoadConfig(u, span)); !errors.Is(third, bulkload.ErrNothing) {
		t.Errorf("fault at %d: the third run says %v, want nothing to do", n, third)
	}
	return past
}

// TestSpillingLoadSurvivesFaults fails some of the many operations of a load that
// sorts with little memory, and kills its disk at others.
func TestSpillingLoadSurvivesFaults(t *testing.T) {
	w := testworld.World(7, 120)
	h := extracttest.Delivered(t, w)
	u := extracttest.Turn{Name: "clean", Workers: 2, Memory: 100 << 10, Regions: 3}
	count := dfstest.FaultAt(h.FS, 1<<30)
	counted := *h
	counted.FS = count
	counted.Load(t, u, w.Span)
	want := h.Lasting(t, u.Name)
	const faults = 20
	for i := range faults {
		u.Name = fmt.Sprint("trails", i)
		mode := []dfstest.Mode{0, dfstest.Dead | dfstest.Torn}[i%2]
		loadWithFault(t, h, u, w.Span, count.Count()*i/faults, mode, want)
	}
}
