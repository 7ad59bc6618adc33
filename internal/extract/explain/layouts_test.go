package explain_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/extract/explain"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
	"usertrail/internal/test/testworld"
)

// passed is a table that counts the rows and cells that come of it.
type passed struct {
	table.Table

	mu    sync.Mutex
	rows  map[string]bool
	cells int64
}

func (p *passed) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	return p.Table.Read(ctx, q, func(c *cell.Cell) error {
		p.mu.Lock()
		p.rows[string(c.Row)] = true
		p.cells++
		p.mu.Unlock()
		return emit(c)
	})
}

// TestLayoutsAreExplained compares the explanation for tables of all layouts with the real
// cost. Rows and cells are within a factor. If scans skip much more than the result needs, the
// explanation has the reason.
func TestLayoutsAreExplained(t *testing.T) {
	const factor = 2
	near := func(a, b int64) bool { return a <= b*factor && b <= a*factor }
	w := testworld.Numbered(6, 400)
	h := extracttest.Delivered(t, w)
	everything := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"}
	day := behaviour.Span{From: w.Span.From + 1, To: w.Span.From + 1}
	oneDay := testworld.Query{Span: day, Kinds: []string{"order", "play"}, Active: "any"}
	hours := oneDay
	hours.Conditions.Hours = "12-18"
	much := map[string]string{}
	extracttest.Laid(t, w, h, func(name string, u extracttest.Turn) {
		for what, q := range map[string]testworld.Query{"everything": everything, "a day": oneDay, "hours": hours} {
			opened := h.Opened(t, u.Name)
			x, err := explain.Estimate(t.Context(), h.Query(t, q, opened), unread{opened})
			if err != nil {
				t.Fatal(err)
			}
			came := &passed{Table: opened, rows: map[string]bool{}}
			c := h.Query(t, q, came)
			c.Known = table.Known(opened)
			_, made := extracttest.Cost(t, c)
			p := x.Plans[x.Chosen]
			if x.Layout != name || !near(p.Rows, made.Outcome.Rows) || !near(p.Needs, made.Outcome.Cells) || !near(made.Estimate.Cells, made.Outcome.Cells) {
				t.Errorf("%s, %s: explained as %+v, estimated as %+v, made from %+v", name, what, p, made.Estimate, made.Outcome)
			}
			if !near(p.Scanned, came.cells) {
				t.Errorf("%s, %s: %d cells came, explained were %+v", name, what, came.cells, p)
			}
			if what == "everything" && int64(len(came.rows)) != made.Outcome.Rows {
				t.Errorf("%s: %d rows came, the result is made from %+v", name, len(came.rows), made.Outcome)
			}
			why := strings.Join(x.Why, " ")
			if more := p.Scanned > factor*p.Needs; more != strings.Contains(why, "To find them") {
				t.Errorf("%s, %s: %+v, said is %q", name, what, p, why)
			} else if more {
				much[name] += what + " "
			}
		}
	})
	for _, name := range []string{"reversed", "hashed"} {
		if !strings.Contains(much[name], "hours") {
			t.Errorf("hours of a day in the layout %s: nothing is said of the others", name)
		}
	}
	if much["game"] != "" {
		t.Errorf("in the layout game more is passed over than %q needs", much["game"])
	}
}

// TestWhatServersLeaveOutIsTold explains the latest behaviours, and hours of a day of a
// table in which reading few columns is cheap. Rows are got by name where they have one.
func TestWhatServersLeaveOutIsTold(t *testing.T) {
	w := testworld.Numbered(7, 30)
	h := extracttest.Delivered(t, w)
	day := behaviour.Span{From: w.Span.From, To: w.Span.From}
	extracttest.Laid(t, w, h, func(name string, u extracttest.Turn) {
		l, err := layout.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		reads, err := l.Reads(&w.Schema, layout.Everyone(&w.Schema, day))
		if err != nil {
			t.Fatal(err)
		}
		in := extracttest.Narrow{Table: h.Opened(t, u.Name)}
		q := testworld.Query{Span: day, Kinds: w.Names(), Active: "any"}
		q.Conditions.Latest = 2
		x, err := explain.Estimate(t.Context(), h.Query(t, q, in), in)
		if err != nil {
			t.Fatal(err)
		}
		newest := l.Traits().Newest != layout.NotNewest
		jumps := reads.Timed && (reads.Columns.Bounded() || x.Plans[x.Chosen].Name == estimate.Scan && !newest)
		if slices.Contains(x.Pushed, "newest") != newest || slices.Contains(x.Pushed, "time range") == jumps {
			t.Errorf("%s: the latest two push down %q", name, x.Pushed)
		}
		if l.Traits().Newest != layout.NotNewest && x.Plans[x.Chosen].Behaviours > 2*x.May {
			t.Errorf("%s: the latest two of %d users are %+v", name, x.May, x.Plans[x.Chosen])
		}
		got := slices.ContainsFunc(x.Plans, func(p estimate.Plan) bool { return p.Name == estimate.Get })
		if got != (reads.Rows != nil) {
			t.Errorf("%s: the plans are %+v", name, x.Plans)
		}
		c := h.Query(t, q, in)
		c.Table = table.Unrolled(in)
		if x, err = explain.Estimate(t.Context(), c, in); err != nil || slices.Contains(x.Pushed, "fuzzy rows") != (reads.Fuzzy != nil) {
			t.Errorf("%s: everybody without rolls pushes down %q, %v", name, x.Pushed, err)
		}
	})
}
