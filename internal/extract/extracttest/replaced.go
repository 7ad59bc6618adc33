package extracttest

import (
	"maps"
	"path/filepath"
	"testing"

	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testworld"
)

// A Replaced is a result that the result of another query replaces.
type Replaced struct {
	Before, After testworld.Query

	h            *Fixture
	before, want map[string]string // the files of both results
}

// NewReplaced makes the results of two queries over the table of u.
func NewReplaced(t *testing.T, w *testworld.W, h *Fixture, u Turn) *Replaced {
	t.Helper()
	r := &Replaced{
		Before: testworld.Query{Span: w.Span, Kinds: w.Names()[:1], Active: "any"},
		After:  testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"},
		h:      h,
	}
	result := func(name string, q testworld.Query) map[string]string {
		out := filepath.Join(h.Dir, name)
		if _, err := h.Extract(t.Context(), q, u, out); err != nil {
			t.Fatal(err)
		}
		return dfstest.Snapshot(t, h.FS, out)
	}
	r.before, r.want = result("before", r.Before), result("after", r.After)
	return r
}

// CheckOne checks that out is one of the results, complete, after a replacement that ended with err.
func (r *Replaced) CheckOne(t *testing.T, what, out string, err error) {
	t.Helper()
	got := dfstest.Snapshot(t, r.h.FS, out)
	if !maps.Equal(got, r.want) && (err == nil || !maps.Equal(got, r.before)) {
		t.Errorf("%s (%v): the result is neither the old one nor the new one", what, err)
	}
}

// CheckEnd checks that out is the new result, and that nothing is left next to it.
func (r *Replaced) CheckEnd(t *testing.T, what, out string) {
	t.Helper()
	if diff := Differ(dfstest.Snapshot(t, r.h.FS, out), r.want); diff != "" {
		t.Errorf("%s: in the end %s", what, diff)
	}
	if left := Leftovers(t, filepath.Dir(out)); len(left) > 0 {
		t.Errorf("%s: in the end there is also %q", what, left)
	}
}
