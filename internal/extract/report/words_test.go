package report_test

import (
	"fmt"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/report"
)

// plain returns a report of one behaviour, for tests of the page's text.
func plain() *report.Report {
	span := behaviour.Span{From: firstDay, To: firstDay}
	return &report.Report{
		Counts:   report.Counts{Users: 1, Found: 1, Active: 1, Kept: 1, Events: 1, Files: 1, Bytes: 1},
		Asked:    report.Asked{Span: span, Types: []string{"play"}},
		Kinds:    []report.Kind{{Name: "play", Events: 1, Users: 1}},
		Days:     report.Days{Unit: report.Day, Periods: []report.Period{{Span: span, Events: []int64{1}, Total: 1}}},
		Follows:  report.Follows{Counts: [][]int64{{0}}, Totals: []int64{0}},
		Sequence: &report.Sequence{Steps: []report.Step{{Behaviour: "play"}, {Behaviour: "order"}}, Gaps: []report.Gap{{From: 1, To: 2, Users: 1}}},
		Samples:  report.Samples{Span: span, Positions: report.Positions},
	}
}

func wantOnPage(t *testing.T, r *report.Report, text string) {
	t.Helper()
	if !strings.Contains(page(t, r), text) {
		t.Errorf("the page does not say %s", text)
	}
}

func TestTimesAreSaidInTwoUnits(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0 s", 0.04: "0 s", 0.26: "0.3 s", 9.94: "9.9 s", 9.96: "10 s", 59.4: "59 s", 59.6: "1 min", 61: "1 min 1 s", 3599.6: "1 h",
		3660: "1 h 1 min", 86_399.7: "1 d", 90_000: "1 d 1 h", 86_400 * 1234: "1,234 d",
	} {
		r := plain()
		r.Sequence.Gaps[0].Median = seconds
		wantOnPage(t, r, "<dt>Median</dt><dd>"+want+"</dd>")
	}
	for want, bin := range map[string]report.TimeBin{
		"under 1 s": {To: 1}, "1–10 s": {From: 1, To: 10}, "10 s – 1 min": {From: 10, To: 60}, "6 h – 1 d": {From: 21600, To: 86400}, "30 d and more": {From: 30 * 86400},
	} {
		r := plain()
		r.Sequence.Gaps[0].Bins = []report.TimeBin{bin}
		wantOnPage(t, r, `<th scope="row">`+want+`</th>`)
	}
}

func TestSharesAreNeverMoreThanTheyAre(t *testing.T) {
	for _, c := range []struct {
		n, of int64
		want  string
	}{
		{0, 1000, "0%"}, {1, 100_000, "&lt;0.1%"}, {1, 1000, "0.1%"}, {99, 1000, "9.9%"}, {996, 10_000, "10%"}, {1, 3, "33%"}, {999, 1000, "&gt;99%"}, {1000, 1000, "100%"}, {0, 0, "–"},
	} {
		r := plain()
		r.Sequence.Steps[0].Users, r.Sequence.Steps[1].Users = c.of, c.n
		wantOnPage(t, r, fmt.Sprintf(`<td class="n">%s</td><td class="n">%s</td>`, c.want, c.want))
	}
}

func TestPeriodsAreNamedBriefly(t *testing.T) {
	date := func(text string) behaviour.Date {
		d, err := behaviour.ParseDate(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		unit           report.Unit
		from, to, last string // the last date of all
		title, label   string
	}{
		{report.Day, "2014-09-06", "2014-09-06", "2014-09-06", "Day of 2014", "09-06 Sat"},
		{report.Day, "2014-12-31", "2014-12-31", "2015-01-01", "Day", "2014-12-31 Wed"},
		{report.Week, "2014-09-01", "2014-09-07", "2014-10-30", "Week of 2014", "09-01 – 07"},
		{report.Week, "2014-09-29", "2014-10-05", "2014-10-30", "Week of 2014", "09-29 – 10-05"},
		{report.Week, "2014-12-29", "2015-01-04", "2015-01-30", "Week", "2014-12-29 – 2015-01-04"},
		{report.Month, "2014-09-01", "2014-09-30", "2014-12-31", "Month", "2014-09"},
		{report.Month, "2014-09-02", "2014-09-30", "2014-12-31", "Month", "2014-09-02 – 30"},
		{report.Year, "2014-01-01", "2014-12-31", "2014-12-31", "Year", "2014"},
		{report.Year, "2014-01-01", "2014-11-30", "2014-11-30", "Year", "2014-01-01 – 11-30"},
	} {
		d := report.Days{Unit: c.unit, Periods: []report.Period{{Span: behaviour.Span{From: date(c.from), To: date(c.to)}}}}
		p := d.Periods[0]
		if c.last != c.to {
			d.Periods = append(d.Periods, report.Period{Span: behaviour.Span{From: date(c.to) + 1, To: date(c.last)}})
		}
		if d.Title() != c.title || d.Label(p) != c.label {
			t.Errorf("%s from %s to %s is %q under %q, want %q under %q", c.unit, c.from, c.to, d.Label(p), d.Title(), c.label, c.title)
		}
	}
}

func TestTicksFitOnATelephone(t *testing.T) {
	for days, want := range map[int]string{
		1: "00:00 06:00 12:00 18:00", 2: "09-01 09-02", 10: "09-01 09-03 09-05 09-07 09-09", 31: "09-01 09-07 09-13 09-19 09-25",
		365: "2014-09 2014-11 2015-01 2015-03 2015-05 2015-07", 3650: "2014-09 2016-05 2018-01 2019-09 2021-05 2023-01",
	} {
		s := report.Samples{Span: behaviour.Span{From: firstDay, To: firstDay + behaviour.Date(days-1)}}
		var got []string
		for _, tick := range s.Ticks() {
			if tick.Text != "" {
				got = append(got, tick.Text)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d days have the ticks %q, want %q", days, got, want)
		}
	}
}
