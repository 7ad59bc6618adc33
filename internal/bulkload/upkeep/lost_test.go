package upkeep_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/test/testworld"
)

// A change is a command that replaces the manifest of the table called name.
type change struct {
	name string
	do   func(ctx context.Context, h *fixture, name string) error
}

// TestALostManifestIsRebuiltAfterAnyFault fails each file operation of a command once, and then
// loses the manifest. Rebuild must make the manifest of before or after the command again, byte
// by byte, and the same command must then end as if nothing had happened.
func TestALostManifestIsRebuiltAfterAnyFault(t *testing.T) {
	h := newFixture(t, testworld.World(5, 2))
	h.Job.Table.Regions = 2
	h.nights(t, rand.New(rand.NewPCG(5, 5)), 3, []string{"before"}, func(night int) {
		if night == 1 {
			h.copied(t, "before", "early")
		}
	})
	dropped := h.copied(t, "before", "dropped")
	if _, err := upkeep.Drop(t.Context(), h.upkeep(dropped), h.half()); err != nil {
		t.Fatal(err)
	}
	for _, keep := range []time.Duration{0, upkeep.DefaultKeepFor} {
		for name, do := range works(h) {
			h.lostDuring(t, "before", change{fmt.Sprintf("%s, kept for %s", name, keep), func(ctx context.Context, h *fixture, name string) error {
				cfg := h.upkeep(name)
				cfg.KeepFor = keep
				return do(ctx, cfg)
			}})
		}
	}
	h.lostDuring(t, dropped, change{"undrop", func(ctx context.Context, h *fixture, name string) error {
		_, err := upkeep.Undrop(ctx, h.upkeep(name))
		return err
	}})
	h.lostDuring(t, "early", change{"load", func(ctx context.Context, h *fixture, name string) error {
		_, err := h.tryLoad(ctx, name)
		return err
	}})
}

// lostDuring tests one command on copies of the table called from.
func (h *fixture) lostDuring(t *testing.T, from string, c change) {
	after := h.copied(t, from, "after")
	if err := c.do(t.Context(), h, after); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	was, want := h.lasting(t, from), h.lasting(t, after)
	h.mustRebuild(t, c.name, after, want["manifest.json"])
	t.Run(c.name, func(t *testing.T) {
		dfstest.Sweep(t, dfstest.Modes, 30, func(t *testing.T, n int, mode dfstest.Mode) bool {
			name := h.copied(t, from, "trails")
			fault := dfstest.FaultAt(h.FS, n, mode)
			faulty := *h
			faulty.FS = fault
			err := c.do(t.Context(), &faulty, name)
			what := fmt.Sprintf("%s, fault at %d (%v)", c.name, n, err)
			for range 2 { // the manifest may be lost again before the next load
				h.mustRebuild(t, what, name, was["manifest.json"], want["manifest.json"])
			}
			h.Verified(t, what, name)
			if err := c.do(t.Context(), h, name); err != nil && !nothing(err) {
				t.Fatalf("%s: again: %v", what, err)
			}
			got := h.lasting(t, name)
			for file, b := range want {
				if got[file] != b {
					t.Errorf("%s: in the end %s differs", what, file)
				}
			}
			return fault.Count() <= n
		})
	})
}

func nothing(err error) bool {
	return errors.Is(err, upkeep.ErrNothing) || errors.Is(err, bulkload.ErrNothing)
}

// mustRebuild removes a table's manifest and makes it again. It must be one of those in want.
func (h *fixture) mustRebuild(t *testing.T, what, name string, want ...string) {
	t.Helper()
	dir := dfs.Join(h.Tables, name)
	path := filepath.Join(dir, catalog.ManifestName)
	if err := os.Remove(path); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if _, err := catalog.Open(t.Context(), h.FS, dir); !errors.Is(err, table.ErrNoManifest) {
		t.Fatalf("%s: without a manifest: %v, want ErrNoManifest", what, err)
	}
	_, err := catalog.Rebuild(t.Context(), h.FS, dir, false)
	if err != nil && strings.Contains(err.Error(), "a drop of the days before") && len(want) > 1 { // the drop was killed before it wrote the manifest
		_, err = catalog.Rebuild(t.Context(), h.FS, dir, true)
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		if string(got) == w {
			return
		}
	}
	t.Fatalf("%s: the manifest is another:\n%s", what, got)
}

// TestALostFirstLoadIsRebuiltOrMadeAgain does the same with a first load. Before it, there is no
// table.
func TestALostFirstLoadIsRebuiltOrMadeAgain(t *testing.T) {
	h := newFixture(t, testworld.World(5, 2))
	h.Job.Table.Regions = 2
	h.Deliver(t, h.w.Files...)
	h.load(t, "after")
	want := h.lasting(t, "after")
	dfstest.Sweep(t, dfstest.Modes, 30, func(t *testing.T, n int, mode dfstest.Mode) bool {
		dir := dfs.Join(h.Tables, "trails")
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		fault := dfstest.FaultAt(h.FS, n, mode)
		faulty := *h
		faulty.FS = fault
		_, err := faulty.tryLoad(t.Context(), "trails")
		what := fmt.Sprintf("fault at %d (%v)", n, err)
		if err := h.FS.Remove(t.Context(), dfs.Join(dir, catalog.ManifestName)); err != nil {
			t.Fatal(err)
		}
		if _, err := catalog.Rebuild(t.Context(), h.FS, dir, false); err != nil && !errors.Is(err, table.ErrNoTable) {
			t.Fatalf("%s: %v", what, err)
		}
		h.load(t, "trails")
		h.Verified(t, what, "trails")
		got := h.lasting(t, "trails")
		for file, b := range want {
			if got[file] != b {
				t.Errorf("%s: in the end %s differs", what, file)
			}
		}
		return fault.Count() <= n
	})
}
