package load_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
)

// TestAFileThatCannotBeReadFailsAlone has a file that cannot be opened, or read, or that goes
// between two looks. All others are loaded, and the next load loads it when it can be read.
func TestAFileThatCannotBeReadFailsAlone(t *testing.T) {
	for _, err := range []error{fs.ErrPermission, fs.ErrNotExist, syscall.EIO, syscall.ELOOP} {
		for _, c := range []struct {
			opens int64
			reads bool
		}{{0, false}, {1, true}, {2, true}, {100, false}} {
			t.Run(fmt.Sprintf("%v %d %t", err, c.opens, c.reads), func(t *testing.T) {
				y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
				y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
				y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "2014-09-01", "2014-09-02"))
				y.Write("2014-09-03/order.csv", "user,time,price\na,2014-09-03 12:00:00,1.5\n")
				y.Job.Table.Regions = 2
				cfg := y.Config("2014-09-01", "2014-09-03")
				cfg.FS = bulkloadtest.Spoilt{FS: local.New(), Name: "2014-09-02/play.csv", Err: err, Opens: c.opens, Reads: c.reads, Opened: new(atomic.Int64)}
				r, failed := load.Run(t.Context(), cfg)
				if !errors.Is(failed, err) || !strings.Contains(failed.Error(), "2014-09-02/play.csv: it cannot be read: ") || !strings.Contains(failed.Error(), "load again") {
					t.Fatalf("%v, want %v of the file, and what to do", failed, err)
				}
				y.WantCounts(r, 3, 3, 0, 0, 0)
				if len(r.Failed) != 1 || r.Files != 2 || *r.Days != (bulkload.DayCounts{Loaded: 2, Failed: 1}) {
					t.Errorf("%+v, days %+v; want one file and its day to have failed", r, r.Days)
				}
				again := y.Load(nil, "2014-09-01", "2014-09-03")
				y.WantCounts(again, 2, 2, 0, 0, 0)
			})
		}
	}
}

// TestAnErrorOfServersEndsTheLoad checks that an error of the servers is not treated as an
// error of one file.
func TestAnErrorOfServersEndsTheLoad(t *testing.T) {
	for _, opens := range []int64{0, 1, 100} {
		y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
		y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
		y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "2014-09-01", "2014-09-02"))
		cfg := y.Config("2014-09-01", "2014-09-02")
		cfg.FS = bulkloadtest.Spoilt{FS: local.New(), Name: "2014-09-02/play.csv", Err: dfs.ErrUnavailable, Opens: opens, Reads: opens == 1, Opened: new(atomic.Int64)}
		if r, err := load.Run(t.Context(), cfg); !errors.Is(err, dfs.ErrUnavailable) || r.Files != 0 {
			t.Errorf("after %d opens: %d files, %v; want none, and the error of the servers", opens, r.Files, err)
		}
	}
}
