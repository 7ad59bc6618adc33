package manifest_test

import (
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
)

func span(from, to int) behaviour.Span {
	return behaviour.Span{From: behaviour.Date(from), To: behaviour.Date(to)}
}

func settings(digest string) func([]string) string { return func([]string) string { return digest } }

// A load had the dates of loaded. It skipped records of other dates: outside, or far.
var (
	loaded  = span(10, 12)
	outside = manifest.Skips{OutsideDates: 3, OutsideDays: span(14, 15)}
	far     = manifest.Skips{OutsideDates: 3, OutsideDays: span(14, 20)}
)

// listed lists the dates of far in the ledger.
func listed(in *manifest.Input, _ *manifest.Selection) {
	in.Outside = []behaviour.Span{span(14, 15), span(20, 20)}
}

// dateCases ask for other dates of a file of which loaded was loaded.
var dateCases = []struct {
	name  string
	asked behaviour.Span
	whole bool // the load had all records of asked
	skips manifest.Skips
	with  func(in *manifest.Input, by *manifest.Selection)
}{
	{name: "the same dates", asked: span(10, 12), whole: true},
	{name: "more dates", asked: span(9, 13), whole: true},
	{name: "other dates", asked: span(20, 21), whole: true},
	{name: "no dates", asked: span(21, 20)},
	{name: "dates of records", asked: span(14, 14), skips: outside},
	{name: "dates up to records", asked: span(11, 14), skips: outside},
	{name: "dates between", asked: span(12, 13), skips: outside, whole: true},
	{name: "dates after records", asked: span(16, 99), skips: outside, whole: true},
	{name: "dates between listed dates", asked: span(16, 19), skips: far, whole: true, with: listed},
	{name: "a listed date", asked: span(16, 20), skips: far, with: listed},
	{name: "1970-01-01 is not listed", asked: span(0, 0), skips: far, whole: true, with: listed},
	{name: "dates between dates that are not listed", asked: span(16, 19), skips: far},
	{name: "1970-01-01", asked: span(0, 0), skips: outside},
	{name: "records without their dates", asked: span(20, 20), skips: manifest.Skips{OutsideDates: 3}},
	{name: "dropped days", asked: span(20, 20), skips: manifest.Skips{DroppedDays: 1}, whole: true},
	{name: "restored days", asked: span(9, 9), skips: manifest.Skips{DroppedDays: 1}},
	{name: "dropped days of an older ledger", asked: span(20, 20), skips: manifest.Skips{DroppedDays: 1}, with: func(in *manifest.Input, _ *manifest.Selection) { in.Older = 0 }},
	{name: "other types", asked: span(20, 20), skips: manifest.Skips{OtherTypes: 2}, whole: true},
	{name: "without reasons", asked: span(20, 20), with: func(in *manifest.Input, _ *manifest.Selection) { in.Skipped = 1 }},
	{name: "an older ledger", asked: span(20, 20), with: func(in *manifest.Input, _ *manifest.Selection) { in.TimeBy = "" }},
	{name: "no records", asked: span(20, 20), whole: true, with: func(in *manifest.Input, _ *manifest.Selection) { in.Counts = manifest.Counts{} }},
	{name: "no records, and another time", asked: span(20, 20), with: func(in *manifest.Input, by *manifest.Selection) {
		in.Counts, by.TimeBy = manifest.Counts{}, settings("other")
	}},
	{name: "a path with a date", asked: span(20, 20), with: func(in *manifest.Input, _ *manifest.Selection) { in.Dates = &loaded }},
	{name: "a copy", asked: span(20, 20), with: func(in *manifest.Input, _ *manifest.Selection) { in.SameAs = "b.csv" }},
	{name: "another time", asked: span(20, 20), skips: outside, with: func(_ *manifest.Input, by *manifest.Selection) { by.TimeBy = settings("other") }},
	{name: "another column of texts", asked: span(20, 20), with: func(_ *manifest.Input, by *manifest.Selection) { by.TextsBy = "other" }},
	{name: "a text of another behaviour", asked: span(20, 20), with: func(in *manifest.Input, _ *manifest.Selection) { in.Part.Texts["vod"] = "order" }},
	{name: "another path", asked: span(20, 20), with: func(_ *manifest.Input, by *manifest.Selection) { by.Behaviour = "play" }},
	{name: "records without a user", asked: span(20, 20), skips: manifest.Skips{WithoutUser: 1}, whole: true},
	{
		name: "another user", asked: span(20, 20), skips: manifest.Skips{WithoutUser: 1},
		with: func(_ *manifest.Input, by *manifest.Selection) { by.UserBy = settings("other") },
	},
	{
		name: "users of an older ledger", asked: span(20, 20), skips: manifest.Skips{WithoutUser: 1},
		with: func(in *manifest.Input, _ *manifest.Selection) { in.UserBy = "" },
	},
	{
		name: "another condition", asked: span(20, 20), skips: manifest.Skips{Condition: 1},
		with: func(in *manifest.Input, _ *manifest.Selection) { in.SkippedBy = "price < 0" },
	},
}

// TestDatesWithoutRecordsAreKnown finds out whether a file whose path has no date may have more records of other dates, by the counts
// of the load.
func TestDatesWithoutRecordsAreKnown(t *testing.T) {
	for _, c := range dateCases {
		in := &manifest.Input{
			Path: "a.csv", TextsBy: "texts", TimeBy: "time", UserBy: "user",
			Part:   &manifest.Part{Span: &loaded, Behaviours: []string{"play"}, Texts: map[string]string{}},
			Older:  c.skips.DroppedDays,
			Counts: manifest.Counts{Read: 9, Loaded: 9 - c.skips.Sum(), Skipped: c.skips.Sum(), Skips: c.skips},
		}
		by := manifest.Selection{TextsBy: "texts", UserBy: settings("user"), TimeBy: settings("time")}
		if c.with != nil {
			c.with(in, &by)
		}
		asked := &manifest.Part{Span: &c.asked, Behaviours: []string{"play"}, Texts: map[string]string{}}
		if v := in.SeenBy(asked, by); v.Whole != c.whole {
			t.Errorf("%s: all records of %v are loaded: %t, want %t", c.name, c.asked, v.Whole, c.whole)
		}
		more := &manifest.Part{Span: &c.asked, Behaviours: []string{"order", "play"}, Texts: map[string]string{}}
		if v := in.SeenBy(more, by); v.Whole {
			t.Errorf("%s: another behaviour counts as loaded", c.name)
		}
	}
}
