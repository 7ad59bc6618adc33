package manifest_test

import (
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

// testDay is 2026-03-20.
var testDay = func() behaviour.Date {
	d, err := behaviour.ParseDate("2026-03-20")
	if err != nil {
		panic(err)
	}
	return d
}()
