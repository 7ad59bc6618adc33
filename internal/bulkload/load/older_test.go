package load_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/run/piece"
)

// keepUp is how the fixture's table is kept up.
func (y *fixture) keepUp() upkeep.Config {
	return upkeep.Config{FS: y.store.FS, Store: y.store, Memory: upkeep.MinMemory, KeepFor: upkeep.DefaultKeepFor, All: true}
}

// TestLoadsOfDroppedDaysAreNoSuccess: a load that brings nothing because its days were dropped
// says so each time, and brings the days once the drop is undone.
func TestLoadsOfDroppedDaysAreNoSuccess(t *testing.T) {
	const late = "user,time,title,seconds\na,2014-09-02 23:00:00,late,1\na,2014-09-03 00:00:01,late,2\n"
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			y := newFixture(t, twoKinds)
			y.jobIs(twoKinds)
			y.write("2014-09-01/play.csv", plays)
			y.load(nil, "2014-09-01", "2014-09-01")
			if _, err := upkeep.Drop(t.Context(), y.keepUp(), date(t, "2014-09-03")); err != nil {
				t.Fatal(err)
			}
			y.write("2014-09-02/play.csv", strings.ReplaceAll(plays, "-09-01", "-09-02"))
			y.wantCounts(y.loadBy(way, bulkload.ErrRequest, "2014-09-02"), 2, 0, 0, 0, 2)
			_, err := load.Run(t.Context(), y.config("2014-09-02", "2014-09-02"))
			if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "bulkload undrop") {
				t.Errorf("again: %v, want ErrRequest and what to do", err)
			}
			y.load(bulkload.ErrNothing, "2014-09-01", "2014-09-01")
			y.write("2014-09-03/play.csv", late)
			y.wantCounts(y.loadBy(way, nil, "2014-09-03"), 2, 1, 0, 0, 1)
			y.load(bulkload.ErrNothing, "2014-09-02", "2014-09-03") // not all of it was skipped
			y.wantTrails("a 2014-09-03 2014-09-03T00:00:01Z play title=late seconds=2")

			if _, err := upkeep.Undrop(t.Context(), y.keepUp()); err != nil {
				t.Fatal(err)
			}
			y.wantCounts(y.loadBy(way, nil, "2014-09-02"), 2, 2, 0, 0, 0)
			y.wantCounts(y.loadBy(way, nil, "2014-09-03"), 2, 1, 0, 0, 1)
			y.load(bulkload.ErrNothing, "2014-09-01", "2014-09-03")
			got := y.trails(true)

			control := newFixture(t, twoKinds)
			for name, text := range map[string]string{"2014-09-01/play.csv": plays, "2014-09-02/play.csv": strings.ReplaceAll(plays, "-09-01", "-09-02"), "2014-09-03/play.csv": late} {
				control.write(name, text)
			}
			control.load(nil, "2014-09-01", "2014-09-03")
			if want := control.trails(true); !slices.Equal(got, want) {
				t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestADropIsUndoneBetweenPieceAndCommit: a piece that skipped days is done again.
func TestADropIsUndoneBetweenPieceAndCommit(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(twoKinds)
	y.write("2014-09-01/play.csv", plays)
	y.load(nil, "2014-09-01", "2014-09-01")
	if _, err := upkeep.Drop(t.Context(), y.keepUp(), date(t, "2014-09-03")); err != nil {
		t.Fatal(err)
	}
	y.write("2014-09-02/play.csv", strings.ReplaceAll(plays, "-09-01", "-09-02"))
	parts := y.plan(nil, 1<<20, "2014-09-02", "2014-09-02")
	y.doAll(parts)
	if _, err := upkeep.Undrop(t.Context(), y.keepUp()); err != nil {
		t.Fatal(err)
	}
	y.commit(piece.ErrMissing, parts)
	y.doAll(parts)
	y.wantCounts(y.commit(nil, parts), 2, 2, 0, 0, 0)
	if got := y.trails(false); len(got) != 4 {
		t.Errorf("the table holds %q, want 4 records", got)
	}
}

// TestPiecesOfLaterDatesThanADropAreCommitted: a file of many days has records of dropped ones,
// and only later days were asked for.
func TestPiecesOfLaterDatesThanADropAreCommitted(t *testing.T) {
	job := strings.ReplaceAll(twoKinds, "logs/{date}/{behaviour}.*", "logs/{behaviour}.csv")
	y := newFixture(t, job)
	y.jobIs(job)
	y.write("play.csv", "user,time,title,seconds\na,2014-09-01 08:00:00,x,1\na,2014-09-02 08:00:00,x,2\na,2014-09-03 08:00:00,x,3\n")
	y.load(nil, "2014-09-01", "2014-09-02")
	if _, err := upkeep.Drop(t.Context(), y.keepUp(), date(t, "2014-09-02")); err != nil {
		t.Fatal(err)
	}
	parts := y.plan(nil, 1<<20, "2014-09-03", "2014-09-03")
	y.doAll(parts)
	y.commit(nil, parts)
	y.wantTrails("a 2014-09-02 2014-09-02T08:00:00Z play title=x seconds=2", "a 2014-09-03 2014-09-03T08:00:00Z play title=x seconds=3")
}

// TestCopiesOfOnePlanAfterADrop: two files of the same bytes come in one plan, and some of their
// records are of dropped days.
func TestCopiesOfOnePlanAfterADrop(t *testing.T) {
	job := strings.ReplaceAll(twoKinds, "logs/{date}/{behaviour}.*", "logs/{behaviour}.*.csv")
	y := newFixture(t, job)
	y.jobIs(job)
	y.write("play.1.csv", "user,time,title,seconds\na,2014-09-01 08:00:00,x,1\na,2014-09-02 08:00:00,x,2\n")
	y.load(nil, "2014-09-01", "2014-09-03")
	if _, err := upkeep.Drop(t.Context(), y.keepUp(), date(t, "2014-09-02")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"play.2.csv", "play.3.csv"} {
		y.write(name, "user,time,title,seconds\nb,2014-09-01 09:00:00,y,3\nb,2014-09-03 09:00:00,y,4\n")
	}
	parts := y.plan(nil, 1, "2014-09-01", "2014-09-03")
	y.doAll(parts)
	if r := y.commit(nil, parts); r.Loaded != 1 || r.Duplicate != 1 {
		t.Errorf("%+v; want one record and its duplicate", r)
	}
	y.wantTrails("a 2014-09-02 2014-09-02T08:00:00Z play title=x seconds=2", "b 2014-09-03 2014-09-03T09:00:00Z play title=y seconds=4")
}
