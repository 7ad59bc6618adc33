package manifest_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
)

// TestAppendOfSomeDatesNamesTheOthers checks that an extract of dates of which the result has some is refused, and that
// the error names the dates that can be appended.
func TestAppendOfSomeDatesNamesTheOthers(t *testing.T) {
	day := func(n int) behaviour.Date { return testDay + behaviour.Date(n) }
	one := func(n int) behaviour.Span { return behaviour.Span{From: day(n), To: day(n)} }
	has := &manifest.Extract{Appended: []manifest.Appended{{Span: one(4)}, {Span: one(5)}, {Span: one(6)}, {Span: one(8)}}}
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{5, 7, "it has 2026-03-25..2026-03-26 already: append 2026-03-27 alone"},
		{3, 9, "it has 2026-03-24..2026-03-26, 2026-03-28 already: append 2026-03-23 and then 2026-03-27 and then 2026-03-29 alone"},
		{4, 6, "it has 2026-03-24..2026-03-26 already: choose other dates"},
	} {
		next := &manifest.Extract{}
		next.Query.Span = behaviour.Span{From: day(c.from), To: day(c.to)}
		if err := has.CheckAppend(next); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestAppendAfterATableHasChanged appends to a result whose table has got a field since, or whose sample has other users. Dates
// that the result has are appended already. Other dates are refused with a next step.
func TestAppendAfterATableHasChanged(t *testing.T) {
	title, seconds := behaviour.Field{Name: "title", Type: behaviour.String}, behaviour.Field{Name: "seconds", Type: behaviour.Int64}
	sample := &manifest.Sample{Users: 20, Span: behaviour.Span{From: testDay, To: testDay}}
	made := func(users string, sample *manifest.Sample, flag []string, fields ...behaviour.Field) *manifest.Extract {
		e := &manifest.Extract{Sample: sample, Columns: fields, Fields: fields}
		e.Query.Users, e.Query.Fields, e.Query.Span = users, flag, behaviour.Span{From: testDay, To: testDay}
		return e
	}
	for name, c := range map[string]struct {
		has, next *manifest.Extract
		want      string // of other dates; empty if they can be appended
		other     bool   // the query is another one, also of the same dates
	}{
		"the same":              {made("all", nil, nil, title), made("all", nil, nil, title), "", false},
		"a new field":           {made("all", nil, nil, title), made("all", nil, nil, title, seconds), "choose the fields of the result with --fields title, or extract into another directory", false},
		"the old fields":        {made("all", nil, nil, title), made("all", nil, []string{"title"}, title), "", false},
		"all again":             {made("all", nil, []string{"title"}, title), made("all", nil, nil, title), "", false},
		"of a behaviour":        {made("all", nil, nil, title), made("all", nil, []string{"play.title"}, title), "--fields is not given there, and play.title here: repeat the query, or name another directory", true},
		"other fields":          {made("all", nil, []string{"title"}, title), made("all", nil, []string{"seconds"}, seconds), "--fields is title there, and seconds here: repeat the query, or name another directory", true},
		"columns not recorded":  {made("all", nil, nil), made("all", nil, nil, title), "the columns are not recorded there, and title string here: extract into another directory", false},
		"users of a sample":     {made("a", sample, nil, title), made("b", sample, nil, title), "so that sample:20:0 chooses other users now: extract into another directory", false},
		"users of another list": {made("a", sample, nil, title), made("b", nil, nil, title), "--users is another list there: sample:20:0 of 2026-03-20: repeat the query, or name another directory", true},
	} {
		err := c.has.CheckAppend(c.next)
		if appended := errors.Is(err, manifest.ErrAppended); appended == c.other {
			t.Errorf("%s: the same dates: %v", name, err)
		}
		c.next.Query.Span = behaviour.Span{From: testDay + 1, To: testDay + 1}
		err = c.has.CheckAppend(c.next)
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, fs.ErrExist) || !strings.HasSuffix(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// testDay is 2026-03-20.
var testDay = func() behaviour.Date {
	d, err := behaviour.ParseDate("2026-03-20")
	if err != nil {
		panic(err)
	}
	return d
}()
