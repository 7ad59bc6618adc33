package judge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// bounded adds bounds to a query: hours of one day, a time, a number of events, or several
// of these.
func bounded(w *testworld.W, r *rand.Rand, q *testworld.Query) {
	c := &q.Conditions
	if r.IntN(2) == 0 {
		q.Span.From += behaviour.Date(r.IntN(int(q.Span.To-q.Span.From) + 1))
		q.Span.To = q.Span.From
	}
	switch r.IntN(6) {
	case 0:
		someHours(r, c)
	case 1:
		someTime(w, r, q)
	case 2:
		*c = testworld.Conditions{Latest: 1 + r.IntN(4)}
		q.Kinds = w.Names()
	case 3:
		w.Narrow(r, q)
	default:
		*c = testworld.Conditions{}
		q.Kinds = w.Names()
		if r.IntN(2) == 0 {
			w.Narrow(r, q)
		}
		if r.IntN(2) == 0 {
			someHours(r, c)
		}
		if r.IntN(2) == 0 {
			someTime(w, r, q)
		}
		c.Latest = 1 + r.IntN(4)
	}
}

// someHours draws hours of the day, also over midnight.
func someHours(r *rand.Rand, c *testworld.Conditions) {
	from := r.IntN(23)
	to := from + 1 + r.IntN(24-from)
	if from == 0 && to == 24 {
		to = 12
	}
	c.Hours, c.Evening = fmt.Sprintf("%d-%d", from, to), func(_ string, h int) bool { return from <= h && h < to }
	if from > 0 && r.IntN(2) == 0 {
		c.Hours, c.Evening = fmt.Sprintf("%d-%d", to%24, from), func(_ string, h int) bool { return h < from || h >= to }
	}
}

// someTime draws a time of the query's days, or of the day after them.
func someTime(w *testworld.W, r *rand.Rand, q *testworld.Query) {
	zone, err := time.LoadLocation(w.Schema.Zone)
	if err != nil {
		panic(err)
	}
	at := q.Span.From.Start(zone).UnixMicro() + r.Int64N(int64(q.Span.Days()+1)*24*3600*1e6)
	q.Conditions.At = &at
}

// TestAWindowChangesNoResult runs, on tables of all layouts, queries that look at a part of
// each trail, with rolls and without.
func TestAWindowChangesNoResult(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 1, 2) {
		w := testworld.Numbered(seed, 25)
		h := extracttest.Delivered(t, w)
		r := rand.New(rand.NewPCG(seed, 8))
		queries := w.Queries(seed, 40)
		for i := range queries {
			if i%3 == 0 {
				w.Narrow(r, &queries[i])
			}
			bounded(w, r, &queries[i])
		}
		extracttest.Laid(t, w, h, func(name string, u extracttest.Turn) {
			for i, q := range queries {
				want := w.Oracle(q)
				for _, u.Unrolled = range []bool{false, true} {
					extracttest.Same(t, fmt.Sprintf("world %d, layout %s, query %d, without rolls %t, %+v", seed, name, i, u.Unrolled, q), h.Result(t, q, u), want)
				}
			}
		})
	}
}

// counted counts the cells that come of a table.
type counted struct {
	table.Table
	cells atomic.Int64
}

func (c *counted) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	return c.Table.Read(ctx, q, func(one *cell.Cell) error {
		c.cells.Add(1)
		return emit(one)
	})
}

// cellsOf runs a query. It returns the number of cells that were read, and the cost in the
// manifest of the result.
func cellsOf(t *testing.T, h *extracttest.Fixture, q testworld.Query, u extracttest.Turn) (cells int64, outcome manifest.Amount) {
	t.Helper()
	opened, err := h.Open(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	c := &counted{Table: opened}
	_, made := extracttest.Cost(t, h.Query(t, q, c))
	return c.cells.Load(), made.Outcome
}

// TestAWindowIsReadAlone counts the cells read from tables that keep a user's behaviours in
// order of time, or in order of time for each behaviour. For two hours of a day it reads no
// other hours, and for the latest two events no older ones.
func TestAWindowIsReadAlone(t *testing.T) {
	w := testworld.Numbered(5, 60)
	h := extracttest.Delivered(t, w)
	day := behaviour.Span{From: w.Span.From + 1, To: w.Span.From + 1}
	hours := testworld.Query{Span: day, Kinds: []string{"play"}, Active: "any"}
	hours.Conditions.Hours = "20-22"
	latest := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"}
	latest.Conditions.Latest = 2
	extracttest.Laid(t, w, h, func(name string, u extracttest.Turn) {
		l, err := layout.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		all := hours
		all.Conditions = testworld.Conditions{}
		more, whole := cellsOf(t, h, all, u)
		less, near := cellsOf(t, h, hours, u)
		if near.Behaviours == 0 || 4*near.Behaviours > whole.Behaviours {
			t.Fatalf("%s: the day has %d events, and its hours %d", name, whole.Behaviours, near.Behaviours)
		}
		switch name {
		case "reversed", "hashed": // rows of a day, or of all days
			if less > more {
				t.Errorf("%s: %d cells come of some hours, and %d of all", name, less, more)
			}
		default:
			if 3*less > more {
				t.Errorf("%s: %d cells come of some hours, and %d of all", name, less, more)
			}
		}
		cells, made := cellsOf(t, h, latest, u)
		if newest := l.Traits().Newest != layout.NotNewest; newest && (cells != made.Behaviours || cells > 2*made.Users) || made.Behaviours == 0 {
			t.Errorf("%s: %d cells come of the latest 2 of %d users, made from %+v", name, cells, made.Users, made)
		}
	})
}

// TestWhoIsSureIsActive requests hours without events: the active users are settled over the
// whole day all the same.
func TestWhoIsSureIsActive(t *testing.T) {
	w := testworld.Numbered(3, 40)
	h := extracttest.Delivered(t, w)
	h.Load(t, extracttest.Plain, w.Span)
	before := w.Span.From.Start(time.UTC).AddDate(0, 0, -2).UnixMicro()
	q := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"}
	q.Conditions.At = &before
	for _, u := range []extracttest.Turn{extracttest.Plain, {Name: extracttest.Plain.Name, Workers: 1, Unrolled: true}} {
		r, err := h.Extract(t.Context(), q, u, filepath.Join(testkit.Scratch(t), "out"))
		if err != nil || r.Active == 0 || r.Active != r.Found || r.Kept != 0 {
			t.Errorf("without rolls %t: %+v, %v", u.Unrolled, r, err)
		}
	}
}
