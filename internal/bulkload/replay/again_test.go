package replay_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
)

// againJob returns a job that skips the records for which a condition holds.
func againJob(skip string) string {
	return "logs: {path: \"logs/{date}.csv\", max_bad: 100%, skip: '" + skip + "'}\nuser: user\nbehaviours: {play: {id: 1, fields: {n: int64}}}\n"
}

const (
	againLog  = "2014-09-01.csv"
	againFile = againLog + ".replay"
)

// badAgain replays five bad records, which are bad again, by a job without skip. Then it corrects one record, and changes another to a
// text that is bad. The new job skips a third record, which has a corrected text, and a fourth one.
func badAgain(t *testing.T) *bulkloadtest.Fixture {
	t.Helper()
	y := bulkloadtest.New(t, againJob(`user == "nobody"`))
	y.Write(againLog, "user,time,n\na,2014-09-01 10:00:00,1\nb,2014-09-01 10:00:01,x\nc,2014-09-01 10:00:02,x\nd,2014-09-01 10:00:03,x\ne,2014-09-01 10:00:04,x\nf,2014-09-01 10:00:05,x\n")
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(againLog, "10:00:01,x", "10:00:01,xx")
	if _, err := replayed(y, againLog); !errors.Is(err, bulkload.ErrLeft) || y.Quarantined(againLog) != "" {
		t.Fatalf("%v, and the file has\n%s\nwant all records in the other file", err, y.Quarantined(againLog))
	}
	y.SetJob(againJob(`user == "d" || n == "0"`))
	y.Correct(againFile, "10:00:01,xx", "10:00:01,2")
	y.Correct(againFile, "10:00:02,x", "10:00:02,xyz")
	y.Correct(againFile, "10:00:04,x", "10:00:04,0")
	return y
}

// bad returns the texts of a quarantine file in order, and the names of the files with corrected lines that were in it.
func bad(y *bulkloadtest.Fixture, name string) (texts []string, kept []string) {
	y.T.Helper()
	for line := range strings.Lines(y.Quarantined(name)) {
		_, text, _ := strings.Cut(line, `"raw":"`)
		text, _, _ = strings.Cut(text, `"`)
		texts = append(texts, text)
	}
	kept, err := filepath.Glob(y.Store.Quarantine(name) + ".kept-*")
	if err != nil {
		y.T.Fatal(err)
	}
	return texts, kept
}

// wantAgain compares the records and lines after the replay of badAgain's file. The job skips two records.
func wantAgain(y *bulkloadtest.Fixture, loaded bool) {
	y.T.Helper()
	trails := []string{"a 2014-09-01 2014-09-01T10:00:00Z play n=1", "b 2014-09-01 2014-09-01T10:00:01Z play n=2"}
	lines := []string{"b,2014-09-01 10:00:01,2", "c,2014-09-01 10:00:02,xyz", "d,2014-09-01 10:00:03,x", "e,2014-09-01 10:00:04,0", "f,2014-09-01 10:00:05,x"}
	if loaded {
		lines = lines[1:]
	} else {
		trails = trails[:1]
	}
	y.WantTrails(trails...)
	if got, kept := bad(y, againFile); !slices.Equal(got, lines) || len(kept) > 0 {
		y.T.Errorf("%s has %q, and there are %q; want %q, and no other file", againFile, got, kept, lines)
	}
}

// TestARecordThatIsSkippedKeepsItsLine replays the quarantine file of an earlier replay.
func TestARecordThatIsSkippedKeepsItsLine(t *testing.T) {
	y := badAgain(t)
	r, err := replayed(y, againFile)
	if !errors.Is(err, bulkload.ErrLeft) || r.Read != 5 || r.Loaded != 1 || r.Quarantined != 2 || r.Skipped != 2 {
		t.Errorf("%+v, %v; want a record loaded, two bad and two skipped", r, err)
	}
	wantAgain(y, true)
}

// TestKeepLeavesEveryLine replays the quarantine file of an earlier replay, and removes nothing.
func TestKeepLeavesEveryLine(t *testing.T) {
	y := badAgain(t)
	r := y.Replay(bulkload.ErrLeft, againFile)
	if got, kept := bad(y, againFile); r.Loaded != 1 || len(got) != 5 || len(kept) > 0 {
		t.Errorf("%+v, %q, %q; want a record loaded, and five lines", r, got, kept)
	}
}

// TestAReplaySurvivesAnyFault fails each file operation of a replay once, in every mode. The file has the records that were bad
// again in an earlier replay. No line is lost, and the same replay again ends as an undisturbed one.
func TestAReplaySurvivesAnyFault(t *testing.T) {
	modes := []dfstest.Mode{0, dfstest.Uncertain, dfstest.Dead, dfstest.Uncertain | dfstest.Dead}
	dfstest.Sweep(t, modes, 40, func(t *testing.T, n int, mode dfstest.Mode) bool {
		y := badAgain(t)
		fault := dfstest.FaultAt(local.New(), n, mode)
		y.Store.FS = fault
		_, err := replayed(y, againFile)
		y.Store.FS = local.New()
		if fault.Count() <= n {
			return true
		}
		if !errors.Is(err, dfstest.ErrInjected) && !errors.Is(err, bulkload.ErrLeft) {
			t.Fatalf("operation %d: %v, want ErrInjected or ErrLeft", n, err)
		}
		loaded := len(y.Trails(false)) == 2
		if got, kept := bad(y, againFile); len(kept) > 0 || !loaded && len(got) != 5 {
			t.Fatalf("operation %d: %q, %q: loaded %t; want every line of a record that is not in the table", n, got, kept, loaded)
		}
		if _, err := replayed(y, againFile); !errors.Is(err, bulkload.ErrLeft) {
			t.Errorf("operation %d: the same replay again: %v, want ErrLeft", n, err)
		}
		wantAgain(y, true)
		return false
	})
}

// TestALineOfALoadedRecordIsADuplicate replays a record that was bad again, by its line in the file of the load. Its line in the file of the
// replay is a duplicate.
func TestALineOfALoadedRecordIsADuplicate(t *testing.T) {
	y := bulkloadtest.New(t, againJob(`user == "nobody"`))
	y.Write(againLog, "user,time,n\na,2014-09-01 10:00:00,1\nb,2014-09-01 10:00:01,x\n")
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(againLog, "10:00:01,x", "10:00:01,xx")
	first := y.Quarantined(againLog)
	if _, err := replayed(y, againLog); !errors.Is(err, bulkload.ErrLeft) {
		t.Fatal(err)
	}
	y.KeepBad(againLog, first)
	y.Correct(againLog, "10:00:01,xx", "10:00:01,2")
	if r, err := replayed(y, againLog); err != nil || r.Loaded != 1 || r.Removed != 1 {
		t.Errorf("%+v, %v; want the record loaded", r, err)
	}
	r, err := replayed(y, againFile)
	if err != nil || r.Duplicate != 1 || r.Removed != 1 {
		t.Errorf("%+v, %v; want a duplicate, which is removed", r, err)
	}
	if _, err := replayed(y, againFile); !errors.Is(err, bulkload.ErrNothing) {
		t.Errorf("%v, want ErrNothing", err)
	}
}

// TestALongCorrectionStaysWhole corrects a record that is too long by a text that is still too long, in the quarantine file of the load and in
// the file of the replay. When the job allows such records, the correction is loaded.
func TestALongCorrectionStaysWhole(t *testing.T) {
	job := func(most string) string {
		return "logs: {path: \"logs/{date}.csv\", max_bad: 100%, max_line: " + most + "}\nuser: user\nbehaviours: {play: {id: 1, fields: {s: string}}}\n"
	}
	long := strings.Repeat("L", 7000)
	for _, again := range []bool{false, true} {
		y := bulkloadtest.New(t, job("5000B"))
		y.Write(againLog, "user,time,s\na,2014-09-01 10:00:00,x\nb,2014-09-01 10:00:01,"+long+"\nc,never,x\nd,never,x\n")
		y.Load(nil, "2014-09-01", "2014-09-01")
		name := againLog
		y.Correct(againLog, `"raw":"c,never`, `"raw":"c,2014-09-01 10:00:02`)
		if again {
			if _, err := replayed(y, againLog); !errors.Is(err, bulkload.ErrLeft) {
				t.Fatal(err)
			}
			name = againFile
			y.Correct(name, `"raw":"d,never`, `"raw":"d,2014-09-01 10:00:03`)
		}
		corrected := strings.Repeat("M", 5500) + "TAIL"
		text := y.Quarantined(name)
		from := strings.Index(text, `"raw":"b,`)
		to := from + strings.Index(text[from:], `","`)
		y.KeepBad(name, strings.Replace(text[:from]+`"raw":"b,2014-09-01 10:00:01,`+corrected+text[to:], `"cut":true,`, "", 1))
		if _, err := replayed(y, name); !errors.Is(err, bulkload.ErrLeft) {
			t.Errorf("%v, want ErrLeft", err)
		}
		if !strings.Contains(y.Quarantined(name), "TAIL") {
			t.Errorf("%s has\n%s\nwant the correction", name, y.Quarantined(name))
		}
		y.SetJob(job("9000B"))
		_, _ = replayed(y, name) // a record may still be bad
		if got := strings.Join(y.Trails(false), "\n"); !strings.Contains(got, "b 2014-09-01 2014-09-01T10:00:01Z play s="+corrected+"\n") {
			t.Errorf("%s: the table has\n%s\nwant the correction", name, got)
		}
	}
}
