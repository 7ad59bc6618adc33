package upkeep_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// plain returns a directory for tables with one layout and one behaviour.
func plain(t *testing.T, layout string, days int) *fixture {
	t.Helper()
	first := behaviour.DateOf(2014, 9, 1)
	return &fixture{*testtable.New(t, testtable.FatJob(layout)), &testworld.W{Span: behaviour.Span{From: first, To: first + behaviour.Date(days) - 1}}}
}

// night delivers and loads a number of records of one size, for one user on one day. The load
// has one user before and one user after this user.
func (h *fixture) night(t *testing.T, day, records, size int) {
	t.Helper()
	h.Deliver(t, testtable.FatLog(h.w.Span.From+behaviour.Date(day), byte(day), records, size))
	c := h.LoadConfig("table", h.w.Span)
	c.Memory = 1 << 30
	if _, err := load.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// keep runs a command on a copy of the table with the given memory. It returns the files of the
// copy and by how many bytes the heap grew.
func (h *fixture) keep(t *testing.T, memory int64, do func(upkeep.Config) error) (map[string]string, int64) {
	t.Helper()
	if err := os.CopyFS(filepath.Join(h.Dir, "copy"), os.DirFS(filepath.Join(h.Dir, "table"))); err != nil {
		t.Fatal(err)
	}
	heap := dfstest.NewHeap(h.FS)
	c := h.upkeep("copy")
	s := h.Store("copy")
	s.FS = heap
	c.FS, c.Store, c.Memory, c.Workers, c.KeepFor = heap, s, memory, 1, 0
	if err := do(c); err != nil {
		t.Fatal(err)
	}
	h.Verified(t, "in little memory", "copy")
	got := h.lasting(t, "copy")
	if err := h.FS.Remove(t.Context(), dfs.Join(h.Dir, "copy")); err != nil {
		t.Fatal(err)
	}
	return got, heap.Grown()
}

func compact(t *testing.T) func(upkeep.Config) error {
	return func(c upkeep.Config) error {
		_, err := upkeep.Compact(t.Context(), c)
		return err
	}
}

// TestLargeRowsAreKeptUpInLittleMemory compacts a table of a user with very many records, and
// drops a day from it. It does so with little and with much memory. The heap must stay small,
// and the tables must be equal.
func TestLargeRowsAreKeptUpInLittleMemory(t *testing.T) {
	const memory, besides = 2 << 20, 10 << 20
	for _, layout := range testkit.Pick([]string{"reversed", "hashed"}, []string{"reversed", "hashed", "wide", "tall"}) {
		h := plain(t, layout, 2)
		h.night(t, 0, 70_000, 4)
		h.night(t, 1, 70_000, 4)
		dropped := func(c upkeep.Config) error {
			if err := compact(t)(c); err != nil {
				return err
			}
			_, err := upkeep.Drop(t.Context(), c, h.w.Span.To)
			return err
		}
		for what, do := range map[string]func(upkeep.Config) error{"compact": compact(t), "drop": dropped} {
			want, _ := h.keep(t, 256<<20, do)
			got, n := h.keep(t, memory, do)
			if n > memory+besides {
				t.Errorf("%s of %s: the heap has %d KiB more than before, in %d KiB of memory", what, layout, n>>10, memory>>10)
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s of %s in little memory makes other files", what, layout)
			}
		}
	}
}

// TestFilesOfLargeRecordsAreMergedInSeveralPasses compacts files whose blocks do not fit into
// memory together. Each pass reads as many as fit. One file is left.
func TestFilesOfLargeRecordsAreMergedInSeveralPasses(t *testing.T) {
	const nights, memory, besides = 25, upkeep.MinMemory, 8 << 20
	h := plain(t, "reversed", nights)
	for i := range nights {
		h.night(t, i, 2, 1_000_000)
	}
	got, n := h.keep(t, memory, compact(t))
	if n > memory/2+besides {
		t.Errorf("the heap has %d MiB more than before, in %d MiB of memory", n>>20, memory>>20)
	}
	files := 0
	for name := range got {
		if strings.HasSuffix(name, ".hfile") {
			files++
		}
	}
	if files != 1 {
		t.Errorf("%d files are left", files)
	}
}

// TestRecordsLargerThanTheMemory compacts and rewrites files if the memory is too small to read
// two at once. The error names a file and the flag, and the table is unchanged.
func TestRecordsLargerThanTheMemory(t *testing.T) {
	h := plain(t, "reversed", 2)
	for i := range 2 {
		h.night(t, i, 1, 12<<20)
	}
	before := h.lasting(t, "table")
	c := h.upkeep("table")
	c.Memory, c.Workers, c.KeepFor = upkeep.MinMemory, 1, 0
	_, err := upkeep.Compact(t.Context(), c)
	if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), ".hfile") || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("%v, want an error that names a file and --memory", err)
	}
	if !maps.Equal(h.lasting(t, "table"), before) {
		t.Error("the table is not as it was")
	}
	c.Memory = 1 << 30
	if _, err := upkeep.Compact(t.Context(), c); err != nil {
		t.Error(err)
	}
	c.Memory, c.Workers = upkeep.MinMemory, 4
	if _, err = upkeep.Drop(t.Context(), c, h.w.Span.To); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), ".hfile") {
		t.Errorf("drop: %v, want an error that names a file", err)
	}
}
