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

func (r recorded) Ledgers(context.Context) ([]*manifest.Load, error) { return r.ledgers, nil }

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
		spans, err := table.NotLoaded(t.Context(), r, behaviour.Span{From: at(from), To: at(to)})
		if err != nil {
			t.Fatal(err)
		}
		return table.Spans(spans)
	}
	if got, want := missing(0, 12), "2014-08-31, 2014-09-03..2014-09-05, 2014-09-07..2014-09-08, 2014-09-10..2014-09-12"; got != want {
		t.Errorf("not loaded are %s, want %s", got, want)
	}
	if got := missing(1, 2); got != "" {
		t.Errorf("not loaded are %s, want none", got)
	}
	if err := table.RequireDays(t.Context(), r, behaviour.Span{From: at(2), To: at(3)}); !errors.Is(err, table.ErrDays) {
		t.Errorf("%v, want ErrDays", err)
	}
	dropped := at(2)
	r.m.DroppedBefore = &dropped
	if got, want := missing(1, 2), "2014-09-01"; got != want {
		t.Errorf("after a drop not loaded are %s, want %s", got, want)
	}
	err := table.RequireDays(t.Context(), r, behaviour.Span{From: at(1), To: at(2)})
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

// TestDaysInTheManifest finds the days without the ledgers. If an older version committed one of the loads, the
// ledgers are read.
func TestDaysInTheManifest(t *testing.T) {
	from := day(t, "2014-09-01")
	span := behaviour.Span{From: from, To: from + 9}
	r := recorded{
		m: &manifest.Table{Loads: []manifest.LoadRef{
			{Days: []behaviour.Span{{From: from + 4, To: from + 5}}},
			{Days: []behaviour.Span{}}, // a replay
			{Days: []behaviour.Span{{From: from - 3, To: from + 2}, {From: from + 5, To: from + 8}}},
		}},
		ledgers: []*manifest.Load{{Days: []manifest.Day{{Date: from + 1}}}},
	}
	missing := func() string {
		t.Helper()
		spans, err := table.NotLoaded(t.Context(), r, span)
		if err != nil {
			t.Fatal(err)
		}
		return table.Spans(spans)
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
	r.m.Loads[1].Days = nil
	if got, want := missing(), "2014-09-01, 2014-09-03..2014-09-10"; got != want {
		t.Errorf("not loaded by the ledgers are %s, want %s", got, want)
	}
}
