package table_test

import (
	"context"
	"testing"
	"time"

	"usertrail/internal/table"
)

// able is a table with two abilities.
type able struct{ table.Table }

func (able) TTL(context.Context) (time.Duration, error) { return time.Hour, nil }
func (able) Spent() table.Spent                         { return table.Spent{Calls: 1} }

// loadable is a table that accepts loads.
type loadable struct{ table.Loader }

// sealed is a decorator that hides all abilities.
type sealed struct{ table.Table }

// open is a decorator that hides none.
type open struct{ table.Table }

func (o open) Unwrap() table.Table { return o.Table }

// slower is a decorator that changes one ability.
type slower struct{ open }

func (slower) Spent() table.Spent { return table.Spent{Calls: 2} }

// TestAsFindsAbilitiesBehindDecorators finds the outermost of each ability.
func TestAsFindsAbilitiesBehindDecorators(t *testing.T) {
	for name, c := range map[string]struct {
		of    table.Table
		calls int64 // 0 if the reads are not counted
		ages  bool
	}{
		"no table":          {},
		"the table":         {able{}, 1, true},
		"behind one":        {open{able{}}, 1, true},
		"behind three":      {open{table.Unrolled(open{able{}})}, 1, true},
		"changed":           {slower{open{able{}}}, 2, true},
		"changed, behind":   {open{slower{open{able{}}}}, 2, true},
		"hidden":            {sealed{able{}}, 0, false},
		"hidden, behind":    {open{sealed{able{}}}, 0, false},
		"hidden, unrolled":  {table.Unrolled(sealed{able{}}), 0, false},
		"hidden, and added": {slower{open{sealed{able{}}}}, 2, false},
		"around nothing":    {open{}, 0, false},
	} {
		spent, counted := table.SpentBy(c.of)
		if spent.Calls != c.calls || counted != (c.calls > 0) {
			t.Errorf("%s: %d calls, %t; want %d", name, spent.Calls, counted, c.calls)
		}
		if _, ok := table.As[table.Expiring](c.of); ok != c.ages {
			t.Errorf("%s: its cells expire: %t, want %t", name, ok, c.ages)
		}
	}
}

// TestAsFindsNoTableBehindADecorator checks that As does not find the table behind a decorator. A load
// into that table would miss the changes of the decorator.
func TestAsFindsNoTableBehindADecorator(t *testing.T) {
	if _, ok := table.As[table.Loader](loadable{}); !ok {
		t.Error("a loader is no loader")
	}
	for name, of := range map[string]table.Table{"open": open{loadable{}}, "unrolled": table.Unrolled(loadable{})} {
		if _, ok := table.As[table.Loader](of); ok {
			t.Errorf("%s: the decorated table was found", name)
		}
		if _, ok := table.As[loadable](of); ok {
			t.Errorf("%s: the decorated table was found by its type", name)
		}
	}
}
