package convert_test

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"usertrail/internal/bulkload/convert"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testworld"
)

// small returns a fixture with a table of three loads. After the second load its files were
// merged.
func small(t testing.TB) *fixture {
	t.Helper()
	h := newFixture(t, testworld.Numbered(5, 2))
	h.Job.Table.Regions = 2
	p := h.draw(rand.New(rand.NewPCG(5, 5)))
	p.compact = []bool{false, true, false, false}
	h.live(t, p, []string{"reversed"})
	return h
}

// TestConversionSurvivesAnyFault fails the first file operation, then the second, and so on, in
// every mode. After each fault, the error names what failed, and the new table is either
// invisible or complete. The same conversion then ends as if no fault had happened. The old
// table is unchanged.
func TestConversionSurvivesAnyFault(t *testing.T) {
	h := small(t)
	source := h.lasting(t, "reversed")
	for _, to := range []string{"wide", "hashed"} { // one of the layouts sorts its roll
		h.convert(t, "reversed", to, "clean")
		want := h.lasting(t, "clean")
		t.Run(to, func(t *testing.T) {
			dfstest.Sweep(t, dfstest.Modes, 30, func(t *testing.T, n int, mode dfstest.Mode) bool {
				h.remove(t, "out")
				return h.withFault(t, to, n, mode, want)
			})
		})
		if !maps.Equal(h.lasting(t, "reversed"), source) {
			t.Error("the table it was made of is not as it was")
		}
		h.remove(t, "clean")
	}
}

func (h *fixture) remove(t testing.TB, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(h.Dir, name)); err != nil {
		t.Fatal(err)
	}
}

// withFault converts with a fault in operation n, and then without a fault. It returns true if
// the conversion made fewer than n operations.
func (h *fixture) withFault(t *testing.T, to string, n int, mode dfstest.Mode, want map[string]string) (past bool) {
	t.Helper()
	fault := dfstest.FaultAt(h.FS, n, mode)
	faulty := *h
	faulty.FS = fault
	_, err := convert.Run(t.Context(), faulty.conversion("reversed", to, "out"))
	past = fault.Count() <= n
	if past && err != nil {
		t.Fatalf("fault at %d was not reached, and yet: %v", n, err)
	}
	if err != nil && !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("fault at %d: lost the cause: %v", n, err)
	}
	made, open := h.Store("out").Open(t.Context())
	switch {
	case open == nil:
		h.Verified(t, fmt.Sprintf("fault at %d (%v)", n, err), "out")
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	case !errors.Is(open, table.ErrNoTable) && !errors.Is(open, table.ErrUnfit):
		t.Fatalf("fault at %d (%v): to be seen is %v", n, err, open)
	}
	_, again := convert.Run(t.Context(), h.conversion("reversed", to, "out"))
	if again != nil && (open != nil || !errors.Is(again, iofs.ErrExist)) {
		t.Fatalf("fault at %d (%v): again: %v", n, err, again)
	}
	if got := h.lasting(t, "out"); !maps.Equal(got, want) {
		t.Fatalf("fault at %d (%v): in the end there are other files: %d, want %d", n, err, len(got), len(want))
	}
	if _, err := convert.Run(t.Context(), h.conversion("reversed", to, "out")); !errors.Is(err, iofs.ErrExist) {
		t.Errorf("fault at %d: the third conversion returns %v, want that the target exists", n, err)
	}
	return past
}

// TestAConversionContinues stops a conversion after some of its loads. The same conversion then
// makes only the other loads. If the old table got a new load meanwhile, the conversion starts
// from the beginning.
func TestAConversionContinues(t *testing.T) {
	h := small(t)
	clean := h.convert(t, "reversed", "tall", "clean")
	h.halfway(t, "reversed", "tall", "out")
	for what, open := range map[string]func() error{
		"open": func() error { _, err := files.Open(t.Context(), h.FS, dfs.Join(h.Tables, "out")); return err },
		"load": func() error { _, err := h.loads(t.Context(), "out", "tall"); return err },
	} {
		if err := open(); !errors.Is(err, table.ErrUnfit) {
			t.Errorf("%s of half a table: %v, want ErrUnfit", what, err)
		}
	}
	r := h.convert(t, "reversed", "tall", "out")
	if r.Already == 0 || r.Already >= r.Files || r.Records != clean.Records || r.Read >= clean.Read {
		t.Errorf("the continued conversion did %+v, a whole one does %+v", r, clean)
	}
	if !maps.Equal(h.lasting(t, "out"), h.lasting(t, "clean")) {
		t.Error("it ended with other files")
	}

	h.remove(t, "out")
	h.halfway(t, "reversed", "tall", "out")
	h.Deliver(t, h.w.Files...)
	h.load(t, "reversed", "reversed")
	after := h.convert(t, "reversed", "tall", "out")
	if after.Already > 0 || after.Loads != clean.Loads+1 {
		t.Errorf("after one more night %+v, before it %+v", after, clean)
	}
	h.Verified(t, "after one more night", "out")
}

// TestAConversionEndsWithItsContext expects a canceled conversion to leave no visible table.
func TestAConversionEndsWithItsContext(t *testing.T) {
	h := small(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("stopped")
	cancel(why)
	if _, err := convert.Run(ctx, h.conversion("reversed", "tall", "out")); !errors.Is(err, why) && !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want why it was stopped", err)
	}
	if _, err := files.Open(t.Context(), h.FS, dfs.Join(h.Tables, "out")); err == nil {
		t.Error("half a table can be seen")
	}
}
