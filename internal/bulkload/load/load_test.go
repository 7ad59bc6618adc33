package load_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/table/precheck"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/bulkload/reread"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

func TestLoadsWhatIsThere(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00.000007,1.5\na,2014-09-01 12:00:00.000007,\n")
	r := y.Load(nil, "2014-09-01", "2014-09-02")
	y.WantCounts(r, 4, 4, 0, 0, 0)
	if r.Files != 2 || r.Missing != 2 || r.Loads != 1 {
		t.Errorf("%d files, %d missing, %d loads; want 2, 2, 1", r.Files, r.Missing, r.Loads)
	}
	y.WantTrails(
		"a 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1",
		"a 2014-09-01 2014-09-01T12:00:00.000007Z order price=1.5",
		"a 2014-09-01 2014-09-01T12:00:00.000007Z order",
		"b 2014-09-01 2014-09-01T11:00:00Z play title=two seconds=2",
	)
	r = y.Load(bulkload.ErrNothing, "2014-09-01", "2014-09-02")
	if r.Already != 2 || r.Files != 0 {
		t.Errorf("second run: %d loaded before, %d files; want 2, 0", r.Already, r.Files)
	}
}

// TestATableOfFilesTakesNoPuts asks for a mode that the table does not have.
func TestATableOfFilesTakesNoPuts(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	cfg := y.Config("2014-09-01", "2014-09-01")
	cfg.Mode = bulkload.Put
	const says = "trails cannot be loaded by --mode put: leave out --mode"
	if _, err := load.Run(t.Context(), cfg); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want ErrRequest and %q", err, says)
	}
}

// TestConservationHoldsForEachFile counts records that are good, bad, not requested and
// repeated, file by file in the ledger. TestSkippedRecordsAreCountedByReason loads parts of a
// file in which every reason occurs.
func TestSkippedRecordsAreCountedByReason(t *testing.T) {
	y := bulkloadtest.New(t, `
logs: {path: logs/all.csv, behaviour: {column: event, others: skip}, skip: 'event == "test"'}
user: {column: user, empty: skip}
behaviours: {play: {id: 1}, order: {id: 2}}
`)
	y.Write("all.csv", "user,time,event\n"+
		"u1,2014-09-01 10:00:00,play\nu1,2014-09-02 10:00:00,play\nu1,2014-09-01 10:00:00,order\n"+
		"u1,2014-09-01 10:00:00,sell\nu1,2014-09-01 10:00:00,test\n,2014-09-01 10:00:00,play\n")
	first := y.Load(nil, "2014-09-01", "2014-09-01", "play")
	next := behaviour.DateOf(2014, 9, 2)
	if want := (manifest.Skips{Unknown: 1, WithoutUser: 1, Condition: 1, OutsideDates: 1, OtherTypes: 1, OutsideDays: behaviour.Span{From: next, To: next}}); first.Skips != want {
		t.Errorf("skipped %+v, want %+v", first.Skips, want)
	}
	second := y.Load(nil, "2014-09-01", "2014-09-02")
	if want := (manifest.Skips{Unknown: 1, WithoutUser: 1, Condition: 1, LoadedBefore: 1}); second.Skips != want {
		t.Errorf("skipped %+v, want %+v", second.Skips, want)
	}
}

func TestConservationHoldsForEachFile(t *testing.T) {
	y := bulkloadtest.New(t, `
logs: {path: "logs/{date}/*.csv", behaviour: {column: kind, others: skip}, max_bad: 60%}
user: user
behaviours:
  play: {id: 1, unique: [title], fields: {title: string}}
  order: {id: 2}
`)
	head := "user,time,kind,title\n"
	y.Write("2014-09-01/a.csv", head+"a,2014-09-01 10:00:00,play,x\na,2014-09-01 11:00:00,play,x\n,2014-09-01 11:00:00,play,x\na,2014-09-01 11:00:00,visit,\na,2014-09-01 12:00:00,order,\n")
	y.Write("2014-09-01/b.csv", head+"a,2014-09-01 13:00:00,play,x\nb,soon,play,x\nb,2014-09-01 13:00:00,play,x\n")
	r := y.Load(nil, "2014-09-01", "2014-09-01", "play")
	y.WantCounts(r, 8, 2, 2, 2, 2)
	want := map[string]manifest.Counts{
		"2014-09-01/a.csv": {Read: 5, Loaded: 1, Quarantined: 1, Duplicate: 1, Skipped: 2},
		"2014-09-01/b.csv": {Read: 3, Loaded: 1, Quarantined: 1, Duplicate: 1},
	}
	for _, in := range y.Ledgers()[0].Inputs {
		// Which of two equal records of two files stays depends on their numbers.
		if got := in.Counts; got.Check() != nil || got.Read != want[in.Path].Read || got.Quarantined != want[in.Path].Quarantined || got.Skipped != want[in.Path].Skipped {
			t.Errorf("%s: %+v, want %+v", in.Path, got, want[in.Path])
		}
	}
	y.Load(nil, "2014-09-01", "2014-09-01")
	if got := y.Trails(false); len(got) != 3 || got[2] != "b 2014-09-01 2014-09-01T13:00:00Z play title=x" {
		t.Errorf("the table holds %q, want two plays and an order", got)
	}
}

// TestEqualLinesAreTwoBehaviours checks that equal lines of one file are two records, not
// duplicates.
func TestEqualLinesAreTwoBehaviours(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays+"a,2014-09-01 10:00:00,one,1\n")
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 3, 3, 0, 0, 0)
	if got := y.Trails(false); len(got) != 3 || got[0] != got[1] {
		t.Errorf("the table holds %q, want one line twice", got)
	}
}

func TestLateFilesChangeNoColumnID(t *testing.T) {
	y := bulkloadtest.New(t, `
logs: {path: "logs/{date}/{behaviour}.*.csv"}
user: user
behaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}
`)
	y.Write("2014-09-01/play.1.csv", bulkloadtest.Plays)
	y.Load(nil, "2014-09-01", "2014-09-01")
	before := y.Trails(true)
	for _, name := range []string{"2014-09-01/play.0.csv", "2014-09-01/play.2.csv"} {
		y.Write(name, "user,time,title,seconds\nc,2014-09-01 09:00:00,"+name+",1\n")
	}
	y.Load(nil, "2014-09-01", "2014-09-01")
	after := y.Trails(true)
	if len(after) != 4 {
		t.Errorf("the table holds %q, want 4 events", after)
	}
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("%q is no longer there: %q", line, after)
		}
	}
}

func TestTooManyBadRecordsStopTheirFileAlone(t *testing.T) {
	y := bulkloadtest.New(t, strings.Replace(bulkloadtest.TwoKinds, "50%", "1", 1))
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays+",,,\n,,,\n")
	y.Write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\nb,bad,1.5\n")
	r := y.Load(bulkload.ErrTooBad, "2014-09-01", "2014-09-01")
	y.WantCounts(r, 2, 1, 1, 0, 0)
	if len(r.Failed) != 1 || !strings.HasSuffix(r.Failed[0].Path, "play.csv") || r.Files != 1 {
		t.Errorf("failed: %+v, files: %d; want the plays alone to fail", r.Failed, r.Files)
	}
	y.WantTrails("a 2014-09-01 2014-09-01T12:00:00Z order price=1.5")
	if n := strings.Count(y.Quarantined("2014-09-01/play.csv"), "\n"); n != 2 {
		t.Errorf("%d lines in quarantine, want both bad records to be seen", n)
	}
	y.Replay(bulkload.ErrRequest, "2014-09-01/play.csv")
	// The same file is loaded once the job allows as much.
	y.SetJob(bulkloadtest.TwoKinds)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 4, 2, 2, 0, 0)
}

func TestTruncatedFileLoadsNothing(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	whole := bulkloadtest.Zipped(t, bulkloadtest.Plays)
	y.Write("2014-09-01/play.csv.gz", whole[:len(whole)-6])
	y.Write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
	r, err := load.Run(t.Context(), y.Config("2014-09-01", "2014-09-01"))
	if err == nil || !strings.Contains(err.Error(), "play.csv.gz") || len(r.Failed) != 1 {
		t.Fatalf("%v, failed %+v; want an error about play.csv.gz", err, r.Failed)
	}
	y.WantTrails("a 2014-09-01 2014-09-01T12:00:00Z order price=1.5")
	if y.Quarantined("2014-09-01/play.csv.gz") != "" {
		t.Error("there is a quarantine file of a file of which nothing was loaded")
	}
	y.Write("2014-09-01/play.csv.gz", whole)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 2, 2, 0, 0, 0)
}

func TestChangedFilesAreRefused(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Load(nil, "2014-09-01", "2014-09-01")
	before := y.Trails(true)

	touched := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(y.Dir, "logs/2014-09-01/play.csv"), touched, touched); err != nil {
		t.Fatal(err)
	}
	y.Load(bulkload.ErrNothing, "2014-09-01", "2014-09-01")

	y.Write("2014-09-01/play.csv", strings.Replace(bulkloadtest.Plays, "one", "eno", 1))
	touched = touched.Add(time.Hour)
	if err := os.Chtimes(filepath.Join(y.Dir, "logs/2014-09-01/play.csv"), touched, touched); err != nil {
		t.Fatal(err)
	}
	y.Write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
	for range 2 { // the other file is loaded, once
		y.Load(bulkload.ErrChanged, "2014-09-01", "2014-09-01")
	}
	got := y.Trails(true)
	if at := slices.IndexFunc(got, func(line string) bool { return strings.Contains(line, "order") }); at >= 0 {
		got = slices.Delete(got, at, at+1)
	}
	if !slices.Equal(got, before) || len(y.Ledgers()) != 2 {
		t.Errorf("next to the order the table has %q, want the records from before", got)
	}
}

func TestUniqueHoldsInABatchAndAgainstTheTable(t *testing.T) {
	y := bulkloadtest.New(t, `
logs: {path: "logs/{date}/{behaviour}.*.csv"}
user: user
behaviours:
  play: {id: 1, unique: [user, time, title], fields: {title: string, seconds: int64}}
`)
	y.Write("2014-09-01/play.0.csv", bulkloadtest.Plays+"a,2014-09-01 10:00:00,one,3\na,2014-09-01 10:00:00.000001,one,3\na,2014-09-01 10:00:00,,3\na,2014-09-01 10:00:00,,4\n")
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 6, 4, 0, 2, 0)
	y.Write("2014-09-01/play.1.csv", bulkloadtest.Plays+"c,2014-09-01 10:00:00,one,1\na,2014-09-01 10:00:00,,5\n")
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 4, 1, 0, 3, 0)
	y.WantTrails(
		"a 2014-09-01 2014-09-01T10:00:00.000001Z play title=one seconds=3",
		"a 2014-09-01 2014-09-01T10:00:00Z play seconds=3",
		"a 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1",
		"b 2014-09-01 2014-09-01T11:00:00Z play title=two seconds=2",
		"c 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1",
	)
}

// TestUniqueIsTheSameInEveryLayout loads many equal records. Some equal a record of an earlier
// load. The same records stay in every layout, in any order of its rows.
func TestUniqueIsTheSameInEveryLayout(t *testing.T) {
	const text = `
logs: {path: "logs/{date}/{behaviour}.*.csv"}
user: user
behaviours:
  play: {id: 1, unique: [title], fields: {title: string, seconds: int64}}
  order: {id: 2, unique: [time], fields: {price: double}}
  visit: {id: 3, fields: {page: string}}
`
	dice := rand.New(rand.NewPCG(8, 8))
	logs := func(head string, field func() string) string {
		b := new(strings.Builder)
		fmt.Fprintln(b, head)
		for range 60 {
			fmt.Fprintf(b, "%d,2014-09-%02d %02d:00:00,%s\n", 1+dice.IntN(9), 1+dice.IntN(2), dice.IntN(4), field())
		}
		return b.String()
	}
	nights := make([]map[string]string, 2)
	for i := range nights {
		nights[i] = map[string]string{
			fmt.Sprintf("2014-09-01/play.%d.csv", i):  logs("user,time,title,seconds", func() string { return fmt.Sprintf("%c,%d", 'a'+dice.IntN(3), dice.IntN(9)) }),
			fmt.Sprintf("2014-09-02/order.%d.csv", i): logs("user,time,price", func() string { return fmt.Sprint(dice.IntN(5)) }),
			fmt.Sprintf("2014-09-02/visit.%d.csv", i): logs("user,time,page", func() string { return "home" }),
		}
	}
	var want []string
	for _, name := range append([]string{layout.Default}, layout.Names()...) {
		y := bulkloadtest.New(t, "layout: "+name+text)
		var got []string
		for _, night := range nights {
			for file, text := range night {
				y.Write(file, text)
			}
			got = append(got, fmt.Sprintf("%+v", y.Load(nil, "2014-09-01", "2014-09-02").Counts))
		}
		got = append(got, y.Trails(true)...)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s holds\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if len(want) < 150 || len(want) > 300 {
		t.Errorf("%d records stay of 360", len(want))
	}
}

// TestAFileOfManyDaysIsLoadedByParts loads spans and behaviours of one file one
// after the other; each record comes once.
func TestAFileOfManyDaysIsLoadedByParts(t *testing.T) {
	y := bulkloadtest.New(t, `
logs: {path: "logs/*.csv", behaviour: {column: kind, others: skip}}
user: user
behaviours:
  play: {id: 1, fields: {title: string}}
  order: {id: 2}
`)
	y.Write("all.csv", "user,time,kind,title\na,2014-09-01 10:00:00,play,x\na,2014-09-02 10:00:00,play,y\na,2014-09-02 11:00:00,order,\nb,2014-09-03 10:00:00,order,\nb,2014-09-03 10:00:00,visit,\n")
	y.WantCounts(y.Load(nil, "2014-09-02", "2014-09-02", "play"), 5, 1, 0, 0, 4)
	y.WantTrails("a 2014-09-02 2014-09-02T10:00:00Z play title=y")
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-02"), 5, 2, 0, 0, 3)
	y.Load(bulkload.ErrNothing, "2014-09-02", "2014-09-02", "order")
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-03"), 5, 1, 0, 0, 4)
	y.WantTrails(
		"a 2014-09-01 2014-09-01T10:00:00Z play title=x",
		"a 2014-09-02 2014-09-02T10:00:00Z play title=y",
		"a 2014-09-02 2014-09-02T11:00:00Z order",
		"b 2014-09-03 2014-09-03T10:00:00Z order",
	)
	if got := len(y.Ledgers()); got != 3 {
		t.Errorf("%d loads, want 3", got)
	}
}

func TestSlackIsADayUnlessTheJobSaysOtherwise(t *testing.T) {
	text := "user,time,title,seconds\na,2014-08-31 23:59:59.999999,x,1\na,2014-09-02 23:59:59,y,1\na,2014-08-30 23:59:59.999999,early,1\na,2014-09-03 00:00:00,late,1\n"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", text)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 4, 2, 2, 0, 0)
	y.WantTrails("a 2014-08-31 2014-08-31T23:59:59.999999Z play title=x seconds=1", "a 2014-09-02 2014-09-02T23:59:59Z play title=y seconds=1")
	if q := y.Quarantined("2014-09-01/play.csv"); strings.Count(q, `"reason":"outside its day"`) != 2 {
		t.Errorf("quarantine is %s", q)
	}

	y = bulkloadtest.New(t, strings.Replace(bulkloadtest.TwoKinds, "max_bad: 50%", "max_bad: 100%\n  slack: 0", 1))
	y.Write("2014-09-01/play.csv", text)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 4, 0, 4, 0, 0)
}

func TestInputThatMustBeThere(t *testing.T) {
	y := bulkloadtest.New(t, strings.Replace(bulkloadtest.TwoKinds, "play: {id: 1,", "play: {id: 1, required: true,", 1))
	y.Load(job.ErrNoInput, "2014-09-01", "2014-09-01") // no folder at all
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Load(job.ErrNoInput, "2014-09-01", "2014-09-02")
	if _, err := y.Store.Open(t.Context()); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("a load without its input made a table: %v", err)
	}
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Load(job.ErrNoInput, "2014-09-01", "2014-09-02")
}

func TestNothingToDo(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	r := y.Load(bulkload.ErrNothing, "2014-09-05", "2014-09-06")
	if r.Missing != 4 {
		t.Errorf("%d missing, want 4", r.Missing)
	}
	if _, err := y.Store.Open(t.Context()); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("a load of nothing made a table: %v", err)
	}
}

func TestWrongRequests(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Load(bulkload.ErrRequest, "2014-09-02", "2014-09-01")
	y.Load(bulkload.ErrRequest, "2014-09-01", "2014-09-01", "pray")
	if _, err := replay.Run(t.Context(), bulkloadtest.ReplayOf(y.Config("2014-09-01", "2014-09-01")), filepath.Join(y.Dir, "none")); !errors.Is(err, job.ErrNoInput) {
		t.Errorf("replay of a file that does not exist: %v, want ErrNoInput", err)
	}
	if _, err := load.Run(bulkloadtest.Cancelled(t), y.Config("2014-09-01", "2014-09-01")); err == nil {
		t.Error("a cancelled load says that it loaded")
	}
}

// TestDryRunWritesNothing compares a dry run with the load that follows.
func TestDryRunWritesNothing(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "09-01", "09-02"))
	p, err := load.DryRun(t.Context(), y.Config("2014-09-01", "2014-09-02"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(y.Store.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a dry run made the table's folder: %v", err)
	}
	if !p.New || p.Missing != 2 || len(p.Batches) != 1 || len(p.Regions) != 1 {
		t.Errorf("it says %+v", p)
	}
	y.Load(nil, "2014-09-01", "2014-09-02")
	if p, err = load.DryRun(t.Context(), y.Config("2014-09-01", "2014-09-02")); err != nil || p.New || p.Already != 2 || len(p.Batches) != 0 {
		t.Errorf("after the load it says %+v, %v", p, err)
	}
}

// TestTheSecondOfTwoIsTold holds the lock as another load would.
func TestTheSecondOfTwoIsTold(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	lock, err := y.Store.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	y.Load(dfs.ErrLocked, "2014-09-01", "2014-09-01")
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	y.Load(nil, "2014-09-01", "2014-09-01")
}

// TestTablesKeepWhatJobsForget loads by a job, then by one with other fields and
// behaviours, and by one that contradicts.
func TestTablesKeepWhatJobsForget(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.SetJob(`
logs: logs/{date}/{behaviour}.csv
user: user
behaviours:
  visit: {id: 1, path: play, fields: {seconds: int64}}
`)
	y.Load(job.ErrJob, "2014-09-01", "2014-09-02")
	y.SetJob(`
logs: logs/{date}/{behaviour}.csv
user: user
behaviours:
  login: {id: 9}
  play: {id: 1, fields: {channel: string, seconds: int64}}
`)
	y.Write("2014-09-02/play.csv", "user,time,channel,seconds\na,2014-09-02 10:00:00,five,1\n")
	y.Write("2014-09-02/login.csv", "user,time\na,2014-09-02 10:00:00\n")
	y.Load(nil, "2014-09-02", "2014-09-02")
	y.WantTrails(
		"a 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1",
		"a 2014-09-02 2014-09-02T10:00:00Z login",
		"a 2014-09-02 2014-09-02T10:00:00Z play seconds=1 channel=five",
		"b 2014-09-01 2014-09-01T11:00:00Z play title=two seconds=2",
	)
}

// TestUniqueKeysAreOfOneUserAndDate repeats keys without the user and the time: only records
// of one user and date are duplicates.
func TestUniqueKeysAreOfOneUserAndDate(t *testing.T) {
	for _, keys := range []string{"title", "user, title"} {
		y := bulkloadtest.New(t, strings.Replace(bulkloadtest.TwoKinds, "{id: 1, ", "{id: 1, unique: ["+keys+"], ", 1))
		y.Write("2014-09-01/play.csv", `user,time,title,seconds
a,2014-09-01 10:00:00,one,1
b,2014-09-01 10:00:00,one,2
a,2014-09-01 23:00:00,one,3
a,2014-09-02 00:00:00,one,4
`)
		y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-02"), 4, 3, 0, 1, 0)
		y.WantTrails(
			"a 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1",
			"b 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=2",
			"a 2014-09-02 2014-09-02T00:00:00Z play title=one seconds=4",
		)
	}
}

// TestARecordWithoutAKeyIsNoDuplicate has records that lack the value of each key field, such as records of a log whose column has another
// name, and records that lack one of two values.
func TestARecordWithoutAKeyIsNoDuplicate(t *testing.T) {
	for keys, loaded := range map[string]struct{ first, late int64 }{"title": {4, 1}, "user, title": {4, 1}, "title, seconds": {4, 1}, "time, title": {3, 1}, "user": {1, 0}} {
		y := bulkloadtest.New(t, strings.Replace(bulkloadtest.TwoKinds, "{id: 1, ", "{id: 1, unique: ["+keys+"], ", 1))
		y.Write("2014-09-01/play.csv", "user,time,title,seconds\na,2014-09-01 10:00:00,,\na,2014-09-01 10:00:00,,\na,2014-09-01 11:00:00,,\na,2014-09-01 12:00:00,one,\na,2014-09-01 12:00:00,one,\n")
		y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 5, loaded.first, 0, 5-loaded.first, 0)
		y.Write("2014-09-01/play.late.csv", "user,time,title,seconds\na,2014-09-01 13:00:00,,\na,2014-09-01 12:00:00,one,\n")
		y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 2, loaded.late, 0, 2-loaded.late, 0)
	}
}

// TestALinkToNothingIsNoMissingDay has links that lead nowhere in the places of a folder of logs, and of a log that the path
// names. Each load names them and loads the other days.
func TestALinkToNothingIsNoMissingDay(t *testing.T) {
	for what, target := range map[string]string{"to nothing": "/nowhere/at/all", "to itself": "2014-09-02", "through a file": "2014-09-01/play.csv/x", "of a long name": strings.Repeat("a", 300)} {
		y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
		y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
		link := filepath.Join(y.Dir, "logs", "2014-09-02")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		checks, _, err := load.PreCheck(t.Context(), y.Config("2014-09-01", "2014-09-02"))
		if failure := precheck.Failure(checks); err != nil || failure == nil || !strings.Contains(failure.Error(), link+": it is in the place of a folder of logs, and is a link to nothing") {
			t.Errorf("%s: the pre-check says %+v, %v", what, checks, err)
		}
		r, err := load.Run(t.Context(), y.Config("2014-09-01", "2014-09-02"))
		if err == nil || !strings.Contains(err.Error(), link+": it is in the place of a folder of logs") || len(r.Failed) != 1 || r.Files != 1 {
			t.Errorf("%s: %+v, %v; want the first day loaded, and an error that names the link", what, r, err)
		}
		c := y.Config("2014-09-01", "2014-09-02")
		if _, err := reread.Run(t.Context(), reread.Config{Resources: c.Resources, Job: c.Job, Span: c.Span}); err == nil || !strings.Contains(err.Error(), link) {
			t.Errorf("%s: the load with --reread says %v", what, err)
		}
	}
}

// TestTheDaysOfALinkToNothingFail has links to nothing in the places of folders of a day, a month, a year and of any day, and a file whose
// name is not UTF-8. The requested days that they may have fail. The other days do not.
func TestTheDaysOfALinkToNothingFail(t *testing.T) {
	for _, c := range []struct {
		path, link, log string
		want            bulkload.DayCounts
	}{
		{"{date}/*.csv", "2014-09-02", "2014-09-01/play.csv", bulkload.DayCounts{Loaded: 1, Empty: 2, Failed: 1}},
		{"{date}/play.csv", "2014-09-02", "2014-09-01/play.csv", bulkload.DayCounts{Loaded: 1, Empty: 2, Failed: 1}},
		{"{date:yyyy-MM}/{date:dd}.csv", "2014-08", "2014-09/01.csv", bulkload.DayCounts{Loaded: 1, Empty: 1, Failed: 2}},
		{"{date:yyyy}/{date:MM}/{date:dd}.csv", "2014", "2013/09/01.csv", bulkload.DayCounts{Failed: 4}},
		{"*/{date}.csv", "link", "a/2014-09-01.csv", bulkload.DayCounts{Failed: 4}},
		{"{date}*.csv", "", "2014-09-02\xb5.csv", bulkload.DayCounts{Empty: 3, Failed: 1}},
	} {
		y := bulkloadtest.New(t, "logs: {path: \"logs/"+c.path+"\"}\nuser: user\nbehaviours: {play: {id: 1}}\n")
		y.Write(c.log, bulkloadtest.Plays)
		if c.link != "" {
			if err := os.Symlink("/nowhere/at/all", filepath.Join(y.Dir, "logs", c.link)); err != nil {
				t.Fatal(err)
			}
		}
		r, err := load.Run(t.Context(), y.Config("2014-08-30", "2014-09-02"))
		if err == nil || r.Days == nil || *r.Days != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.path, r.Days, err, c.want)
		}
	}
}

// TestALinkToNothingIsNoLog has links that lead nowhere in the place of a log. The pre-check fails, and a load leaves out this log.
func TestALinkToNothingIsNoLog(t *testing.T) {
	for what, target := range map[string]string{"to nothing": "/nowhere/at/all", "to itself": "play.csv", "through a file": "../2014-09-01/play.csv/x", "of a long name": strings.Repeat("a", 300)} {
		for _, path := range []string{"logs/{date}/*.csv", "logs/{date}/play.csv"} {
			y := bulkloadtest.New(t, "logs: \""+path+"\"\nuser: user\nbehaviours: {play: {id: 1}}\n")
			y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
			link := filepath.Join(y.Dir, "logs", "2014-09-02", "play.csv")
			if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(target, link)); err != nil {
				t.Fatal(err)
			}
			checks, _, err := load.PreCheck(t.Context(), y.Config("2014-09-01", "2014-09-02"))
			if failure := precheck.Failure(checks); err != nil || exit.Of(failure) != exit.Failed || failure == nil || !strings.Contains(failure.Error(), link+": it cannot be read: ") {
				t.Errorf("%s, %s: the pre-check says %+v, %v", what, path, checks, err)
			}
			r, err := load.Run(t.Context(), y.Config("2014-09-01", "2014-09-02"))
			if exit.Of(err) != exit.Failed || err == nil || !strings.Contains(err.Error(), link+": it cannot be read: ") || len(r.Failed) != 1 || r.Files != 1 {
				t.Errorf("%s, %s: %+v, %v; want the first day loaded, and an error that names the link", what, path, r, err)
			}
		}
	}
}

// TestNamesMustBeUTF8 loads a file whose name a ledger cannot hold. Each load leaves it out,
// and loads the others.
func TestNamesMustBeUTF8(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.\xb5\xe7.csv", bulkloadtest.Plays)
	r := y.Load(bulkload.ErrRequest, "2014-09-01", "2014-09-01")
	if len(r.Failed) != 1 || r.Files != 0 || !strings.Contains(r.Failed[0].Error, `\xb5\xe7.csv`) || !strings.Contains(r.Failed[0].Error, "rename") {
		t.Errorf("%+v; want one failed file whose error names it and what to do", r)
	}
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays+"c,2014-09-01 12:00:00,three,3\n")
	y.WantCounts(y.Load(bulkload.ErrRequest, "2014-09-01", "2014-09-01"), 3, 3, 0, 0, 0)
	y.WantCounts(y.Load(bulkload.ErrRequest, "2014-09-01", "2014-09-01"), 0, 0, 0, 0, 0)
	y.Plan(bulkload.ErrRequest, 1<<20, "2014-09-01", "2014-09-01")
	checks, _, err := load.PreCheck(t.Context(), y.Config("2014-09-01", "2014-09-01"))
	if err != nil || !errors.Is(precheck.Failure(checks), bulkload.ErrRequest) {
		t.Errorf("the pre-check says %+v, %v", checks, err)
	}
}
