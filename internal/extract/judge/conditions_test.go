package judge_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/extract"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// TestOverflowIsTheQueries requests sums that need more than 64 bits.
func TestOverflowIsTheQueries(t *testing.T) {
	h, q := extracttest.Crowd(t, 40, 1)
	q.Kinds = []string{"play"}
	u := extracttest.Turn{Name: "trails", Workers: 1}
	for _, c := range []testworld.Conditions{
		{Where: testworld.Where{Text: "play.seconds * 9223372036854775807 > 0"}},
		{Having: testworld.Having{Text: "count(play) + 9223372036854775807 > 0"}},
	} {
		q.Conditions = c
		if _, err := h.Extract(t.Context(), q, u, filepath.Join(h.Dir, "out")); !errors.Is(err, query.ErrWrong) || !strings.Contains(err.Error(), "does not fit 64 bits") {
			t.Errorf("%+v: %v, want ErrWrong", c, err)
		}
	}
}

// TestConditionsAreTheOracles runs many queries with random conditions, in any combination: of
// the table, of its rows alone, and with rolls that name too much.
func TestConditionsAreTheOracles(t *testing.T) {
	worlds, some := testkit.Seeds(t, 1, 2, 3, 4), 0
	for _, seed := range worlds {
		w := testworld.World(seed, 40)
		h := extracttest.Delivered(t, w)
		h.Load(t, extracttest.Plain, w.Span)
		r := rand.New(rand.NewPCG(seed, 5))
		for i, q := range w.Queries(seed, 60) {
			w.Narrow(r, &q)
			want := w.Oracle(q)
			for _, u := range []extracttest.Turn{{}, {Unrolled: true}, {Unsure: true}} {
				what := fmt.Sprintf("world %d, query %d, without rolls %t, with too much in them %t, %+v", seed, i, u.Unrolled, u.Unsure, q)
				u.Name, u.Workers = extracttest.Plain.Name, extracttest.Plain.Workers
				extracttest.Same(t, what, h.Result(t, q, u), want)
			}
			if len(want.Rows) > 0 {
				some++
			}
		}
	}
	if some < 10*len(worlds) {
		t.Errorf("only %d queries had a result", some)
	}
}

// asking is a table that counts the requests to it.
type asking struct {
	table.Table

	mu    sync.Mutex
	exist map[string]int // rows of which only the existence was requested, by behaviour
	whole int            // users whose behaviours were read
	few   int            // users of whom only some prefixes were
	most  int            // prefixes of the widest query
}

func (a *asking) Info() table.Info {
	info := a.Table.Info()
	info.Narrow = true
	return info
}

func (a *asking) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	a.note(q)
	return a.Table.Read(ctx, q, emit)
}

func (a *asking) note(q table.Query) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q.Exist {
		info := a.Table.Info()
		for row := range q.Rows {
			c := cell.Cell{Row: row, Qualifier: []byte("_,\x00\x00\x00\x00\x00\x00\x00\x00")}
			told, _ := info.Layout.Teller(info.Schema).Tell(&c)
			a.exist[info.Schema.Kinds[told.Kind].Name]++
		}
		return
	}
	n := 0
	for range q.Ranges {
		n++
	}
	switch {
	case len(q.Columns.Prefixes) > a.most:
		a.most, a.few, a.whole = len(q.Columns.Prefixes), a.few+a.whole, n
	case len(q.Columns.Prefixes) == a.most:
		a.whole += n
	default:
		a.few += n
	}
}

// TestWhoFirstPayloadAfter looks for the users of a list by rows alone. It looks for each
// further behaviour only among users who can still be active. It reads everything only of the
// users who stay.
func TestWhoFirstPayloadAfter(t *testing.T) {
	w := testworld.World(3, 300)
	h := extracttest.Delivered(t, w)
	h.Load(t, extracttest.Plain, w.Span)
	opened, err := h.Store(extracttest.Plain.Name).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	list := strings.NewReader(strings.Join(append(w.Users, "nobody"), "\n"))
	users, err := userlist.Read(list, "list", opened.Info().Layout, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	a := &asking{Table: table.Unrolled(opened), exist: map[string]int{}}
	types := []string{"play", "order", "login"}
	r, err := extract.Run(t.Context(), extract.Config{
		Spec:   query.Spec{Users: users, Span: w.Span, Types: types, Conditions: query.Conditions{Having: "count(play) >= 5"}},
		Target: place.Target{FS: h.FS, Out: filepath.Join(h.Dir, "out")},
		Table:  a, Plan: fetch.Scan, Workers: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	everybody, all := (len(w.Users)+1)*w.Span.Days(), 0
	for _, name := range types {
		all += a.exist[name]
		if a.exist[name] > everybody {
			t.Errorf("of %d rows of %s that there can be, %d were asked for", everybody, name, a.exist[name])
		}
	}
	if a.exist["play"] != everybody || all >= len(types)*everybody {
		t.Errorf("asked for the rows %v; of each behaviour there can be %d", a.exist, everybody)
	}
	if a.few != int(r.Active) || a.whole != int(r.Kept) || r.Kept == 0 || r.Kept >= r.Active || r.Active >= r.Found {
		t.Errorf("%d users were screened and %d read whole; of %d found are %d active and %d kept", a.few, a.whole, r.Found, r.Active, r.Kept)
	}
}

// TestWhereReadsNoMoreKinds requests plays that --where keeps, though it would keep other
// behaviours as well: they are not in the result and judge no user, so they are not read.
func TestWhereReadsNoMoreKinds(t *testing.T) {
	w := testworld.World(3, 100)
	h := extracttest.Delivered(t, w)
	h.Load(t, extracttest.Plain, w.Span)
	q := testworld.Query{Span: w.Span, Kinds: []string{"play"}}
	opened := h.Opened(t, extracttest.Plain.Name)
	_, want := extracttest.Cost(t, h.Query(t, q, opened))
	q.Conditions.Where.Text = "hour >= 0 || order.price > 0"
	r, got := extracttest.Cost(t, h.Query(t, q, opened))
	if got.Outcome.Rows != want.Outcome.Rows || r.Kept == 0 {
		t.Errorf("%d rows were read, of plays alone there are %d; %d users are kept", got.Outcome.Rows, want.Outcome.Rows, r.Kept)
	}
}
