package load_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
)

// TestTheDaysOfALoadSayWhichWereDropped loads three days, drops two of them, and loads again: in one load, and each day
// separately.
func TestTheDaysOfALoadSayWhichWereDropped(t *testing.T) {
	for name, run := range map[string]func(context.Context, load.Config) (bulkload.Result, error){"one load": load.Run, "each day": load.Days} {
		t.Run(name, func(t *testing.T) {
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			plays := func(day string) string { return strings.ReplaceAll(bulkloadtest.Plays, "-09-01", day) }
			for _, day := range []string{"-09-01", "-09-02", "-09-03"} {
				y.Write("2014"+day+"/play.csv", plays(day))
			}
			y.Load(nil, "2014-09-01", "2014-09-03")
			y.Drop("2014-09-03")
			again := func(to string, status error, said string, want bulkload.DayCounts) {
				t.Helper()
				r, err := run(t.Context(), y.Config("2014-09-01", to))
				if !errors.Is(err, status) || err != nil && !strings.Contains(err.Error(), said) {
					t.Errorf("..%s: %v, want %v and %q", to, err, status, said)
				}
				if r.Days == nil || *r.Days != want {
					t.Errorf("..%s: days %+v, want %+v", to, r.Days, want)
				}
			}
			const undrop = "the days before 2014-09-03 were dropped from the table: bulkload undrop"
			again("2014-09-03", bulkload.ErrNothing, "all 3 files of 2014-09-01..2014-09-03 were loaded before; "+undrop, bulkload.DayCounts{Already: 1, Dropped: 2})
			again("2014-09-02", bulkload.ErrNothing, "all 2 files of 2014-09-01..2014-09-02 were loaded before; "+undrop, bulkload.DayCounts{Dropped: 2})

			y.Write("2014-09-02/order.csv", "user,time,product,price\na,2014-09-02 10:00:00,book,1\n")
			const skipped = "all good records of the 1 new file of 2014-09-0"
			again("2014-09-03", bulkload.ErrRequest, skipped, bulkload.DayCounts{Already: 1, Dropped: 2})
			again("2014-09-03", bulkload.ErrNothing, undrop, bulkload.DayCounts{Already: 1, Dropped: 2})

			y.Write("2014-09-01/order.csv", "user,time,product,price\na,2014-09-01 10:00:00,book,1\n")
			y.Write("2014-09-04/play.csv", plays("-09-04"))
			again("2014-09-04", nil, "", bulkload.DayCounts{Loaded: 1, Already: 1, Dropped: 2})
		})
	}
}

// TestDaysWithoutAFileAreNotLoadedBefore loads days that have no file.
func TestDaysWithoutAFileAreNotLoadedBefore(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-05/play.csv", bulkloadtest.Plays)
	_, err := load.Days(t.Context(), y.Config("2014-09-01", "2014-09-02"))
	if !errors.Is(err, bulkload.ErrNothing) || !strings.Contains(err.Error(), "no file for 2014-09-01..2014-09-02 below ") {
		t.Errorf("%v, want ErrNothing and that there is no file", err)
	}
}
