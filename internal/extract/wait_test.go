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
	w, h := tiny(t)
	u := turn{name: "trails", workers: 1, memory: 1 << 20, regions: 2}
	h.load(t, u, w.Span)
	q := testworld.Question{Span: w.Span, Kinds: w.Names(), Active: "any"}
	another := testworld.Question{Span: w.Span, Kinds: w.Names()[:1], Active: "any"}
	for name, first := range map[string]testworld.Question{"the same": q, "another": another} {
		home := testkit.Scratch(t)
		out := filepath.Join(home, "out")
		var want extract.Result
		waiting := *h
		waiting.fs = &queue{FS: h.fs, other: func() {
			var err error
			if want, err = h.ask(t.Context(), first, u, out); err != nil {
				t.Fatal(err)
			}
		}}
		c, err := waiting.asks(t.Context(), q, u, out)
		if err != nil {
			t.Fatal(err)
		}
		c.Table = untouched{c.Table, t}
		r, err := extract.Run(t.Context(), c)
		if !errors.Is(err, iofs.ErrExist) {
			t.Errorf("%s query before: %v, want that it is there", name, err)
		}
		if same := name == "the same"; r.Already != same || same && (r.Events != want.Events || r.Kept != want.Kept || r.Files != want.Files) {
			t.Errorf("%s query before: %+v, want already %t, %+v", name, r, same, want)
		}
		if left := leftovers(t, home); len(left) > 0 {
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
	w, h := tiny(t)
	u := turn{name: "trails", workers: 1, memory: 1 << 20, regions: 2}
	h.load(t, u, w.Span)
	q := testworld.Question{Span: w.Span, Kinds: w.Names(), Active: "any"}
	another := testworld.Question{Span: w.Span, Kinds: w.Names()[:1], Active: "any"}
	home := testkit.Scratch(t)
	out, clean := filepath.Join(home, "out"), filepath.Join(testkit.Scratch(t), "clean")
	if _, err := h.ask(t.Context(), q, u, clean); err != nil {
		t.Fatal(err)
	}
	waiting := *h
	waiting.fs = &queue{FS: h.fs, other: func() {
		if _, err := h.ask(t.Context(), another, u, out); err != nil {
			t.Fatal(err)
		}
	}}
	u.overwrite = true
	if _, err := waiting.ask(t.Context(), q, u, out); err != nil {
		t.Fatal(err)
	}
	if got, want := dfstest.Snapshot(t, h.fs, out), dfstest.Snapshot(t, h.fs, clean); !maps.Equal(got, want) {
		t.Errorf("in the end %s", differ(got, want))
	}
}
