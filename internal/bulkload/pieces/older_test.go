package pieces_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/run/piece"
)

// TestADropIsUndoneBetweenPieceAndCommit checks that a piece that skipped the dropped days must run again.
func TestADropIsUndoneBetweenPieceAndCommit(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Drop("2014-09-03")
	y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "-09-01", "-09-02"))
	parts := y.Plan(nil, 1<<20, "2014-09-02", "2014-09-02")
	y.DoAll(parts)
	y.Undrop()
	y.Commit(piece.ErrMissing, parts)
	y.DoAll(parts)
	y.WantCounts(y.Commit(nil, parts), 2, 2, 0, 0, 0)
	if got := y.Trails(false); len(got) != 4 {
		t.Errorf("the table holds %q, want 4 records", got)
	}
}

// TestRangesSkipDaysOfTwoDrops has a log in ranges. Some ranges are done before a later drop, and some after it. After the later drop is
// undone, a load adds the records of the days between both. The last range skipped only a day of the first drop.
func TestRangesSkipDaysOfTwoDrops(t *testing.T) {
	const head, first, second, third = "user,time,title,seconds\n", "u4,2014-09-02 11:00:00,one,1\n", "u1,2014-09-03 10:00:00,one,1\n", "u2,2014-09-04 10:00:00,one,1\n"
	for name, log := range map[string]string{"the first day last": head + second + third + second + first, "the first day first": head + first + second + third + second} {
		t.Run(name, func(t *testing.T) {
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
			y.Load(nil, "2014-09-01", "2014-09-01")
			y.Drop("2014-09-03")
			y.Write("2014-09-03/play.csv", log)
			parts := y.Plan(nil, 30, "2014-09-03", "2014-09-03")
			if len(parts) < 4 {
				t.Fatalf("the log has %d pieces, want one for each record", len(parts))
			}
			y.DoAll(parts)
			y.Drop("2014-09-04")
			y.Commit(piece.ErrMissing, parts)
			y.DoAll(parts)
			y.Commit(nil, parts)
			y.Undrop()
			y.Load(nil, "2014-09-03", "2014-09-03")
			if got := y.Trails(false); len(got) != 3 {
				t.Errorf("the table holds %q, want the 3 records of the days after the first drop", got)
			}
		})
	}
}

// TestAPlanDropsReportsOfDroppedDays: days of two pieces are dropped, or a drop is undone. Planned again, the plan is the same, and it
// counts and keeps only the pieces that the commit accepts.
func TestAPlanDropsReportsOfDroppedDays(t *testing.T) {
	for what, c := range map[string]struct {
		before, after func(*bulkloadtest.Fixture)
		done          int
	}{
		"a drop":         {func(*bulkloadtest.Fixture) {}, func(y *bulkloadtest.Fixture) { y.Drop("2014-09-03") }, 1},
		"an undone drop": {func(y *bulkloadtest.Fixture) { y.Drop("2014-09-03") }, (*bulkloadtest.Fixture).Undrop, 1},
		"no drop":        {func(*bulkloadtest.Fixture) {}, func(*bulkloadtest.Fixture) {}, 2},
	} {
		t.Run(what, func(t *testing.T) {
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
			y.Load(nil, "2014-09-01", "2014-09-01")
			for _, day := range []string{"02", "03"} {
				y.Write("2014-09-"+day+"/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "-09-01", "-09-"+day))
			}
			c.before(y)
			parts := y.Plan(nil, bulkloadtest.AFile, "2014-09-02", "2014-09-03")
			y.DoAll(parts)
			c.after(y)
			again, planned, err := pieces.Plan(t.Context(), y.Planning(bulkloadtest.AFile, "2014-09-02", "2014-09-03"))
			if err != nil || len(again) != 2 || again[0].Plan != parts[0].Plan || planned.Done != c.done {
				t.Fatalf("planned again are %d pieces, %+v, %v; want the same plan with %d of 2 pieces done", len(again), planned, err, c.done)
			}
			already := 0
			for i := range parts {
				if y.Do(&parts[i]).Already {
					already++
				}
			}
			if already != c.done {
				t.Errorf("%d pieces were done before, want %d", already, c.done)
			}
			y.Commit(nil, parts)
		})
	}
}

// TestACommittedPieceIsNotDoneAgain has the plan of a commit that was killed before it removed the plan. The
// table has the files of the pieces then.
func TestACommittedPieceIsNotDoneAgain(t *testing.T) {
	for report, spoil := range map[string]func(string) error{
		"whole":   func(string) error { return nil },
		"missing": os.Remove,
		"damaged": func(name string) error { return os.WriteFile(name, []byte("{"), 0o644) },
	} {
		t.Run(report, func(t *testing.T) {
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
			y.Load(nil, "2014-09-01", "2014-09-01")
			y.Drop("2014-09-03")
			y.Write("2014-09-03/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "-09-01", "-09-02")+"late,2014-09-03 08:00:00,x,1\n")
			parts := y.Plan(nil, 1<<20, "2014-09-02", "2014-09-03")
			y.DoAll(parts)
			plan, kept := filepath.Join(y.Store.Dir, "plans", parts[0].Plan), filepath.Join(t.TempDir(), "plan")
			if err := os.CopyFS(kept, os.DirFS(plan)); err != nil {
				t.Fatal(err)
			}
			y.Commit(nil, parts)
			y.Undrop()
			want := y.Trails(false)
			if err := os.CopyFS(plan, os.DirFS(kept)); err != nil {
				t.Fatal(err)
			}
			if err := spoil(filepath.Join(plan, "00000.json")); err != nil {
				t.Fatal(err)
			}
			y.DoAll(parts)
			y.WantTrails(want...)
		})
	}
}

// TestACommitOfDroppedDaysIsRepeated checks that each commit reports that nothing was loaded, until the drop
// is undone.
func TestACommitOfDroppedDaysIsRepeated(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-03/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "-09-01", "-09-03"))
	y.Load(nil, "2014-09-03", "2014-09-03")
	y.Drop("2014-09-02")
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	parts := y.Plan(nil, 1<<20, "2014-09-01", "2014-09-01")
	y.DoAll(parts)
	for range 3 {
		y.Commit(bulkload.ErrRequest, parts)
	}
	y.Undrop()
	y.Commit(bulkload.ErrNothing, parts)
	if r := y.Load(nil, "2014-09-01", "2014-09-01"); r.Loaded != 2 {
		t.Errorf("a load after undrop: %+v; want both records", r)
	}
}

// TestPiecesOfLaterDatesThanADropAreCommitted plans only later days than the dropped days. The
// file has many days, also dropped days.
func TestPiecesOfLaterDatesThanADropAreCommitted(t *testing.T) {
	job := strings.ReplaceAll(bulkloadtest.TwoKinds, "logs/{date}/{behaviour}.*", "logs/{behaviour}.csv")
	y := bulkloadtest.New(t, job)
	y.Write("play.csv", "user,time,title,seconds\na,2014-09-01 08:00:00,x,1\na,2014-09-02 08:00:00,x,2\na,2014-09-03 08:00:00,x,3\n")
	y.Load(nil, "2014-09-01", "2014-09-02")
	y.Drop("2014-09-02")
	parts := y.Plan(nil, 1<<20, "2014-09-03", "2014-09-03")
	y.DoAll(parts)
	y.Commit(nil, parts)
	y.WantTrails("a 2014-09-02 2014-09-02T08:00:00Z play title=x seconds=2", "a 2014-09-03 2014-09-03T08:00:00Z play title=x seconds=3")
}

// TestCopiesOfOnePlanAfterADrop plans two files with the same bytes. Some of their records are
// of dropped days.
func TestCopiesOfOnePlanAfterADrop(t *testing.T) {
	job := strings.ReplaceAll(bulkloadtest.TwoKinds, "logs/{date}/{behaviour}.*", "logs/{behaviour}.*.csv")
	y := bulkloadtest.New(t, job)
	y.Write("play.1.csv", "user,time,title,seconds\na,2014-09-01 08:00:00,x,1\na,2014-09-02 08:00:00,x,2\n")
	y.Load(nil, "2014-09-01", "2014-09-03")
	y.Drop("2014-09-02")
	for _, name := range []string{"play.2.csv", "play.3.csv"} {
		y.Write(name, "user,time,title,seconds\nb,2014-09-01 09:00:00,y,3\nb,2014-09-03 09:00:00,y,4\n")
	}
	parts := y.Plan(nil, 1, "2014-09-01", "2014-09-03")
	y.DoAll(parts)
	if r := y.Commit(nil, parts); r.Loaded != 1 || r.Duplicate != 1 {
		t.Errorf("%+v; want one record and its duplicate", r)
	}
	y.WantTrails("a 2014-09-02 2014-09-02T08:00:00Z play title=x seconds=2", "b 2014-09-03 2014-09-03T09:00:00Z play title=y seconds=4")
}
