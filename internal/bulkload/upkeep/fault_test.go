package upkeep_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// works returns the two commands that replace files. The drop removes half of the days.
func works(h *fixture) map[string]func(context.Context, upkeep.Config) error {
	return map[string]func(context.Context, upkeep.Config) error{
		"compact": func(ctx context.Context, c upkeep.Config) error {
			_, err := upkeep.Compact(ctx, c)
			return err
		},
		"drop": func(ctx context.Context, c upkeep.Config) error {
			_, err := upkeep.Drop(ctx, c, h.half())
			return err
		},
	}
}

func (h *fixture) half() behaviour.Date { return h.w.Span.From + behaviour.Date(h.w.Span.Days()/2) }

// TestUpkeepSurvivesAnyFault fails the first file operation, then the second, and so on, in
// every mode. After each fault, the error names what failed. The table is whole, and its
// results are those of before or after the command. The same command then ends as if no fault
// had happened. After it there is nothing to do.
func TestUpkeepSurvivesAnyFault(t *testing.T) {
	h := newFixture(t, testworld.World(5, 2))
	h.Job.Table.Regions = 2
	h.nights(t, rand.New(rand.NewPCG(5, 5)), 3, []string{"before"}, func(int) {})
	for name, do := range works(h) {
		after := h.copied(t, "before", "after "+name)
		if err := do(t.Context(), h.upkeep(after)); err != nil {
			t.Fatal(err)
		}
		want := h.lasting(t, after)
		t.Run(name, func(t *testing.T) {
			dfstest.Sweep(t, dfstest.Modes, 30, func(t *testing.T, n int, mode dfstest.Mode) bool {
				return h.withFault(t, do, h.copied(t, "before", "trails"), n, mode, want)
			})
		})
	}
}

// copied copies a table, and returns the name of the copy.
func (h *fixture) copied(t *testing.T, from, to string) string {
	t.Helper()
	to = filepath.Join(h.Dir, to)
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(filepath.Join(h.Dir, from))); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(to)
}

// withFault runs a command with a fault in operation n, and then without a fault. It returns
// true if the command made fewer than n operations.
func (h *fixture) withFault(t *testing.T, do func(context.Context, upkeep.Config) error, name string, n int, mode dfstest.Mode, want map[string]string) (past bool) {
	t.Helper()
	fault := dfstest.FaultAt(h.FS, n, mode)
	faulty := *h
	faulty.FS = fault
	err := do(t.Context(), faulty.upkeep(name))
	past = fault.Count() <= n
	if past && err != nil {
		t.Fatalf("fault at %d was not reached, and yet: %v", n, err)
	}
	if err != nil && !errors.Is(err, dfstest.ErrInjected) {
		t.Fatalf("fault at %d: lost the cause: %v", n, err)
	}
	h.Verified(t, fmt.Sprintf("fault at %d (%v)", n, err), name)
	again := do(t.Context(), h.upkeep(name))
	if again != nil && !errors.Is(again, upkeep.ErrNothing) {
		t.Fatalf("fault at %d (%v): again: %v", n, err, again)
	}
	got := h.lasting(t, name)
	if got["manifest.json"] != want["manifest.json"] {
		t.Fatalf("fault at %d (%v): in the end the manifest is another", n, err)
	}
	for file, b := range want {
		if got[file] != b {
			t.Errorf("fault at %d (%v): in the end %s differs", n, err, file)
		}
	}
	if again == nil && len(got) != len(want) {
		t.Errorf("fault at %d (%v): in the end there are %d files, want %d", n, err, len(got), len(want))
	}
	if third := do(t.Context(), h.upkeep(name)); !errors.Is(third, upkeep.ErrNothing) {
		t.Errorf("fault at %d: the third time says %v, want nothing to do", n, third)
	}
	return past
}

// TestAnExtractContinuesBesideIt opens a table, replaces its files, and then runs a query. The
// query has the result of before. A table that is opened later has the result of after.
func TestAnExtractContinuesBesideIt(t *testing.T) {
	h := newFixture(t, testworld.World(6, 10))
	h.nights(t, rand.New(rand.NewPCG(6, 6)), 6, []string{"before"}, func(int) {})
	q := h.w.Queries(1, 1)[0]
	for name, do := range works(h) {
		table := h.copied(t, "before", "trails")
		want, err := testtable.Ask(t.Context(), t, h.Opened(t, table), q)
		if err != nil {
			t.Fatal(err)
		}
		opened := h.Opened(t, table)
		if err := do(t.Context(), h.upkeep(table)); err != nil {
			t.Fatal(err)
		}
		if again := do(t.Context(), h.upkeep(table)); !errors.Is(again, upkeep.ErrNothing) {
			t.Fatalf("%s again: %v", name, again) // it swept
		}
		got, err := testtable.Ask(t.Context(), t, opened, q)
		if err != nil {
			t.Fatalf("beside %s: %v", name, err)
		}
		if !maps.Equal(got, want) {
			t.Errorf("beside %s the result is another", name)
		}
		now, err := testtable.Ask(t.Context(), t, h.Opened(t, table), q)
		if err != nil {
			t.Fatalf("after %s: %v", name, err)
		}
		if maps.Equal(now, want) != (name == "compact") {
			t.Errorf("after %s the result is the same: %t", name, maps.Equal(now, want))
		}
	}
}

// TestWhatIsReplacedGoesInTime replaces files with and without KeepFor. A table that was opened
// before can be read as long as its files are kept. Then a query gets an error whose next step is
// to begin again.
func TestWhatIsReplacedGoesInTime(t *testing.T) {
	h := newFixture(t, testworld.World(6, 10))
	h.nights(t, rand.New(rand.NewPCG(6, 6)), 6, []string{"trails"}, func(int) {})
	opened := h.Opened(t, "trails")
	before := names(h.lasting(t, "trails"), "d")
	cfg := h.upkeep("trails")
	if _, err := upkeep.Compact(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	kept := h.lasting(t, "trails")
	for _, name := range before {
		if kept[name] == "" {
			t.Errorf("%s is gone already", name)
		}
	}
	cfg.KeepFor = 0
	if _, err := upkeep.Drop(t.Context(), cfg, h.half()); err != nil {
		t.Fatal(err)
	}
	all := dfstest.Snapshot(t, h.FS, dfs.Join(h.Tables, "trails"))
	if all["retired.json"] == "" {
		t.Error("retired.json forgot what the compaction replaced")
	}
	m := h.Opened(t, "trails").Manifest()
	retired := 0
	for _, name := range names(all, "d") {
		named := false
		for i := range m.Files {
			for _, n := range m.Files[i].Names() {
				named = named || n == name
			}
		}
		if !named {
			retired++
			if kept[name] == "" {
				t.Errorf("%s is of nobody", name)
			}
		}
	}
	if retired == 0 {
		t.Error("what the compaction replaced went with what the drop replaced")
	}
	q := h.w.Queries(1, 1)[0]
	if _, err := testtable.Ask(t.Context(), t, opened, q); err != nil {
		t.Errorf("who opened the table before both: %v", err)
	}
	opened = h.Opened(t, "trails")
	if _, err := upkeep.Drop(t.Context(), cfg, h.half()+1); err != nil {
		t.Fatal(err)
	}
	if _, err := testtable.Ask(t.Context(), t, opened, q); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "repeat the command") {
		t.Errorf("a reader whose files are gone is told %v", err)
	}
}
