package query_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/query"
	"usertrail/internal/test/testworld"
)

func TestWrongQueriesAreRefused(t *testing.T) {
	w, h := extracttest.Tiny(t)
	u := extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20}
	h.Load(t, u, w.Span)
	good := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "all"}
	out := filepath.Join(h.Dir, "out")
	for says, spoil := range map[string]func(*testworld.Query){
		"comes after":                    func(q *testworld.Query) { q.Span.From, q.Span.To = q.Span.To, q.Span.From },
		"--types is missing":             func(q *testworld.Query) { q.Kinds = nil },
		`has no behaviour "pray"`:        func(q *testworld.Query) { q.Kinds = []string{"play", "pray"} },
		"requested behaviours, 4: write": func(q *testworld.Query) { q.Active = "min:5" },
		"it is all, any or min:N":        func(q *testworld.Query) { q.Active = "some" },
		"it has play, playlist, order,":  func(q *testworld.Query) { q.Kinds = []string{"Play"} },
	} {
		q := good
		spoil(&q)
		if _, err := h.Extract(t.Context(), q, u, out); !errors.Is(err, query.ErrWrong) || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want ErrWrong and %q", q, err, says)
		}
	}
	if left := extracttest.Leftovers(t, h.Dir); strings.Contains(strings.Join(left, " "), "out") {
		t.Errorf("wrong queries left %q", left)
	}
}
