package replay_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/replay"
)

// replayed replays the quarantine file of a delivered file, and removes the loaded records.
func replayed(y *bulkloadtest.Fixture, name string) (bulkload.Result, error) {
	cfg := bulkloadtest.ReplayOf(y.Config("2014-09-01", "2014-09-01"))
	cfg.Remove = true
	return replay.Run(y.T.Context(), cfg, y.Store.Quarantine(name))
}

// TestAReplayOfAnUnchangedFileWritesNothing replays an unchanged file and a copy of it. The message
// is that nothing was written.
func TestAReplayOfAnUnchangedFileWritesNothing(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	before := y.Quarantined(name)
	r, err := replayed(y, name)
	if !errors.Is(err, bulkload.ErrLeft) || !errors.Is(err, replay.ErrUnchanged) || !strings.Contains(err.Error(), "2 of 2 records are still bad: "+y.Store.Quarantine(name)) {
		t.Errorf("%v, want that nothing was corrected", err)
	}
	if r.Loads != 0 || r.Read != 2 || r.Quarantined != 2 || y.Quarantined(name) != before {
		t.Errorf("%+v; want no load, and the same file", r)
	}
	if _, err := os.Stat(y.Store.Quarantine(name + ".replay")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a second quarantine file: %v", err)
	}
	y.SetJob(strings.Replace(bulkloadtest.TwoKinds, "seconds: int64", "seconds: {type: int64, column: seconds, pattern: \"^[0-9]+\"}", 1))
	if r, err = replayed(y, name); errors.Is(err, replay.ErrUnchanged) || r.Loaded != 1 {
		t.Errorf("with a corrected job: %+v, %v; want a record loaded", r, err)
	}
}

// TestReplayRemovesWhatIsLoaded leaves the other lines as they are, and at last no file.
func TestReplayRemovesWhatIsLoaded(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(name, "many", "8")
	r, err := replayed(y, name)
	if !errors.Is(err, bulkload.ErrLeft) || !strings.HasSuffix(err.Error(), "1 of 2 records are still bad: correct their lines in "+y.Store.Quarantine(name+".replay")+", and replay them") {
		t.Errorf("%v, want the file of the records that are still bad", err)
	}
	if r.Removed != 1 || r.Loaded != 1 {
		t.Errorf("%+v, want one record loaded and removed", r)
	}
	empty := func(name string) {
		t.Helper()
		if got := y.Quarantined(name); got != "" {
			t.Errorf("the file has\n%s\nwant no record", got)
		}
		if _, err := replayed(y, name); !errors.Is(err, bulkload.ErrNothing) {
			t.Errorf("the same replay again: %v, want ErrNothing", err)
		}
	}
	empty(name)

	again := name + ".replay"
	y.Correct(again, "11:30:00", "11:30:01")
	if r, err = replayed(y, again); !errors.Is(err, bulkload.ErrLeft) || r.Removed != 0 || strings.Count(y.Quarantined(again), "11:30:01") != 1 {
		t.Errorf("%+v, %v, and the file has\n%s\nwant the record that is still bad", r, err, y.Quarantined(again))
	}
	y.Correct(again, `"raw":",2014`, `"raw":"d,2014`)
	if r, err = replayed(y, again); err != nil || r.Removed != 1 || r.Loaded != 1 {
		t.Errorf("%+v, %v; want the last record loaded and removed", r, err)
	}
	empty(again)
}

// TestReplayOfDuplicatesRemovesThem replays a file twice. The first replay removes nothing.
func TestReplayOfDuplicatesRemovesThem(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := loadCorrected(t, name)
	y.WantCounts(y.Replay(nil, name), 2, 2, 0, 0, 0)
	if r, err := replayed(y, name); err != nil || r.Duplicate != 2 || r.Removed != 2 {
		t.Errorf("%+v, %v; want two duplicates, which are removed", r, err)
	}
}

// TestARefusedReplayRemovesNothing replays a corrected text with two records. The replay is
// refused, and the file stays as it is.
func TestARefusedReplayRemovesNothing(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(name, `two,many`, `two,2\nb,2014-09-01 11:00:00,three,3`)
	before := y.Quarantined(name)
	if r, err := replayed(y, name); err == nil || r.Removed != 0 || y.Quarantined(name) != before {
		t.Errorf("%+v, %v; want an error, and the same file\n%s", r, err, y.Quarantined(name))
	}
}

// TestABadRecordIsInOneFile replays two corrected records. One is bad again, and the job skips the other one. The bad record is only in
// the file of the records that are still bad, and the skipped one only in the replayed file.
func TestABadRecordIsInOneFile(t *testing.T) {
	const name = "2014-09-01.csv"
	y := bulkloadtest.New(t, skippingJob("kind", "", ""))
	y.Write(name, "user,time,kind,event,x\na,2014-09-01 10:00:00,play,,1\nb,never,play,,2\nc,never,play,,3\n")
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(name, "b,never", "b,2014-09-20 11:00:00") // not near the date of the file
	y.Correct(name, "c,never,play", "c,2014-09-01 12:00:00,seek")
	r, err := replayed(y, name)
	if !errors.Is(err, bulkload.ErrLeft) || r.Quarantined != 1 || r.Skipped != 1 || r.Removed != 0 {
		t.Errorf("%+v, %v; want a bad and a skipped record", r, err)
	}
	here, again := y.Quarantined(name), y.Quarantined(name+".replay")
	if strings.Contains(here, "b,2014") || !strings.Contains(here, "c,2014") || !strings.Contains(again, "b,2014") || strings.Contains(again, "c,2014") {
		t.Errorf("the file has\n%s\nand the file of the records that are still bad has\n%s", here, again)
	}
}
