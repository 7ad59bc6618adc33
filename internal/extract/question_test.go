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
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testworld"
)

func TestWrongQuestionsAreRefused(t *testing.T) {
	w, h := tiny(t)
	u := turn{name: "trails", workers: 1, memory: 1 << 20}
	h.load(t, u, w.Span)
	good := testworld.Question{Span: w.Span, Kinds: w.Names(), Active: "all"}
	out := filepath.Join(h.dir, "out")
	for says, spoil := range map[string]func(*testworld.Question){
		"comes after":                   func(q *testworld.Question) { q.Span.From, q.Span.To = q.Span.To, q.Span.From },
		"names no behaviour":            func(q *testworld.Question) { q.Kinds = nil },
		`has no behaviour "pray"`:       func(q *testworld.Question) { q.Kinds = []string{"play", "pray"} },
		"only 4 behaviours":             func(q *testworld.Question) { q.Active = "min:5" },
		"it is all, any or min:N":       func(q *testworld.Question) { q.Active = "some" },
		"it has play, playlist, order,": func(q *testworld.Question) { q.Kinds = []string{"Play"} },
	} {
		q := good
		spoil(&q)
		if _, err := h.ask(t.Context(), q, u, out); !errors.Is(err, query.ErrWrong) || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want ErrQuestion and %q", q, err, says)
		}
	}
	if left := leftovers(t, h.dir); strings.Contains(strings.Join(left, " "), "out") {
		t.Errorf("wrong questions left %q", left)
	}
}

// TestAnEmptyAnswerIsAPartWithoutRows checks that a reader of an empty result finds the columns.
func TestAnEmptyAnswerIsAPartWithoutRows(t *testing.T) {
	w, h := tiny(t)
	u := turn{name: "trails", workers: 2, memory: 1 << 20}
	h.load(t, u, w.Span)
	never := behaviour.Span{From: w.Span.To + 50, To: w.Span.To + 60}
	for name, q := range map[string]testworld.Question{
		"no such days":  {Span: never, Kinds: w.Names(), Active: "any"},
		"nobody known":  {Users: []string{"nobody", "", "neither"}, Span: w.Span, Kinds: w.Names(), Active: "any"},
		"an empty list": {Users: []string{}, Span: w.Span, Kinds: w.Names(), Active: "any"},
	} {
		out := filepath.Join(h.dir, name)
		r, err := h.ask(t.Context(), q, u, out)
		if err != nil || r.Events != 0 || r.Active != 0 || r.Files != 1 {
			t.Fatalf("%s: %+v, %v; want one part without rows", name, r, err)
		}
		if rows := readTrails(t, h.fs, out); len(rows) != 0 {
			t.Errorf("%s: %d rows", name, len(rows))
		}
		if _, ok := dfstest.Snapshot(t, h.fs, out)[place.SuccessName]; !ok {
			t.Errorf("%s: there is no %s", name, place.SuccessName)
		}
	}
}

func TestAnAnswerIsNotReplacedUnasked(t *testing.T) {
	w, h := tiny(t)
	u := turn{name: "trails", workers: 1, memory: 1 << 20}
	h.load(t, u, w.Span)
	out := filepath.Join(h.dir, "out")
	q := testworld.Question{Span: w.Span, Kinds: w.Names(), Active: "any"}
	if _, err := h.ask(t.Context(), q, u, out); err != nil {
		t.Fatal(err)
	}
	before := dfstest.Snapshot(t, h.fs, out)
	q.Kinds = q.Kinds[:1]
	if _, err := h.ask(t.Context(), q, u, out); !errors.Is(err, iofs.ErrExist) {
		t.Errorf("%v, want ErrExist", err)
	}
	if diff := differ(dfstest.Snapshot(t, h.fs, out), before); diff != "" {
		t.Errorf("the answer that was there: %s", diff)
	}
}

// TestAListLeavesRoomForTrails asks with two lists. One fits into the least memory next to
// the trails, and the other does not.
func TestAListLeavesRoomForTrails(t *testing.T) {
	w, h := tiny(t)
	u := turn{name: "trails", workers: 1, memory: 1 << 20}
	h.load(t, u, w.Span)
	opened, err := h.store(u.name).Open(t.Context())
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
			Target: place.Target{FS: h.fs, Out: filepath.Join(h.dir, fmt.Sprint("out", n))},
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
