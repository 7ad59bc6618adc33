package load_test

import (
	"reflect"
	"slices"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/bulkloadtest"
)

// TestACopyOfAnotherDayBringsNoDay delivers the log of a day also in the folder of the next day, in one load and in two. A copy of
// the same day, and a copy in the folder of the day that its records have, change nothing.
func TestACopyOfAnotherDayBringsNoDay(t *testing.T) {
	for _, way := range append(slices.Clone(bulkloadtest.Ways), "ranges", "one load") {
		t.Run(way, func(t *testing.T) {
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
			y.Write("2014-09-01/play.again", bulkloadtest.Plays)
			y.Write("2014-09-02/play.csv", bulkloadtest.Plays)
			if way == "one load" {
				y.Load(nil, "2014-09-01", "2014-09-02")
			} else {
				y.LoadBy(way, nil, "2014-09-01")
				y.WantCounts(y.LoadBy(way, nil, "2014-09-02"), 2, 0, 0, 2, 0)
			}
			wantDelivered(y, "2014-09-01")
			for _, l := range y.Ledgers() {
				for i := range l.Inputs {
					want := ""
					if l.Inputs[i].Path == "2014-09-02/play.csv" {
						want = "2014-09-01/play."
					}
					if got := l.Inputs[i].CopyOf; len(got) < len(want) || got[:len(want)] != want || want == "" && got != "" {
						t.Errorf("%s is a copy of %q, want %q", l.Inputs[i].Path, got, want)
					}
				}
			}
		})
		t.Run(way+", the wrong day first", func(t *testing.T) {
			if way == "one load" {
				return
			}
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			y.Write("2014-09-02/play.csv", bulkloadtest.Plays)
			y.LoadBy(way, nil, "2014-09-02")
			y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
			y.WantCounts(y.LoadBy(way, nil, "2014-09-01"), 2, 0, 0, 2, 0)
			wantDelivered(y, "2014-09-01", "2014-09-02")
		})
	}
}

// wantDelivered compares the days of plays that all loads have.
func wantDelivered(y *bulkloadtest.Fixture, days ...string) {
	y.T.Helper()
	var got, want []behaviour.Span
	for _, l := range y.Ledgers() {
		for _, d := range l.Delivered() {
			got = append(got, d.Days...)
		}
	}
	for _, day := range days {
		d := bulkloadtest.Date(y.T, day)
		want = append(want, behaviour.Span{From: d, To: d})
	}
	if got, want := behaviour.Join(got), behaviour.Join(want); !reflect.DeepEqual(got, want) {
		y.T.Errorf("the loads have the days %v, want %v", got, want)
	}
}
