package explain_test

import (
	"slices"
	"testing"

	"usertrail/internal/extract/explain"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
	"usertrail/internal/test/testworld"
)

// TestConditionsThatServersTakeAreNamed explains queries that servers can filter by values,
// and other queries.
func TestConditionsThatServersTakeAreNamed(t *testing.T) {
	w := testworld.Numbered(7, 30)
	h := extracttest.Delivered(t, w)
	extracttest.Laid(t, w, h, func(name string, u extracttest.Turn) {
		l, err := layout.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		in := extracttest.Narrow{Table: h.Opened(t, u.Name)}
		for _, x := range []struct {
			types      []string
			conditions testworld.Conditions
			pushed     bool
		}{
			{w.Names(), testworld.Conditions{Where: testworld.Where{Text: "order.paid"}}, true},
			{w.Names(), testworld.Conditions{Where: testworld.Where{Text: "play.seconds >= 1 || order.price > 0"}, Latest: 2}, true},
			{w.Names(), testworld.Conditions{Where: testworld.Where{Text: "order.paid"}, Context: 1}, false},
			{w.Names(), testworld.Conditions{Where: testworld.Where{Text: `order.paid || behaviour == "play"`}}, false},
			{[]string{"order"}, testworld.Conditions{Where: testworld.Where{Text: `order.paid || behaviour == "play"`}}, true},
			{w.Names(), testworld.Conditions{Where: testworld.Where{Text: "hour < 12"}}, false},
			{w.Names(), testworld.Conditions{Latest: 2}, false},
		} {
			q := testworld.Query{Span: w.Span, Kinds: x.types, Active: "any", Conditions: x.conditions}
			told, err := explain.Estimate(t.Context(), h.Query(t, q, in), in)
			if err != nil {
				t.Fatal(err)
			}
			if want := x.pushed && l.Traits().OneRecord; slices.Contains(told.Pushed, "values") != want {
				t.Errorf("%s: %+v of %q pushes down %q, values wanted: %t", name, x.conditions, x.types, told.Pushed, want)
			}
		}
		q := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any", Users: []string{"1", "2"}}
		q.Conditions.Where.Text = "order.paid"
		c := h.Query(t, q, in)
		c.Table = table.Unrolled(in)
		if told, err := explain.Estimate(t.Context(), c, in); err != nil || slices.Contains(told.Pushed, "values") {
			t.Errorf("%s: a list without rolls pushes down %q, %v", name, told.Pushed, err)
		}
	})
}
