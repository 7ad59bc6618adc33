package replay_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/format/job"
)

// The logs of playAndOrder.
const playLog, orderLog = "2014-09-01/play.csv", "2014-09-01/order.csv"

// replayedAll replays all quarantine files of a table, and removes the loaded records.
func replayedAll(y *bulkloadtest.Fixture) (bulkload.Result, error) {
	y.T.Helper()
	cfg := bulkloadtest.ReplayOf(y.Config("2014-09-01", "2014-09-01"))
	cfg.Remove = true
	folder := filepath.Dir(y.Store.Quarantine("x"))
	list, err := os.ReadDir(folder)
	if err != nil {
		y.T.Fatal(err)
	}
	var files []string
	for _, f := range list {
		files = append(files, filepath.Join(folder, f.Name()))
	}
	return replay.RunAll(y.T.Context(), cfg, folder, slices.Sorted(slices.Values(files)))
}

// playAndOrder loads a log of each behaviour, and corrects a record of order. play has two bad records.
func playAndOrder(t *testing.T, orders string) *bulkloadtest.Fixture {
	t.Helper()
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(playLog, bulkloadtest.WithBad)
	y.Write(orderLog, orders)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(orderLog, "10:00:01,x", "10:00:01,2")
	return y
}

// TestAFolderIsCountedAsAWhole replays a folder of two files twice. One of two records of each file is corrected.
func TestAFolderIsCountedAsAWhole(t *testing.T) {
	y := playAndOrder(t, "user,time,price\na,2014-09-01 10:00:00,1\na,2014-09-01 10:00:01,x\na,2014-09-01 10:00:02,y\nb,2014-09-01 10:00:02,2\n")
	y.Correct(playLog, "many", "8")

	r, err := replayedAll(y)
	want := "2 of 4 records in 2 files are still bad: correct their lines in " + y.Store.Quarantine(orderLog+".replay") + ", " + y.Store.Quarantine(playLog+".replay") + ", and replay them"
	if !errors.Is(err, bulkload.ErrLeft) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if r.Read != 4 || r.Loaded != 2 || r.Quarantined != 2 {
		t.Errorf("%+v, want two records loaded and two bad", r)
	}

	r, err = replayedAll(y)
	want = filepath.Dir(y.Store.Quarantine("x")) + ": no record is corrected in the 2 files that have bad records: "
	if !errors.Is(err, replay.ErrUnchanged) || !errors.Is(err, bulkload.ErrLeft) || !strings.Contains(err.Error(), want) || r.Unchanged != 2 {
		t.Errorf("again: %+v, %v, want %q", r, err, want)
	}
}

// TestAFolderMayHaveRecordsOfRemovedLogs replays a folder with bad records of two logs, of which one was removed. Its header would name the columns.
func TestAFolderMayHaveRecordsOfRemovedLogs(t *testing.T) {
	y := playAndOrder(t, "user,time,price\na,2014-09-01 10:00:00,1\na,2014-09-01 10:00:01,x\n")
	if err := os.Remove(filepath.Join(y.Dir, "logs", playLog)); err != nil {
		t.Fatal(err)
	}
	if r, err := replayedAll(y); err != nil || r.Loaded != 1 || r.Unchanged != 1 {
		t.Errorf("%+v, %v; want a record loaded, and a file without corrected records", r, err)
	}
	if _, err := replayed(y, playLog); !errors.Is(err, job.ErrNoInput) {
		t.Errorf("the file alone: %v, want that its log is gone", err)
	}
	y.Correct(playLog, "many", "8")
	if _, err := replayedAll(y); !errors.Is(err, job.ErrNoInput) {
		t.Errorf("with a corrected record: %v, want that its log is gone", err)
	}
}
