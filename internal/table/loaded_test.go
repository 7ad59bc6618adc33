package table_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
)

// recorded is a table whose ledgers are known.
type recorded struct {
	table.Loader
	m       *manifest.Table
	ledgers []*manifest.Load
}

func (r recorded) Manifest() *manifest.Table { return r.m }

func (r recorded) EachLedger(_ context.Context, f func(*manifest.Load) error) error {
	for _, l := range r.ledgers {
		if err := f(l); err != nil {
			return err
		}
	}
	return nil
}

func day(t *testing.T, text string) behaviour.Date {
	t.Helper()
	d, err := behaviour.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDaysThatAreNotLoaded loads a file of the 1st with late records of the 3rd, an empty file of the 2nd, a
// file without a day in its path, and a replay.
func TestDaysThatAreNotLoaded(t *testing.T) {
	at := func(n int) behaviour.Date { return day(t, "2014-09-01") + behaviour.Date(n-1) }
	around := func(n, slack int) *behaviour.Span {
		return &behaviour.Span{From: at(n - slack), To: at(n + slack)}
	}
	r := recorded{m: &manifest.Table{Loads: make([]manifest.LoadRef, 4)}, ledgers: []*manifest.Load{
		{Inputs: []manifest.Input{{Dates: around(1, 2)}}, Days: []manifest.Day{{Date: at(1)}, {Date: at(3)}}},
		{Inputs: []manifest.Input{{Dates: around(2, 1)}}},
		{Inputs: []manifest.Input{{Offsets: []int64{7}}}, Days: []manifest.Day{{Date: at(4)}}},
		{Inputs: []manifest.Input{{}}, Days: []manifest.Day{{Date: at(6)}, {Date: at(9)}}},
	}}
	missing := func(from, to int) string {
		t.Helper()
		spans, err := table.NotLoaded(t.Context(), r, behaviour.Span{From: at(from), To: at(to)}, []string{"play"})
		if err != nil {
			t.Fatal(err)
		}
		return allDays(t, spans)
	}
	if got, want := missing(0, 12), "2014-08-31, 2014-09-03..2014-09-05, 2014-09-07..2014-09-08, 2014-09-10..2014-09-12"; got != want {
		t.Errorf("not loaded are %s, want %s", got, want)
	}
	if got := missing(1, 2); got != "" {
		t.Errorf("not loaded are %s, want none", got)
	}
	if err := table.RequireDays(t.Context(), r, behaviour.Span{From: at(2), To: at(3)}, []string{"play"}); !errors.Is(err, table.ErrDays) {
		t.Errorf("%v, want ErrDays", err)
	}
	dropped := at(2)
	r.m.DroppedBefore = &dropped
	if got, want := missing(1, 2), "2014-09-01"; got != want {
		t.Errorf("after a drop not loaded are %s, want %s", got, want)
	}
	err := table.RequireDays(t.Context(), r, behaviour.Span{From: at(1), To: at(2)}, []string{"play"})
	if !errors.Is(err, table.ErrDays) || !strings.Contains(err.Error(), "2014-09-01: the days before 2014-09-02 were dropped from the table: ") {
		t.Errorf("%v, want that days were dropped", err)
	}
	if !table.DaysKnown(r) {
		t.Error("the days of a table of files are known")
	}
	r.m.Address = "hbase://a/b"
	if table.DaysKnown(r) {
		t.Error("the days of a table into which others write are not known")
	}
	r.m.Alone = true
	if !table.DaysKnown(r) {
		t.Error("the days of a table into which only loads write are known")
	}
}

// allDays returns the days of a result of NotLoaded that lacks no single behaviour.
func allDays(t *testing.T, missing []manifest.DaysOf) string {
	t.Helper()
	switch {
	case len(missing) == 0:
		return ""
	case len(missing) > 1 || missing[0].Behaviours != nil:
		t.Errorf("not loaded are %v, want only days of all behaviours", missing)
	}
	return table.Spans(missing[0].Days)
}

// TestDaysInTheManifest finds the days without the ledgers. If an older version committed one of the loads, the
// ledgers are read.
func TestDaysInTheManifest(t *testing.T) {
	from := day(t, "2014-09-01")
	span := behaviour.Span{From: from, To: from + 9}
	r := recorded{
		m: &manifest.Table{Loads: []manifest.LoadRef{
			{Delivered: []manifest.DaysOf{{Days: []behaviour.Span{{From: from + 4, To: from + 5}}}}},
			{Delivered: []manifest.DaysOf{}}, // a replay
			{Delivered: []manifest.DaysOf{{Days: []behaviour.Span{{From: from - 3, To: from + 2}, {From: from + 5, To: from + 8}}}}},
		}},
		ledgers: []*manifest.Load{{Days: []manifest.Day{{Date: from + 1}}}},
	}
	missing := func() string {
		t.Helper()
		spans, err := table.NotLoaded(t.Context(), r, span, []string{"play"})
		if err != nil {
			t.Fatal(err)
		}
		return allDays(t, spans)
	}
	if got, want := missing(), "2014-09-04, 2014-09-10"; got != want {
		t.Errorf("not loaded are %s, want %s", got, want)
	}
	for _, d := range []struct {
		before behaviour.Date
		want   string
	}{
		{from + 1, "2014-09-01, 2014-09-04, 2014-09-10"},
		{from + 3, "2014-09-01..2014-09-04, 2014-09-10"},
		{from + 5, "2014-09-01..2014-09-05, 2014-09-10"},
		{from + 9, "2014-09-01..2014-09-10"},
	} {
		r.m.DroppedBefore = &d.before
		if got := missing(); got != d.want {
			t.Errorf("after a drop of the days before %s not loaded are %s, want %s", d.before, got, d.want)
		}
	}
	r.m.DroppedBefore = nil
	r.m.Loads[1].Delivered = nil
	if got, want := missing(), "2014-09-01, 2014-09-03..2014-09-10"; got != want {
		t.Errorf("not loaded by the ledgers are %s, want %s", got, want)
	}
}

// TestDaysOfBehavioursThatAreNotLoaded loads logs of single behaviours, logs of several behaviours with late records, and
// a file without a day in its path.
func TestDaysOfBehavioursThatAreNotLoaded(t *testing.T) {
	first := day(t, "2014-09-01")
	around := func(n behaviour.Date) *behaviour.Span {
		return &behaviour.Span{From: first + n - 2, To: first + n}
	}
	part := func(names ...string) *manifest.Part { return &manifest.Part{Behaviours: names} }
	ledgers := []*manifest.Load{
		{Inputs: []manifest.Input{{Behaviour: "play", Dates: around(1)}, {Behaviour: "order", Dates: around(1)}},
			Days: []manifest.Day{{Date: first, Behaviour: "order"}, {Date: first + 1, Behaviour: "order"}}},
		{Inputs: []manifest.Input{{Behaviour: "play", Dates: around(2)}}},
		{Inputs: []manifest.Input{{Dates: around(3), Part: part("order")}}},
		{Inputs: []manifest.Input{{Dates: around(4), Part: part("play", "order")}}},
		{Inputs: []manifest.Input{{Part: part("play", "order")}}, Days: []manifest.Day{{Date: first + 4, Behaviour: "play"}}},
		{Inputs: []manifest.Input{{Behaviour: "play", Part: part("play")}}, Days: []manifest.Day{{Date: first + 6, Behaviour: "play"}, {Date: first + 7, Behaviour: "order"}}},
	}
	m := new(manifest.Table)
	for _, l := range ledgers {
		m.Loads = append(m.Loads, manifest.RefOf(l, ""))
	}
	for _, r := range []recorded{{m: m}, {m: &manifest.Table{Loads: make([]manifest.LoadRef, len(ledgers))}, ledgers: ledgers}} {
		for _, c := range []struct {
			from, to        behaviour.Date
			names           []string
			want            string
			requires, tells bool // an error of RequireDays, and of RequireLogs
		}{
			{0, 4, []string{"play", "order"}, "order of 2014-09-02; play of 2014-09-03", false, true},
			{0, 4, []string{"play"}, "play of 2014-09-03", true, true},
			{0, 0, []string{"play", "order"}, "", false, false},
			{1, 1, []string{"order"}, "order of 2014-09-02", true, true},
			{4, 8, []string{"play", "order"}, "2014-09-06, 2014-09-08..2014-09-09; order of 2014-09-07", true, true},
			{0, 1, []string{"visit", "login"}, "login, visit of 2014-09-01..2014-09-02", true, true},
		} {
			span := behaviour.Span{From: first + c.from, To: first + c.to}
			got, err := table.Unloaded(t.Context(), r, span, c.names)
			want := c.want
			if want != "" {
				want = "days that are not loaded: " + want
			}
			if err != nil || got != want {
				t.Errorf("%s of %s: %q, %v, want %q", c.names, span, got, err, want)
			}
			if err := table.RequireDays(t.Context(), r, span, c.names); errors.Is(err, table.ErrDays) != c.requires {
				t.Errorf("%s of %s: RequireDays: %v", c.names, span, err)
			}
			if err := table.RequireLogs(t.Context(), r, span, c.names); errors.Is(err, table.ErrDays) != c.tells {
				t.Errorf("%s of %s: RequireLogs: %v", c.names, span, err)
			}
		}
	}
}
