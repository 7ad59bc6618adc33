package extract_test

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testworld"
)

// TestAnEmptyResultIsAPartWithoutRows checks that a reader of an empty result finds the columns.
func TestAnEmptyResultIsAPartWithoutRows(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 2, Memory: 1 << 20}
	h.Load(t, u, w.Span)
	never := behaviour.Span{From: w.Span.To + 50, To: w.Span.To + 60}
	for name, q := range map[string]testworld.Query{
		"no such days":  {Span: never, Kinds: w.Names(), Active: "any"},
		"nobody known":  {Users: []string{"nobody", "", "neither"}, Span: w.Span, Kinds: w.Names(), Active: "any"},
		"an empty list": {Users: []string{}, Span: w.Span, Kinds: w.Names(), Active: "any"},
	} {
		out := filepath.Join(h.Dir, name)
		r, err := h.Extract(t.Context(), q, u, out)
		if err != nil || r.Events != 0 || r.Active != 0 || r.Files != 1 {
			t.Fatalf("%s: %+v, %v; want one part without rows", name, r, err)
		}
		if rows := extracttest.ReadTrails(t, h.FS, out); len(rows) != 0 {
			t.Errorf("%s: %d rows", name, len(rows))
		}
		if _, ok := dfstest.Snapshot(t, h.FS, out)[place.SuccessName]; !ok {
			t.Errorf("%s: there is no %s", name, place.SuccessName)
		}
	}
}

func TestAResultIsNotReplacedUnasked(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20}
	h.Load(t, u, w.Span)
	out := filepath.Join(h.Dir, "out")
	q := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"}
	if _, err := h.Extract(t.Context(), q, u, out); err != nil {
		t.Fatal(err)
	}
	before := dfstest.Snapshot(t, h.FS, out)
	q.Kinds = q.Kinds[:1]
	if _, err := h.Extract(t.Context(), q, u, out); !errors.Is(err, iofs.ErrExist) {
		t.Errorf("%v, want ErrExist", err)
	}
	if diff := extracttest.Differ(dfstest.Snapshot(t, h.FS, out), before); diff != "" {
		t.Errorf("the result that was there: %s", diff)
	}
}

// TestAListLeavesRoomForTrails extracts two lists. One fits into the least memory next to the
// trails, and the other does not.
func TestAListLeavesRoomForTrails(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20}
	h.Load(t, u, w.Span)
	opened, err := h.Store(u.Name).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	for n, fits := range map[int]bool{100_000: true, 130_000: false} {
		list := new(strings.Builder)
		for i := range n {
			fmt.Fprintf(list, "%0200d\n", i)
		}
		users, err := userlist.Read(strings.NewReader(list.String()), "list", layout.Reversed{}, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		r, err := extract.Run(t.Context(), extract.Config{
			Spec:   query.Spec{Users: users, Span: w.Span, Types: w.Names()},
			Target: place.Target{FS: h.FS, Out: filepath.Join(h.Dir, fmt.Sprint("out", n))},
			Table:  opened, Workers: 4, Memory: memory.Least,
		})
		switch {
		case fits && (err != nil || r.Users != int64(n)):
			t.Errorf("%d users: %+v, %v", n, r, err)
		case !fits && (!errors.Is(err, userlist.ErrList) || !strings.Contains(err.Error(), "raise --memory")):
			t.Errorf("%d users: %v, want ErrUsers and what to do", n, err)
		}
	}
}
