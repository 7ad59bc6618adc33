package pieces_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/files"
)

// TestARecordTooLargeForAWorker does a piece with a record that is too large for the memory of its worker. The piece is not
// done. A worker with more memory does it, and all records are loaded.
func TestARecordTooLargeForAWorker(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.LongLines("64MiB"))
	y.Write("2014-09-01/play.csv", "user,time,title,seconds\na,2014-09-01 10:00:00,one,1\nb,2014-09-01 10:00:00,"+strings.Repeat("x", 3<<20)+",1\n")
	parts := y.Plan(nil, 1<<30, "2014-09-01", "2014-09-01")
	if len(parts) != 1 {
		t.Fatalf("%d pieces, want 1", len(parts))
	}
	worker := y.Worker(local.New())
	_, err := pieces.Run(t.Context(), worker, &parts[0], time.Minute)
	if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "2014-09-01/play.csv: record at byte 52: ") || !strings.Contains(err.Error(), "--memory") {
		t.Fatalf("%v, want the file, the record and --memory", err)
	}
	if r, err := pieces.Commit(t.Context(), worker, parts); err == nil {
		t.Fatalf("the piece is committed: %+v", r)
	}
	worker.Memory = 1 << 30
	if r, err := pieces.Run(t.Context(), worker, &parts[0], time.Minute); err != nil || r.Loaded != 2 {
		t.Fatalf("with more memory %+v, %v; want two records", r, err)
	}
	if r := y.Commit(nil, parts); r.Loaded != 2 || len(r.Failed) != 0 {
		t.Errorf("%+v, want two records", r)
	}
}

// TestCommitsRepeatWhatWasLeftOut repeats a commit that left a file out. Each commit reports
// the same about this file, until a load loads it. Ledgers of older versions do not list such
// files.
func TestCommitsRepeatWhatWasLeftOut(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.SetJob(strings.Replace(bulkloadtest.TwoKinds, "50%", "1", 1))
	y.Write("2014-09-01/play.csv.gz", bulkloadtest.Zipped(t, bulkloadtest.Plays)[:40])
	y.Write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
	y.Write("2014-09-02/play.csv", bulkloadtest.Plays+",,,\n,,,\n")
	third := strings.ReplaceAll(bulkloadtest.Plays, "2014-09-01", "2014-09-03")
	y.Write("2014-09-03/play.csv", third)
	if err := os.Symlink("nowhere", filepath.Join(y.Dir, "logs/2014-09-03/order.csv")); err != nil {
		t.Fatal(err)
	}
	parts := y.Plan(nil, 1<<20, "2014-09-01", "2014-09-03")
	y.Write("2014-09-03/play.csv", third+"c,2014-09-03 12:00:00,one,1\n") // after it was planned
	y.DoAll(parts)
	first := y.Commit(bulkload.ErrTooBad, parts)
	if len(first.Failed) != 4 || first.Files != 1 {
		t.Fatalf("%+v, want four files left out, and one loaded", first)
	}
	if again := y.Commit(bulkload.ErrTooBad, parts); len(again.Failed) != 4 || again.Files != 0 {
		t.Errorf("again: %+v, want the same four", again)
	}

	y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "2014-09-01", "2014-09-02"))
	y.Load(nil, "2014-09-02", "2014-09-02")
	r, err := pieces.Commit(t.Context(), y.Worker(local.New()), parts)
	if err == nil || errors.Is(err, bulkload.ErrTooBad) || errors.Is(err, bulkload.ErrNothing) || len(r.Failed) != 3 {
		t.Errorf("one was loaded since: %v, %+v; want the other three", err, r.Failed)
	}
	if err := os.Remove(filepath.Join(y.Dir, "logs/2014-09-03/order.csv")); err != nil {
		t.Fatal(err)
	}
	y.Write("2014-09-03/order.csv", "user,time,price\nc,2014-09-03 12:00:00,1.5\n")
	y.Write("2014-09-01/play.csv.gz", bulkloadtest.Zipped(t, bulkloadtest.Plays))
	y.Load(nil, "2014-09-01", "2014-09-03")
	y.Commit(bulkload.ErrNothing, parts)
}

// newMarked returns a fixture whose job loads a day when the day's marker exists.
func newMarked(t *testing.T) *bulkloadtest.Fixture {
	t.Helper()
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.SetJob(strings.Replace(bulkloadtest.TwoKinds, "logs:\n", "logs:\n  ready: logs/{date}/_SUCCESS\n", 1))
	return y
}

// TestCommitsRepeatWhatMayStillBeWritten has a plan that left out a log without its marker. Each commit ends as a load would, until
// a load has loaded the log.
func TestCommitsRepeatWhatMayStillBeWritten(t *testing.T) {
	y := newMarked(t)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Write("2014-09-01/_SUCCESS", "")
	y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "-09-01", "-09-02"))
	parts := y.Plan(nil, 1<<20, "2014-09-01", "2014-09-02")
	y.DoAll(parts)
	for try := range 2 {
		r := y.Commit(bulkload.ErrGrowing, parts)
		if len(r.Failed) != 1 || r.Files != 1-try {
			t.Errorf("commit %d: %+v; want one file left out, and one loaded the first time", try+1, r)
		}
	}
	y.Write("2014-09-02/_SUCCESS", "")
	y.Load(nil, "2014-09-02", "2014-09-02")
	y.Commit(bulkload.ErrNothing, parts)
}

// TestALogThatWasLeftOutIsLoadedBeforeTheCommit has a plan that left out a log, which another load has loaded when
// the plan is committed. An earlier load had a log of the same name without records.
func TestALogThatWasLeftOutIsLoadedBeforeTheCommit(t *testing.T) {
	for _, earlier := range []bool{false, true} {
		y := newMarked(t)
		ready := filepath.Join(y.Dir, "logs/2014-09-02/_SUCCESS")
		if earlier {
			y.Write("2014-09-02/_SUCCESS", "")
			y.Write("2014-09-02/play.csv", "user,time,title,seconds\n")
			y.Load(nil, "2014-09-02", "2014-09-02")
			if err := os.Remove(ready); err != nil {
				t.Fatal(err)
			}
		}
		y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
		y.Write("2014-09-01/_SUCCESS", "")
		y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "-09-01", "-09-02"))
		parts := y.Plan(nil, 1<<20, "2014-09-01", "2014-09-02")
		y.DoAll(parts)
		y.Write("2014-09-02/_SUCCESS", "")
		y.Load(nil, "2014-09-02", "2014-09-02")
		y.Commit(nil, parts)
		y.Commit(bulkload.ErrNothing, parts)
	}
}

// TestCommitsRepeatWhatWasLeftOutOfAKnownName leaves out a file under a name that an earlier
// load had loaded with other bytes or without records.
func TestCommitsRepeatWhatWasLeftOutOfAKnownName(t *testing.T) {
	second := strings.ReplaceAll(bulkloadtest.Plays, "2014-09-01", "2014-09-02")
	for _, c := range []struct {
		name, was, is string
		want          error
	}{
		{"empty", "", bulkloadtest.Plays + ",,,\n,,,\n", bulkload.ErrTooBad},
		{"changed", bulkloadtest.Plays, bulkloadtest.Plays + "c,2014-09-01 12:00:00,one,1\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			y.SetJob(strings.Replace(bulkloadtest.TwoKinds, "50%", "1", 1))
			y.Write("2014-09-01/play.csv", c.was)
			y.Load(nil, "2014-09-01", "2014-09-01")
			y.Write("2014-09-01/play.csv", c.is)
			y.Write("2014-09-02/play.csv", second)
			parts := y.Plan(nil, 1<<20, "2014-09-01", "2014-09-02")
			y.DoAll(parts)
			for try := range 3 {
				r, err := pieces.Commit(t.Context(), y.Worker(local.New()), parts)
				if err == nil || errors.Is(err, bulkload.ErrNothing) || errors.Is(err, bulkload.ErrTooBad) != (c.want != nil) || len(r.Failed) != 1 {
					t.Errorf("commit %d: %v, %+v; want the file that was left out", try+1, err, r)
				}
			}
		})
	}
}

// TestAPlanLeavesOutAFolderThatIsALink has a link to nothing in the place of a folder, and a file whose name is not UTF-8. The plan has
// the other files. Each commit ends with the status of a load, until a load has loaded the files.
func TestAPlanLeavesOutAFolderThatIsALink(t *testing.T) {
	for what, want := range map[string]error{"folder": nil, "name": bulkload.ErrRequest} {
		y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
		y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
		second := strings.ReplaceAll(bulkloadtest.Plays, "2014-09-01", "2014-09-02")
		link := filepath.Join(y.Dir, "logs", "2014-09-02")
		if what == "folder" {
			if err := os.Symlink("/nowhere/at/all", link); err != nil {
				t.Fatal(err)
			}
		} else {
			y.Write("2014-09-02/play.\xb5.csv", second)
		}
		_, planned, err := pieces.Plan(t.Context(), y.Planning(1<<20, "2014-09-01", "2014-09-02"))
		if err != nil || planned.Pieces != 1 || planned.Files != 1 || len(planned.Failed) != 1 || !strings.Contains(planned.Failed[0].Error, "2014-09-02") {
			t.Fatalf("%s: planned %+v, %v; want a piece, and the refused name in failed", what, planned, err)
		}
		parts := y.Plan(nil, 1<<20, "2014-09-01", "2014-09-02")
		y.DoAll(parts)
		for try := range 2 {
			r, err := pieces.Commit(t.Context(), y.Worker(local.New()), parts)
			if err == nil || errors.Is(err, bulkload.ErrNothing) || errors.Is(err, bulkload.ErrRequest) != (want != nil) || len(r.Failed) != 1 || r.Failed[0] != planned.Failed[0] || r.Files != 1-try {
				t.Errorf("%s: commit %d: %+v, %v; want one file loaded the first time, and the failure of the plan", what, try+1, r, err)
			}
		}
		if what != "folder" {
			continue
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		y.Write("2014-09-02/play.csv", second)
		y.Load(nil, "2014-09-01", "2014-09-02")
		y.Commit(bulkload.ErrNothing, parts)
	}
}

// TestOldLedgersTellNothingOfWhatWasLeftOut reads one without left_out.
func TestOldLedgersTellNothingOfWhatWasLeftOut(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.SetJob(strings.Replace(bulkloadtest.TwoKinds, "50%", "1", 1))
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays+",,,\n,,,\n")
	y.Write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
	parts := y.Plan(nil, 1<<20, "2014-09-01", "2014-09-01")
	y.DoAll(parts)
	y.Commit(bulkload.ErrTooBad, parts)
	name := filepath.Join(y.Store.Dir, "loads", "000001.json")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var ledger map[string]any
	if err := json.Unmarshal(b, &ledger); err != nil || ledger["left_out"] == nil {
		t.Fatalf("the ledger has left_out %v, %v", ledger["left_out"], err)
	}
	old := y.Ledgers()[0]
	old.LeftOut = nil
	m := new(manifest.Table)
	err = errors.Join(manifest.Read(t.Context(), y.Store.FS, filepath.Join(y.Store.Dir, manifest.TableName), m), os.Remove(name))
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		manifest.WriteLedger(t.Context(), y.Store.FS, y.Store.Dir, &m.Loads[0], old),
		manifest.Write(t.Context(), y.Store.FS, filepath.Join(y.Store.Dir, manifest.TableName), m))
	if err != nil {
		t.Fatal(err)
	}
	y.Commit(bulkload.ErrNothing, parts)
}

// TestAPieceLeavesOutWhatCannotBeRead checks that a piece with an unreadable file does not
// fail, and that the commit names the file.
func TestAPieceLeavesOutWhatCannotBeRead(t *testing.T) {
	for _, size := range []int64{1 << 20, 40} { // whole, and in ranges
		y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
		y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
		y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "2014-09-01", "2014-09-02"))
		parts := y.Plan(nil, size, "2014-09-01", "2014-09-02")
		cfg := y.Worker(bulkloadtest.Spoilt{FS: local.New(), Name: "2014-09-02/play.csv", Err: fs.ErrPermission, Opens: 0, Reads: false, Opened: new(atomic.Int64)})
		cfg.Store = files.Store{FS: local.New(), Dir: y.Store.Dir}
		for i := range parts {
			if _, err := pieces.Run(t.Context(), cfg, &parts[i], 0); err != nil {
				t.Fatal(err)
			}
		}
		r, err := pieces.Commit(t.Context(), y.Worker(local.New()), parts)
		if err == nil || !strings.Contains(err.Error(), "2014-09-02/play.csv: it cannot be read: permission denied") || len(r.Failed) != 1 || r.Files != 1 {
			t.Errorf("pieces of %d bytes: %v, %+v", size, err, r)
		}
	}
}

// TestAnEmptyLogEndsNoPlan plans a log that was empty in an earlier load. Other loads keep this
// plan.
func TestAnEmptyLogEndsNoPlan(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", "user,time,title,seconds\n")
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Write("2014-09-02/play.csv", "user,time,title,seconds\n")
	y.Write("2014-09-03/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "2014-09-01", "2014-09-03"))
	parts := y.Plan(nil, 1<<20, "2014-09-01", "2014-09-01")
	other := y.Plan(nil, 1<<20, "2014-09-02", "2014-09-02")
	y.Load(nil, "2014-09-02", "2014-09-03")
	y.DoAll(parts)
	y.WantCounts(y.Commit(nil, parts), 2, 2, 0, 0, 0)
	y.Commit(pieces.ErrStale, other)
}
