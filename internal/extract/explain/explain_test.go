package explain_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/extract/explain"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// strange is a table in which only rows show which users exist, and whose rows cannot be read.
type strange struct{ unread }

func (s strange) Info() table.Info { return extracttest.Narrow{Table: s.Table}.Info() }

func (s strange) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	return table.RowUsers(ctx, s, r, span), nil
}

// unheard is a table without a record of any load.
type unheard struct{ strange }

func (u unheard) Manifest() *manifest.Table {
	m := *u.Table.Manifest()
	m.Files, m.Loads = nil, nil
	return &m
}

func (unheard) EachLedger(context.Context, func(*manifest.Load) error) error { return nil }

// TestExplainKnowsWhoWithoutReading explains the queries of worlds on tables whose rows
// cannot be read, and then runs the queries. Without conditions, the users who may be active
// are the active users.
func TestExplainKnowsWhoWithoutReading(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 1, 2) {
		w := testworld.World(seed, 120)
		h := extracttest.Delivered(t, w)
		h.Load(t, extracttest.Turn{Name: extracttest.Plain.Name, Workers: 2, Memory: 1 << 30, Regions: 4}, w.Span)
		opened := h.Opened(t, extracttest.Plain.Name)
		r := rand.New(rand.NewPCG(seed, 6))
		for i, q := range w.Queries(seed, 20) {
			if i%2 == 1 {
				w.Narrow(r, &q)
			}
			c := h.Query(t, q, opened)
			x, err := explain.Estimate(t.Context(), c, unread{opened})
			if err != nil {
				t.Fatalf("world %d, query %d, %+v: %v", seed, i, q, err)
			}
			ran, cost := extracttest.Cost(t, c)
			what := fmt.Sprintf("world %d, query %d, %+v", seed, i, q)
			if !x.Exact || x.Users != ran.Users || x.Found != ran.Found || x.Rolls != estimate.Known {
				t.Errorf("%s: explained as %d users, %d found (%s, exact %t); there are %d and %d", what, x.Users, x.Found, x.Rolls, x.Exact, ran.Users, ran.Found)
			}
			if chosen := x.Plans[x.Chosen]; chosen.Users != x.May || cost.Estimate.Users != x.May || chosen.DecidedBy != estimate.ByRolls {
				t.Errorf("%s: %d users may be active; the plan is %+v, the run's estimate %+v", what, x.May, chosen, cost.Estimate)
			}
			if i%2 == 0 && x.May != ran.Active || x.May < cost.Outcome.Users-notRead(ran, cost) {
				t.Errorf("%s: %d users may be active, %d are", what, x.May, ran.Active)
			}
		}
	}
}

// notRead returns the number of active users whose rows are not read, because --where keeps
// nothing that they did.
func notRead(r extract.Result, c manifest.Cost) int64 { return max(r.Active-c.Estimate.Users, 0) }

// TestEstimatesComeTrue compares the estimated cost of queries without conditions with the
// real cost. Rows are exact, unless late files have a row a second time. The other numbers are
// within a factor.
func TestEstimatesComeTrue(t *testing.T) {
	const factor = 2
	for _, seed := range testkit.Seeds(t, 1, 2, 3) {
		w := testworld.World(seed, 200)
		h := extracttest.Delivered(t, w)
		h.Load(t, extracttest.Plain, w.Span)
		opened := h.Opened(t, extracttest.Plain.Name)
		large := 0
		for i, q := range w.Queries(seed, 15) {
			what := fmt.Sprintf("world %d, query %d, %+v", seed, i, q)
			c := h.Query(t, q, opened)
			x, err := explain.Estimate(t.Context(), c, unread{opened})
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			_, cost := extracttest.Cost(t, c)
			got := x.Plans[x.Chosen]
			if cost.Estimate.Rows != cost.Outcome.Rows || got.Rows != cost.Outcome.Rows || cost.Estimate.Users != cost.Outcome.Users {
				t.Errorf("%s: estimated %+v and %+v, took %+v", what, got.Amount, cost.Estimate, cost.Outcome)
			}
			if cost.Outcome.Behaviours < 100 {
				continue // chance
			}
			large++
			for _, e := range []struct {
				name          string
				estimate, run int64
				outcome       int64
			}{
				{"behaviours", got.Behaviours, cost.Estimate.Behaviours, cost.Outcome.Behaviours},
				{"cells", got.Cells, cost.Estimate.Cells, cost.Outcome.Cells},
			} {
				for _, n := range []int64{e.estimate, e.run} {
					if n*factor < e.outcome || n > e.outcome*factor {
						t.Errorf("%s: estimated %d %s (in the run %d), there are %d", what, e.estimate, e.name, e.run, e.outcome)
					}
				}
			}
		}
		if large < 3 {
			t.Errorf("world %d: only %d queries were large enough to compare", seed, large)
		}
	}
}

// TestTheOutcomeIsOfTheQuery extracts with one worker and with several, with screens and
// without. The recorded cost of the result is the same.
func TestTheOutcomeIsOfTheQuery(t *testing.T) {
	screened := 0
	for _, seed := range testkit.Seeds(t, 1, 2) {
		w := testworld.World(seed, 80)
		h := extracttest.Delivered(t, w)
		h.Load(t, extracttest.Plain, w.Span)
		opened := h.Opened(t, extracttest.Plain.Name)
		r := rand.New(rand.NewPCG(seed, 7))
		for i, q := range w.Queries(seed, 25) {
			w.Narrow(r, &q)
			// A screen changes the counts of users who do not stay, so tables with a screen are
			// compared with each other, and so are tables without.
			for _, in := range []table.Table{opened, extracttest.Narrow{Table: opened}, table.Unrolled(opened), table.Unrolled(extracttest.Narrow{Table: opened})} {
				c := h.Query(t, q, in)
				c.Workers = 1
				ran, first := extracttest.Cost(t, c)
				c.Out, c.Workers = filepath.Join(testkit.Scratch(t), "out"), 6
				_, second := extracttest.Cost(t, c)
				if first != second {
					t.Errorf("world %d, query %d, %+v: costs %+v, and %+v with more workers", seed, i, q, first, second)
				}
				if first.Outcome.Users != ran.Active {
					t.Errorf("world %d, query %d: %d active users, and the cost has %d", seed, i, ran.Active, first.Outcome.Users)
				}
				if in.Info().Narrow && ran.Kept < ran.Active {
					screened++
				}
			}
		}
	}
	if screened == 0 {
		t.Error("nobody was left out by a condition")
	}
}

// TestExplainTellsOfPlans explains queries of tables that know less or more, or can do more.
func TestExplainTellsOfPlans(t *testing.T) {
	w := testworld.World(1, 60)
	h := extracttest.Delivered(t, w)
	h.Load(t, extracttest.Plain, w.Span)
	opened := h.Opened(t, extracttest.Plain.Name)
	everything := w.Queries(1, 1)[0]
	var err error
	explained := func(in table.Loader, change func(*extract.Config)) explain.Explanation {
		t.Helper()
		c := h.Query(t, everything, in)
		change(&c)
		x, err := explain.Estimate(t.Context(), c, in)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	live := unread{opened}
	x := explained(live, func(c *extract.Config) { c.Table = table.Unrolled(live) })
	if p := x.Plans[x.Chosen]; x.Rolls != estimate.Off || p.DecidedBy != estimate.ByWalk || !strings.Contains(strings.Join(x.Why, " "), "--rolls off") {
		t.Errorf("without rolls: %+v, %q", p, x.Why)
	}
	if x.Logs.Files != int64(len(w.Files)) || x.Logs.Bytes == 0 {
		t.Errorf("the logs are %+v, delivered were %d files", x.Logs, len(w.Files))
	}
	for plan, want := range map[fetch.Plan]string{fetch.Auto: estimate.Scan, fetch.Get: estimate.Get, fetch.Scan: estimate.Scan, fetch.Snapshot: estimate.Snapshot} {
		x := explained(extracttest.Narrow{Table: opened}, func(c *extract.Config) { c.Plan = plan })
		if p := x.Plans[x.Chosen]; p.Name != want || len(x.Plans) != 5 {
			t.Errorf("--plan %s: %q of %d plans is chosen, want %q of 5", plan, p.Name, len(x.Plans), want)
		}
	}
	x = explained(extracttest.Narrow{Table: opened}, func(c *extract.Config) { c.Span.To, c.Types = c.Span.From, []string{"play"} })
	if p := x.Plans[x.Chosen]; p.Name != estimate.Get {
		t.Errorf("one row of each user: %q is chosen", p.Name)
	}
	if _, err := explain.Estimate(t.Context(), extract.Config{Spec: query.Spec{Users: userlist.All(), Span: w.Span, Types: []string{"plya"}}, Table: opened}, opened); !errors.Is(err, query.ErrWrong) {
		t.Errorf("an unknown behaviour: %v", err)
	}
	x = explained(live, func(c *extract.Config) {
		if c.Users, err = userlist.Read(strings.NewReader("\n"), "list", opened.Info().Layout, 1<<20); err != nil {
			t.Fatal(err)
		}
	})
	if p := x.Plans[x.Chosen]; x.Rolls != estimate.Known || !x.Exact || x.Users != 0 || p.Users != 0 || p.Cells != 0 {
		t.Errorf("nobody on the list: rolls %s, %+v", x.Rolls, p)
	}
	x = explained(opened, func(c *extract.Config) { c.Span.From, c.Span.To = c.Span.To+100, c.Span.To+101 })
	if !strings.Contains(strings.Join(x.Notes, "; "), "the table has no play on") || x.May != 0 {
		t.Errorf("on days without anything: %d users may be active, and said is %q", x.May, x.Notes)
	}
}

// TestExplainEstimatesWithoutRolls explains queries of a table to which others write, and a
// table without a record of its loads. It reads no row to find out.
func TestExplainEstimatesWithoutRolls(t *testing.T) {
	w := testworld.World(3, 150)
	h := extracttest.Delivered(t, w)
	h.Load(t, extracttest.Plain, w.Span)
	opened := h.Opened(t, extracttest.Plain.Name)
	ask := func(in table.Loader, q testworld.Query) explain.Explanation {
		t.Helper()
		x, err := explain.Estimate(t.Context(), h.Query(t, q, in), in)
		if err != nil {
			t.Fatal(err)
		}
		if x.Exact || x.Rolls != estimate.Unknown || len(x.Plans) != 3 || len(x.Notes) == 0 {
			t.Errorf("%+v: %d plans, exact %t, rolls %s, said is %q", q, len(x.Plans), x.Exact, x.Rolls, x.Notes)
		}
		return x
	}
	q := testworld.Query{Span: w.Span, Kinds: []string{"play", "order"}, Active: "all"}
	x := ask(strange{unread{opened}}, q)
	there := explained(t, h, q, opened)
	if p := x.Plans[x.Chosen]; p.DecidedBy != estimate.ByWalk || x.May < there.May || x.May > 2*int64(len(w.Users)) || p.Rows == 0 || p.Cells == 0 {
		t.Errorf("of all users %d may be active, by %+v; the rolls have %d", x.May, p, there.May)
	}
	q.Users = w.Users
	if p := ask(strange{unread{opened}}, q); p.Plans[p.Chosen].DecidedBy != estimate.ByExist || p.May != int64(len(w.Users)) {
		t.Errorf("of %d users on a list %d may be active, by %+v", len(w.Users), p.May, p.Plans[p.Chosen])
	}
	q.Active = "any"
	x = ask(unheard{strange{unread{opened}}}, q)
	if p := x.Plans[x.Chosen]; p.DecidedBy != estimate.ByRows || p.Users != int64(len(w.Users)) || p.Calls == 0 || x.Logs.Files != 0 {
		t.Errorf("a table without a record of a load: %+v, logs %+v", p, x.Logs)
	}
	if !strings.Contains(x.Notes[0], "the content of the table is not known") {
		t.Errorf("said is %q", x.Notes)
	}
}

func explained(t *testing.T, h *extracttest.Fixture, q testworld.Query, in *files.Table) explain.Explanation {
	t.Helper()
	x, err := explain.Estimate(t.Context(), h.Query(t, q, in), in)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
