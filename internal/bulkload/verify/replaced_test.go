package verify_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
)

// A dropping is the table's file system for verify. Before verify opens the first HFile after it has read the manifest, a drop removes
// the next day of the table, with its files.
type dropping struct {
	dfs.FS
	drop  func()
	fresh bool // the manifest was read
}

func (d *dropping) Open(ctx context.Context, name string) (dfs.File, error) {
	switch {
	case dfs.Base(name) == "manifest.json":
		d.fresh = true
	case d.fresh && strings.HasSuffix(name, ".hfile"):
		d.fresh = false
		d.drop()
	}
	return d.FS.Open(ctx, name)
}

// dropped verifies the table while at most so many drops remove days. It calls then after each drop.
func (h *fixture) dropped(t *testing.T, drops int, then func()) (verify.Result, error) {
	t.Helper()
	s := h.store()
	before := h.w.Span.From
	drop := func() {
		if drops--; drops < 0 {
			return
		}
		for err := upkeep.ErrNothing; errors.Is(err, upkeep.ErrNothing); {
			before++
			if _, err = upkeep.Drop(t.Context(), upkeep.Config{FS: s.FS, Store: s, All: true}, before); err == nil {
				then()
				return
			}
			if !errors.Is(err, upkeep.ErrNothing) {
				t.Error(err)
			}
		}
	}
	return h.verify(t, func(c *verify.Config) { c.Store = files.Store{Dir: s.Dir, FS: &dropping{FS: s.FS, drop: drop}} })
}

// TestFilesThatAreReplacedWhileTheyAreReadAreNotMissing removes files of the opened manifest while verify reads them. A file that the
// table has lost is still found.
func TestFilesThatAreReplacedWhileTheyAreReadAreNotMissing(t *testing.T) {
	h := loaded(t, 8)
	r, err := h.dropped(t, 1, func() {})
	if err != nil || len(r.Files) > 0 || r.Cells == 0 {
		t.Errorf("%v, missing or damaged: %v; want a whole table", err, r.Files)
	}

	h = loaded(t, 8)
	var lost string
	r, err = h.dropped(t, 1, func() {
		lost = h.manifest(t).Files[0].Name
		if err := os.Remove(h.path(lost)); err != nil {
			t.Error(err)
		}
	})
	if !errors.Is(err, verify.ErrDiffers) || r.MissingFiles != 1 || len(r.Files) != 1 || r.Files[0].Name != lost {
		t.Errorf("%v, missing or damaged: %v; want %s", err, r.Files, lost)
	}

	h = loaded(t, 8)
	if r, err = h.dropped(t, 100, func() {}); !errors.Is(err, table.ErrChanged) || errors.Is(err, verify.ErrDiffers) || len(r.Files) > 0 {
		t.Errorf("it changes each time: %v, missing or damaged: %v; want ErrChanged", err, r.Files)
	}
}
