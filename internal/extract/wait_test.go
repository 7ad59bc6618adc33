package extract_test

import (
	"context"
	"errors"
	iofs "io/fs"
	"maps"
	"path/filepath"
	"sync"
	"testing"

	"usertrail/internal/extract"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// A queue is a file system whose first lock is taken after another run has held it, as
// for a run that waited.
type queue struct {
	dfs.FS
	other func()
	once  sync.Once
}

func (q *queue) Lock(ctx context.Context, name string) (dfs.Lock, error) {
	q.once.Do(q.other)
	return q.FS.Lock(ctx, name)
}

// TestAWaitingExtractLooksAgain extracts into a directory that another run makes while
// this one waits for the lock. It reads no row for the result that exists, and leaves no file.
func TestAWaitingExtractLooksAgain(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Regions: 2}
	h.Load(t, u, w.Span)
	q := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"}
	another := testworld.Query{Span: w.Span, Kinds: w.Names()[:1], Active: "any"}
	for name, first := range map[string]testworld.Query{"the same": q, "another": another} {
		home := testkit.Scratch(t)
		out := filepath.Join(home, "out")
		var want extract.Result
		waiting := *h
		waiting.FS = &queue{FS: h.FS, other: func() {
			var err error
			if want, err = h.Extract(t.Context(), first, u, out); err != nil {
				t.Fatal(err)
			}
		}}
		c, err := waiting.Config(t.Context(), q, u, out)
		if err != nil {
			t.Fatal(err)
		}
		c.Table = extracttest.Untouched{Table: c.Table, T: t}
		r, err := extract.Run(t.Context(), c)
		if !errors.Is(err, iofs.ErrExist) {
			t.Errorf("%s query before: %v, want an error about an existing result", name, err)
		}
		if same := name == "the same"; r.Already != same || same && (r.Events != want.Events || r.Kept != want.Kept || r.Files != want.Files) {
			t.Errorf("%s query before: %+v, want already %t, %+v", name, r, same, want)
		}
		if left := extracttest.Leftovers(t, home); len(left) > 0 {
			t.Errorf("%s query before: there is also %q", name, left)
		}
		if err := c.Table.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAWaitingExtractMayOverwrite replaces the result that another run made while this one
// waited for the lock.
func TestAWaitingExtractMayOverwrite(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Regions: 2}
	h.Load(t, u, w.Span)
	q := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"}
	another := testworld.Query{Span: w.Span, Kinds: w.Names()[:1], Active: "any"}
	home := testkit.Scratch(t)
	out, clean := filepath.Join(home, "out"), filepath.Join(testkit.Scratch(t), "clean")
	if _, err := h.Extract(t.Context(), q, u, clean); err != nil {
		t.Fatal(err)
	}
	waiting := *h
	waiting.FS = &queue{FS: h.FS, other: func() {
		if _, err := h.Extract(t.Context(), another, u, out); err != nil {
			t.Fatal(err)
		}
	}}
	u.Overwrite = true
	if _, err := waiting.Extract(t.Context(), q, u, out); err != nil {
		t.Fatal(err)
	}
	if got, want := dfstest.Snapshot(t, h.FS, out), dfstest.Snapshot(t, h.FS, clean); !maps.Equal(got, want) {
		t.Errorf("in the end %s", extracttest.Differ(got, want))
	}
}
