package load_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
)

// TestLoadsOfDroppedDaysAreNoSuccess loads days that were dropped. Each load fails because it
// loads no record. After the drop is undone, the load adds the days.
func TestLoadsOfDroppedDaysAreNoSuccess(t *testing.T) {
	const late = "user,time,title,seconds\na,2014-09-02 23:00:00,late,1\na,2014-09-03 00:00:01,late,2\n"
	for _, way := range bulkloadtest.Ways {
		t.Run(way, func(t *testing.T) {
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
			y.Load(nil, "2014-09-01", "2014-09-01")
			y.Drop("2014-09-03")
			y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "-09-01", "-09-02"))
			y.WantCounts(y.LoadBy(way, bulkload.ErrRequest, "2014-09-02"), 2, 0, 0, 0, 2)
			_, err := load.Run(t.Context(), y.Config("2014-09-02", "2014-09-02"))
			if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "bulkload undrop") {
				t.Errorf("again: %v, want ErrRequest and what to do", err)
			}
			y.Load(bulkload.ErrNothing, "2014-09-01", "2014-09-01")
			y.Write("2014-09-03/play.csv", late)
			y.WantCounts(y.LoadBy(way, nil, "2014-09-03"), 2, 1, 0, 0, 1)
			y.Load(bulkload.ErrNothing, "2014-09-02", "2014-09-03") // not all of it was skipped
			y.WantTrails("a 2014-09-03 2014-09-03T00:00:01Z play title=late seconds=2")

			y.Undrop()
			y.WantCounts(y.LoadBy(way, nil, "2014-09-02"), 2, 2, 0, 0, 0)
			y.WantCounts(y.LoadBy(way, nil, "2014-09-03"), 2, 1, 0, 0, 1)
			y.Load(bulkload.ErrNothing, "2014-09-01", "2014-09-03")
			got := y.Trails(true)

			control := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			for name, text := range map[string]string{"2014-09-01/play.csv": bulkloadtest.Plays, "2014-09-02/play.csv": strings.ReplaceAll(bulkloadtest.Plays, "-09-01", "-09-02"), "2014-09-03/play.csv": late} {
				control.Write(name, text)
			}
			control.Load(nil, "2014-09-01", "2014-09-03")
			if want := control.Trails(true); !slices.Equal(got, want) {
				t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}
