package extract_test

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/dfs/dfstest"
	"usertrail/internal/extract"
	"usertrail/internal/layout"
	"usertrail/internal/testworld"
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
		if _, err := h.ask(t.Context(), q, u, out); !errors.Is(err, extract.ErrQuestion) || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want ErrQuestion and %q", q, err, says)
		}
	}
	if left := leftovers(t, h.dir); strings.Contains(strings.Join(left, " "), "out") {
		t.Errorf("wrong questions left %q", left)
	}
}

// TestAnEmptyAnswerIsAPartWithoutRows, so that whoever reads it finds the columns.
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
		if _, ok := dfstest.Snapshot(t, h.fs, out)[extract.SuccessName]; !ok {
			t.Errorf("%s: there is no %s", name, extract.SuccessName)
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

func TestListsOfUsersAreReadStrictly(t *testing.T) {
	long := strings.Repeat("x", behaviour.MaxUserLen)
	for text, says := range map[string]string{
		"a\n\n  \nb\r\na\n":           "",
		"\ufeffa\nb":                  "",
		long + "\n":                   "",
		long + "x\n":                  "line 1 is longer",
		"a\n\xff\n":                   "line 2 is not UTF-8",
		strings.Repeat("y", 3<<20):    "line 1 is longer",
		strings.Repeat("a\nb\n", 1e5): "",
		numbered(1e5):                 "do not fit in memory",
	} {
		_, err := extract.ReadUsers(strings.NewReader(text), "people.txt", layout.Reversed{}, 1<<20)
		if says == "" && err != nil || says != "" && (!errors.Is(err, extract.ErrUsers) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "people.txt")) {
			t.Errorf("%.20q…: %v, want %q", text, err, says)
		}
	}
}

// numbered is a list of n different users.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d\n", i)
	}
	return b.String()
}

// TestAListLeavesRoomForTrails asks by lists of which one fits into the least memory
// beside the trails, and the other does not.
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
		users, err := extract.ReadUsers(strings.NewReader(list.String()), "list", layout.Reversed{}, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		r, err := extract.Run(t.Context(), extract.Config{
			FS: h.fs, Table: opened, Users: users, Span: w.Span, Types: w.Names(), Workers: 4, Memory: extract.MinMemory,
			Out: filepath.Join(h.dir, fmt.Sprint("out", n)),
		})
		switch {
		case fits && (err != nil || r.Users != int64(n)):
			t.Errorf("%d users: %+v, %v", n, r, err)
		case !fits && (!errors.Is(err, extract.ErrUsers) || !strings.Contains(err.Error(), "raise --memory")):
			t.Errorf("%d users: %v, want ErrUsers and what to do", n, err)
		}
	}
}
