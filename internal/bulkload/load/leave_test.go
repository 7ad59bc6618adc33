package load_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/files"
)

// A spoilt FS has one file that cannot be read: opening it fails after some opens, or
// reading it does.
type spoilt struct {
	dfs.FS
	name   string
	err    error
	opens  int64 // that succeed
	reads  bool  // those that succeed can be read
	opened *atomic.Int64
}

func (s spoilt) Open(ctx context.Context, name string) (dfs.File, error) {
	if !strings.HasSuffix(name, s.name) {
		return s.FS.Open(ctx, name)
	}
	if s.opened.Add(1) > s.opens {
		return nil, &fs.PathError{Op: "open", Path: name, Err: s.err}
	}
	f, err := s.FS.Open(ctx, name)
	if err == nil && !s.reads {
		f = unreadable{f, &fs.PathError{Op: "read", Path: name, Err: s.err}}
	}
	return f, err
}

type unreadable struct {
	dfs.File
	err error
}

func (u unreadable) Read([]byte) (int, error)          { return 0, u.err }
func (u unreadable) ReadAt([]byte, int64) (int, error) { return 0, u.err }

// TestAFileThatCannotBeReadFailsAlone has a file that cannot be opened, or read, or that goes
// between two looks. All others are loaded, and the next load brings it when it can be read.
func TestAFileThatCannotBeReadFailsAlone(t *testing.T) {
	for _, err := range []error{fs.ErrPermission, fs.ErrNotExist, syscall.EIO, syscall.ELOOP} {
		for _, c := range []struct {
			opens int64
			reads bool
		}{{0, false}, {1, true}, {2, true}, {100, false}} {
			t.Run(fmt.Sprintf("%v %d %t", err, c.opens, c.reads), func(t *testing.T) {
				y := newFixture(t, twoKinds)
				y.write("2014-09-01/play.csv", plays)
				y.write("2014-09-02/play.csv", strings.ReplaceAll(plays, "2014-09-01", "2014-09-02"))
				y.write("2014-09-03/order.csv", "user,time,price\na,2014-09-03 12:00:00,1.5\n")
				y.job.Table.Regions = 2
				cfg := y.config("2014-09-01", "2014-09-03")
				cfg.FS = spoilt{local.New(), "2014-09-02/play.csv", err, c.opens, c.reads, new(atomic.Int64)}
				r, failed := load.Run(t.Context(), cfg)
				if !errors.Is(failed, err) || !strings.Contains(failed.Error(), "2014-09-02/play.csv: it cannot be read: ") || !strings.Contains(failed.Error(), "load again") {
					t.Fatalf("%v, want %v of the file, and what to do", failed, err)
				}
				y.wantCounts(r, 3, 3, 0, 0, 0)
				if len(r.Failed) != 1 || r.Files != 2 || *r.Days != (bulkload.DayCounts{Loaded: 2, Failed: 1}) {
					t.Errorf("%+v, days %+v; want one file and its day to have failed", r, r.Days)
				}
				again := y.load(nil, "2014-09-01", "2014-09-03")
				y.wantCounts(again, 2, 2, 0, 0, 0)
			})
		}
	}
}

// TestAnErrorOfServersEndsTheLoad: what keeps one file from being read keeps others, too.
func TestAnErrorOfServersEndsTheLoad(t *testing.T) {
	for _, opens := range []int64{0, 1, 100} {
		y := newFixture(t, twoKinds)
		y.write("2014-09-01/play.csv", plays)
		y.write("2014-09-02/play.csv", strings.ReplaceAll(plays, "2014-09-01", "2014-09-02"))
		cfg := y.config("2014-09-01", "2014-09-02")
		cfg.FS = spoilt{local.New(), "2014-09-02/play.csv", dfs.ErrUnavailable, opens, opens == 1, new(atomic.Int64)}
		if r, err := load.Run(t.Context(), cfg); !errors.Is(err, dfs.ErrUnavailable) || r.Files != 0 {
			t.Errorf("after %d opens: %d files, %v; want none, and what the servers say", opens, r.Files, err)
		}
	}
}

// TestCommitsRepeatWhatWasLeftOut: a commit says of a file that was left out the same each
// time, until a load brings it. A ledger that tells nothing of such files was made before
// ledgers did.
func TestCommitsRepeatWhatWasLeftOut(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(strings.Replace(twoKinds, "50%", "1", 1))
	y.write("2014-09-01/play.csv.gz", zipped(t, plays)[:40])
	y.write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
	y.write("2014-09-02/play.csv", plays+",,,\n,,,\n")
	third := strings.ReplaceAll(plays, "2014-09-01", "2014-09-03")
	y.write("2014-09-03/play.csv", third)
	if err := os.Symlink("nowhere", filepath.Join(y.dir, "logs/2014-09-03/order.csv")); err != nil {
		t.Fatal(err)
	}
	parts := y.plan(nil, 1<<20, "2014-09-01", "2014-09-03")
	y.write("2014-09-03/play.csv", third+"c,2014-09-03 12:00:00,one,1\n") // after it was planned
	y.doAll(parts)
	first := y.commit(bulkload.ErrTooBad, parts)
	if len(first.Failed) != 4 || first.Files != 1 {
		t.Fatalf("%+v, want four files left out, and one loaded", first)
	}
	if again := y.commit(bulkload.ErrTooBad, parts); len(again.Failed) != 4 || again.Files != 0 {
		t.Errorf("again: %+v, want the same four", again)
	}

	y.write("2014-09-02/play.csv", strings.ReplaceAll(plays, "2014-09-01", "2014-09-02"))
	y.load(nil, "2014-09-02", "2014-09-02")
	r, err := pieces.Commit(t.Context(), y.worker(local.New()), parts)
	if err == nil || errors.Is(err, bulkload.ErrTooBad) || errors.Is(err, bulkload.ErrNothing) || len(r.Failed) != 3 {
		t.Errorf("one was loaded since: %v, %+v; want the other three", err, r.Failed)
	}
	if err := os.Remove(filepath.Join(y.dir, "logs/2014-09-03/order.csv")); err != nil {
		t.Fatal(err)
	}
	y.write("2014-09-03/order.csv", "user,time,price\nc,2014-09-03 12:00:00,1.5\n")
	y.write("2014-09-01/play.csv.gz", zipped(t, plays))
	y.load(nil, "2014-09-01", "2014-09-03")
	y.commit(bulkload.ErrNothing, parts)
}

// TestCommitsRepeatWhatWasLeftOutOfAKnownName: an earlier load had a file of the name of one
// that is left out, with other records or without any.
func TestCommitsRepeatWhatWasLeftOutOfAKnownName(t *testing.T) {
	second := strings.ReplaceAll(plays, "2014-09-01", "2014-09-02")
	for _, c := range []struct {
		name, was, is string
		want          error
	}{
		{"hollow", "", plays + ",,,\n,,,\n", bulkload.ErrTooBad},
		{"changed", plays, plays + "c,2014-09-01 12:00:00,one,1\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			y := newFixture(t, twoKinds)
			y.jobIs(strings.Replace(twoKinds, "50%", "1", 1))
			y.write("2014-09-01/play.csv", c.was)
			y.load(nil, "2014-09-01", "2014-09-01")
			y.write("2014-09-01/play.csv", c.is)
			y.write("2014-09-02/play.csv", second)
			parts := y.plan(nil, 1<<20, "2014-09-01", "2014-09-02")
			y.doAll(parts)
			for try := range 3 {
				r, err := pieces.Commit(t.Context(), y.worker(local.New()), parts)
				if err == nil || errors.Is(err, bulkload.ErrNothing) || errors.Is(err, bulkload.ErrTooBad) != (c.want != nil) || len(r.Failed) != 1 {
					t.Errorf("commit %d: %v, %+v; want the file that was left out", try+1, err, r)
				}
			}
		})
	}
}

// TestOldLedgersTellNothingOfWhatWasLeftOut reads one without left_out.
func TestOldLedgersTellNothingOfWhatWasLeftOut(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(strings.Replace(twoKinds, "50%", "1", 1))
	y.write("2014-09-01/play.csv", plays+",,,\n,,,\n")
	y.write("2014-09-01/order.csv", "user,time,price\na,2014-09-01 12:00:00,1.5\n")
	parts := y.plan(nil, 1<<20, "2014-09-01", "2014-09-01")
	y.doAll(parts)
	y.commit(bulkload.ErrTooBad, parts)
	name := filepath.Join(y.store.Dir, "loads", "000001.json")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var ledger map[string]any
	if err := json.Unmarshal(b, &ledger); err != nil || ledger["left_out"] == nil {
		t.Fatalf("the ledger has left_out %v, %v", ledger["left_out"], err)
	}
	old := y.ledgers()[0]
	old.LeftOut = nil
	m := new(manifest.Table)
	err = errors.Join(manifest.Read(t.Context(), y.store.FS, filepath.Join(y.store.Dir, manifest.TableName), m), os.Remove(name))
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		manifest.WriteLedger(t.Context(), y.store.FS, y.store.Dir, &m.Loads[0], old),
		manifest.Write(t.Context(), y.store.FS, filepath.Join(y.store.Dir, manifest.TableName), m))
	if err != nil {
		t.Fatal(err)
	}
	y.commit(bulkload.ErrNothing, parts)
}

// TestAPieceLeavesOutWhatCannotBeRead: it does not fail, and its commit says which file.
func TestAPieceLeavesOutWhatCannotBeRead(t *testing.T) {
	for _, size := range []int64{1 << 20, 40} { // whole, and in ranges
		y := newFixture(t, twoKinds)
		y.jobIs(twoKinds)
		y.write("2014-09-01/play.csv", plays)
		y.write("2014-09-02/play.csv", strings.ReplaceAll(plays, "2014-09-01", "2014-09-02"))
		parts := y.plan(nil, size, "2014-09-01", "2014-09-02")
		cfg := y.worker(spoilt{local.New(), "2014-09-02/play.csv", fs.ErrPermission, 0, false, new(atomic.Int64)})
		cfg.Store = files.Store{FS: local.New(), Dir: y.store.Dir}
		for i := range parts {
			if _, err := pieces.Run(t.Context(), cfg, &parts[i], 0); err != nil {
				t.Fatal(err)
			}
		}
		r, err := pieces.Commit(t.Context(), y.worker(local.New()), parts)
		if err == nil || !strings.Contains(err.Error(), "2014-09-02/play.csv: it cannot be read: permission denied") || len(r.Failed) != 1 || r.Files != 1 {
			t.Errorf("pieces of %d bytes: %v, %+v", size, err, r)
		}
	}
}
