package replay_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/format/manifest"
)

// copiesJob returns a job. logs has the further keys of logs, and behaviours has the behaviours.
func copiesJob(path, logs, behaviours string) string {
	return "logs: {path: " + path + ", max_bad: 100%" + logs + "}\nuser: user\nbehaviours: {" + behaviours + "}\n"
}

const (
	byPath   = `"logs/{behaviour}-*.csv"`
	anyPath  = `"logs/*.csv"`
	byColumn = `, behaviour: {column: ev, others: skip}`
	asText   = "fields: {s: string, n: string}"
	asNumber = "fields: {s: string, n: int64}"
	play     = "play: {id: 1, " + asNumber + "}"
	both     = play + ", order: {id: 2, " + asNumber + "}"

	// copied has a good record, and a record that is bad if n is a number or a column names the behaviour.
	copied = "user,time,ev,s,n\na,2014-09-02 10:00:00,order,r1,5\na,2014-09-02 11:00:00,,r2,BAD\n"
	r1     = "a 2014-09-02 2014-09-02T10:00:00Z "
	r2     = "a 2014-09-02 2014-09-02T11:00:00Z "
)

// loadCopies loads all days by a job.
func loadCopies(y *bulkloadtest.Fixture, job string, read, loaded, quarantined, duplicate, skipped int64) {
	y.T.Helper()
	y.SetJob(job)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-05"), read, loaded, quarantined, duplicate, skipped)
}

// wantReplay replays quarantine files one after the other. It compares the number of loaded records and of duplicates, and the events
// of the table.
func wantReplay(y *bulkloadtest.Fixture, names []string, loaded, duplicate int64, want ...string) {
	y.T.Helper()
	var sum bulkload.Result
	for _, name := range names {
		r, err := replayed(y, name)
		if err != nil {
			y.T.Fatalf("replay of %s: %v", name, err)
		}
		sum.Add(r)
	}
	if sum.Loaded != loaded || sum.Duplicate != duplicate {
		y.T.Errorf("loaded %d, duplicate %d; want %d and %d", sum.Loaded, sum.Duplicate, loaded, duplicate)
	}
	y.WantTrails(want...)
}

// columnThenPath loads a file by a job that finds the behaviour in a column, and a copy of it by a job that finds the behaviour in the
// path. It corrects the bad record of both.
func columnThenPath(t *testing.T) *bulkloadtest.Fixture {
	t.Helper()
	y := bulkloadtest.New(t, copiesJob(anyPath, byColumn, both))
	y.Write("play-a.csv", copied)
	loadCopies(y, copiesJob(anyPath, byColumn, both), 2, 1, 1, 0, 0)
	y.Write("order-b.csv", copied)
	loadCopies(y, copiesJob(byPath, "", both), 2, 0, 1, 1, 0)
	y.Correct("play-a.csv", "BAD", "7")
	y.Correct("order-b.csv", "BAD", "7")
	return y
}

// TestTheQuarantinedPathNamesTheBehaviour loads a file by a job that finds the behaviour in a column, and a copy of it by a job
// that finds the behaviour in the path. The bad record is loaded once, with the behaviour of the replayed file's path.
func TestTheQuarantinedPathNamesTheBehaviour(t *testing.T) {
	for _, names := range [][]string{{"order-b.csv", "play-a.csv"}, {"play-a.csv", "order-b.csv"}} {
		t.Run(names[0]+" first", func(t *testing.T) {
			y := columnThenPath(t)
			kind, _, _ := strings.Cut(names[0], "-")
			wantReplay(y, names, 1, 1, r1+"order s=r1 n=5", r2+kind+" s=r2 n=7")
		})
	}
}

// TestFilesOfTwoBehavioursAreOneForAColumn loads two files of equal bytes as two behaviours. Then the job finds the behaviour in
// a column. The bad record of both, and of a third copy, is one record.
func TestFilesOfTwoBehavioursAreOneForAColumn(t *testing.T) {
	names := []string{"play-a.csv", "order-b.csv", "zz-c.csv"}
	for _, together := range []bool{false, true} {
		y := bulkloadtest.New(t, copiesJob(byPath, "", both))
		y.Write(names[0], copied)
		y.Write(names[1], copied)
		loadCopies(y, copiesJob(byPath, "", both), 4, 2, 2, 0, 0)
		y.Write(names[2], copied)
		loadCopies(y, copiesJob(anyPath, byColumn, both), 2, 0, 1, 1, 0)
		for _, name := range names {
			y.Correct(name, ",,r2,BAD", ",order,r2,7")
		}
		replay := names
		if together {
			y.KeepBad("all", y.Quarantined(names[0])+y.Quarantined(names[1])+y.Quarantined(names[2]))
			replay = []string{"all"}
		}
		wantReplay(y, replay, 1, 2, r1+"order s=r1 n=5", r1+"play s=r1 n=5", r2+"order s=r2 n=7")
	}
}

// TestReplayOfTwoBehavioursOfOneContent replays the bad record of two files of equal bytes whose paths name two behaviours. It is two
// records.
func TestReplayOfTwoBehavioursOfOneContent(t *testing.T) {
	y := bulkloadtest.New(t, copiesJob(byPath, "", both))
	y.Write("play-a.csv", copied)
	y.Write("order-b.csv", copied)
	loadCopies(y, copiesJob(byPath, "", both), 4, 2, 2, 0, 0)
	y.Correct("play-a.csv", "BAD", "7")
	y.Correct("order-b.csv", "BAD", "8")
	y.KeepBad("all", y.Quarantined("order-b.csv")+y.Quarantined("play-a.csv"))
	wantReplay(y, []string{"all"}, 2, 0, r1+"order s=r1 n=5", r1+"play s=r1 n=5", r2+"order s=r2 n=8", r2+"play s=r2 n=7")
}

// TestReplayOfACopyThatAnotherJobLoaded loads a file by a job for which all records are good, and a copy of it by another job. The bad
// record of the copy is in the table, under another behaviour.
func TestReplayOfACopyThatAnotherJobLoaded(t *testing.T) {
	const watch = "watch: {id: 2, path: play, fields: {s: string, x: {type: int64, column: n}}}"
	for _, folder := range []string{"", "2014-09-02/"} {
		pattern := strings.Replace(folder, "2014-09-02", "{date}", 1)
		path := `"logs/` + pattern + `{behaviour}-*.csv"`
		for _, c := range []struct{ what, name, second, from, to string }{
			{"a renamed behaviour", "play-b.csv", copiesJob(path, "", watch), "BAD", "7"},
			{"a column", "zz-b.csv", copiesJob(`"logs/`+pattern+`*.csv"`, byColumn, strings.ReplaceAll(both, asNumber, asText)), ",,r2", ",order,r2"},
		} {
			t.Run(folder+c.what, func(t *testing.T) {
				first := copiesJob(path, "", "play: {id: 1, "+asText+"}")
				y := bulkloadtest.New(t, first)
				y.Write(folder+"play-a.csv", copied)
				loadCopies(y, first, 2, 2, 0, 0, 0)
				y.Write(folder+c.name, copied)
				loadCopies(y, c.second, 2, 0, 1, 1, 0)
				y.Correct(folder+c.name, c.from, c.to)
				wantOther(y, folder+c.name)
				y.WantTrails(r1+"play s=r1 n=5", r2+"play s=r2 n=BAD")
			})
		}
	}
}

// TestReplayOfACopyOfAFileThatTheJobDoesNotHave loads a file, and a copy of it by a job whose paths do not match the first file.
func TestReplayOfACopyOfAFileThatTheJobDoesNotHave(t *testing.T) {
	for _, c := range []struct {
		what             string
		first, second    string
		delivered, known string // for the first job: below logs, and below the root of the job
		copy             string
	}{
		{"a root that moves up", copiesJob(`"logs/app/{behaviour}-*.csv"`, "", play), copiesJob(`["logs/app/{behaviour}-*.csv", "logs/late/{behaviour}-*.csv"]`, "", play), "app/play-a.csv", "play-a.csv", "app/play-a.csv"},
		{"another pattern", copiesJob(byPath, "", play), copiesJob(`"logs/{behaviour}_*.csv"`, "", play), "play-a.csv", "play-a.csv", "play_a.csv"},
		{"a path after a column", copiesJob(anyPath, byColumn, both), copiesJob(byPath, "", both), "zz-a.csv", "zz-a.csv", "play-b.csv"},
	} {
		t.Run(c.what, func(t *testing.T) {
			y := bulkloadtest.New(t, c.first)
			y.Write(c.delivered, copied)
			loadCopies(y, c.first, 2, 1, 1, 0, 0)
			before := y.Trails(false)
			if c.copy != c.delivered {
				y.Rename(c.delivered, c.copy)
			}
			y.Write("late/play-x.csv", "user,time,ev,s,n\n")
			loadCopies(y, c.second, 2, 0, 1, 1, 0)
			y.Correct(c.known, "BAD", "7")
			if _, err := replayed(y, c.known); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), c.known+" is none of the job's files: use the job that loaded it") {
				t.Errorf("replay of the first file: %v; want an error with the next step", err)
			}
			y.Correct(c.copy, "BAD", "7")
			wantReplay(y, []string{c.copy}, 1, 0, append(before, r2+"play s=r2 n=7")...)
		})
	}
}

// TestReplayFindsARecordByItsColumnID is for a record that a load added whose ledger does not show it. The table has the record
// under another user, day or behaviour than its correction.
func TestReplayFindsARecordByItsColumnID(t *testing.T) {
	const name, bad = "2014-09-02.csv", "b,2014-09-02 11:00:00,play,play,many"
	grown := skippingJob("kind", "", ", order: {id: 2}")
	for what, corrected := range map[string]string{
		"user":      "B,2014-09-02 11:00:00,play,play,2",
		"day":       "b,2014-09-03 11:00:00,play,play,2",
		"behaviour": "b,2014-09-02 11:00:00,order,play,2",
		"all":       "B,2014-09-01 11:00:00,order,play,2",
	} {
		for _, layout := range []string{"reversed", "tall", "wide", "game", "game-time", "hashed"} {
			t.Run(what+" "+layout, func(t *testing.T) {
				in := "layout: " + layout + "\n"
				y := bulkloadtest.New(t, in+grown)
				y.Write(name, "user,time,kind,event,x\na,2014-09-02 10:00:00,play,play,1\n"+bad+"\nc,2014-09-02 12:00:00,order,order,3\n")
				loadCopies(y, in+strings.Replace(skippingJob("event", "", ""), "fields: {x: int64}\n", "", 1), 3, 2, 0, 0, 1)
				loadCopies(y, in+skippingJob("event", "", ", order: {id: 2}"), 3, 1, 1, 0, 1)
				before := y.Trails(true)
				y.SetJob(in + grown)
				y.Correct(name, bad, corrected)
				wantOther(y, name)
				if got := y.Trails(true); !slices.Equal(got, before) {
					t.Errorf("the table has %q, want %q", got, before)
				}
			})
		}
	}
}

// TestReplayKeepsCorrections corrects a record that is bad again, in the file of such records. Other replays of the same record keep
// the correction.
func TestReplayKeepsCorrections(t *testing.T) {
	const first, second, again = "play-a.csv", "play-b.csv", "play-a.csv.replay"
	y := bulkloadtest.New(t, copiesJob(byPath, "", play))
	y.Write(first, copied+",2014-09-02 12:00:00,,r3,6\n")
	y.Write(second, copied+",2014-09-02 12:00:00,,r3,6\n")
	loadCopies(y, copiesJob(byPath, "", play), 6, 1, 4, 1, 0)
	y.Correct(first, "BAD", "7")
	y.Correct(second, "BAD", "7")
	kept := y.Quarantined(first)
	y.WantCounts(y.Replay(bulkload.ErrLeft, first), 2, 1, 1, 0, 0)
	y.Correct(again, `"raw":",2014`, `"raw":"b,2014`)
	y.WantCounts(y.Replay(bulkload.ErrLeft, second), 2, 0, 1, 1, 0)
	for range 2 {
		y.KeepBad(first, kept)
		y.WantCounts(y.Replay(bulkload.ErrLeft, first), 2, 0, 1, 1, 0)
	}
	if got := y.Quarantined(again); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"raw":"b,2014`) {
		t.Errorf("the file of records that are bad again is\n%s\nwant the corrected line, and the line as it was", got)
	}
	wantReplay(y, []string{again}, 1, 1, r1+"play s=r1 n=5", r2+"play s=r2 n=7", "b 2014-09-02 2014-09-02T12:00:00Z play s=r3 n=6")
}

// TestAReplayedDayIsLoaded replays a record of a day that no load has added. The table has the day if the path has none.
func TestAReplayedDayIsLoaded(t *testing.T) {
	for _, c := range []struct{ path, name, want string }{
		{byPath, "play-a.csv", "[{[play] [2014-09-03]}]"},
		{`"logs/{date}/{behaviour}.csv"`, "2014-09-02/play.csv", "[]"},
	} {
		y := bulkloadtest.New(t, copiesJob(c.path, "", play))
		y.Write(c.name, strings.Replace(copied, "2014-09-02 11", "2014-09-03 11", 1))
		loadCopies(y, copiesJob(c.path, "", play), 2, 1, 1, 0, 0)
		y.Correct(c.name, "BAD", "7")
		wantReplay(y, []string{c.name}, 1, 0, r1+"play s=r1 n=5", "a 2014-09-03 2014-09-03T11:00:00Z play s=r2 n=7")
		m := new(manifest.Table)
		if err := manifest.Read(t.Context(), y.Store.FS, filepath.Join(y.Store.Dir, "manifest.json"), m); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(m.Loads[1].Delivered); got != c.want {
			t.Errorf("%s: the replay has the days %s, want %s", c.path, got, c.want)
		}
	}
}

// TestAReplayOfALineThatNoLoadWrote replays a corrected copy of the quarantine file of a refused load. For a later job the record is good:
// its load added the record under the user and day that the file has, and skipped another record.
func TestAReplayOfALineThatNoLoadWrote(t *testing.T) {
	const name = "a.csv"
	for what, corrected := range map[string]string{"user": "b,2014-09-02 11:00:00,play,r2,7", "day": "a,2014-09-03 11:00:00,play,r2,7"} {
		t.Run(what, func(t *testing.T) {
			y := bulkloadtest.New(t, strings.Replace(copiesJob(anyPath, byColumn, both), "100%", "1%", 1))
			y.Write(name, strings.Replace(copied, ",,r2", ",play,r2", 1)+"a,2014-09-02 12:00:00,seek,r3,6\n")
			y.Load(bulkload.ErrTooBad, "2014-09-01", "2014-09-05")
			y.Correct(name, "a,2014-09-02 11:00:00,play,r2,BAD", corrected)
			mine := y.Quarantined(name)
			loadCopies(y, copiesJob(anyPath, byColumn+", nulls: [BAD]", both), 3, 2, 0, 0, 1)
			y.KeepBad("mine", mine)
			wantOther(y, "mine")
			y.WantTrails(r1+"order s=r1 n=5", r2+"play s=r2")
		})
	}
}

// TestACopyOfAnotherDayIsOfItsOwnDay loads a file from the folder of a wrong day, and a copy of it from the right one.
func TestACopyOfAnotherDayIsOfItsOwnDay(t *testing.T) {
	const wrong, right = "2014-09-04/play-a.csv", "2014-09-02/play-a.csv"
	job := copiesJob(`"logs/{date}/{behaviour}-*.csv"`, "", play)
	y := bulkloadtest.New(t, job)
	y.Write(wrong, copied)
	loadCopies(y, job, 2, 0, 2, 0, 0)
	y.Write(right, copied)
	loadCopies(y, job, 2, 1, 1, 0, 0)
	y.Correct(wrong, "BAD", "7")
	y.Correct(right, "BAD", "7")
	wantReplay(y, []string{right, wrong}, 1, 2, r1+"play s=r1 n=5", r2+"play s=r2 n=7")
}

// TestLinesOfTwoBehavioursAreNotMixed loads a file by a job that finds the behaviour in a column, and a copy of it by a job that finds it in the
// path. A file with bad records of both is refused.
func TestLinesOfTwoBehavioursAreNotMixed(t *testing.T) {
	y := columnThenPath(t)
	y.KeepBad("all", y.Quarantined("play-a.csv")+y.Quarantined("order-b.csv"))
	if _, err := replayed(y, "all"); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "are of other days or behaviours") {
		t.Errorf("%v, want an error", err)
	}
	y.WantTrails(r1 + "order s=r1 n=5")
}
