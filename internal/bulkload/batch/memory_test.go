package batch_test

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
)

// spills counts the sorted runs of rows that are larger than the memory.
type spills struct {
	dfs.FS
	rows atomic.Int64
}

func (s *spills) Scratch(ctx context.Context, name string) (dfs.Pending, error) {
	if strings.Contains(name, "/rows-") {
		s.rows.Add(1)
	}
	return s.FS.Scratch(ctx, name)
}

// TestARowLargerThanTheMemory loads a user whose plays of a day are one row in most layouts,
// in little memory and in much: the tables are the same.
func TestARowLargerThanTheMemory(t *testing.T) {
	for _, layout := range []string{"reversed", "wide", "hashed", "tall"} {
		var want map[string]string
		for _, memory := range []int64{256 << 20, 64 << 10} {
			y := bulkloadtest.New(t, strings.Replace(bulkloadtest.TwoKinds, "user: user", "user: user\nlayout: "+layout, 1))
			y.Write("2014-09-01/play.csv", bulkloadtest.Busy(4000))
			c := y.Config("2014-09-01", "2014-09-01")
			s := &spills{FS: c.FS}
			c.FS, c.Memory, c.Workers = s, memory, 1
			r, err := load.Run(t.Context(), c)
			if err != nil || r.Loaded != 4002 {
				t.Fatalf("%s in %d bytes: %d records are loaded, %v", layout, memory, r.Loaded, err)
			}
			got := dfstest.Snapshot(t, y.Store.FS, y.Store.Dir)
			maps.DeleteFunc(got, func(name, _ string) bool {
				return !strings.HasSuffix(name, ".hfile") && !strings.HasSuffix(name, ".roll")
			})
			if want == nil {
				want = got
				continue
			}
			if len(got) < 2 || !maps.Equal(got, want) {
				t.Errorf("%s: the %d files of a load in little memory differ from the files of a load in much memory", layout, len(got))
			}
			if n := s.rows.Load(); (n == 0) != (layout == "tall") {
				t.Errorf("%s: %d runs of large rows were spilled", layout, n)
			}
		}
	}
}

// TestTooManyRecordsToCompare loads a user with more records than can be compared by their
// key fields: the error names the user, and nothing is loaded.
func TestTooManyRecordsToCompare(t *testing.T) {
	y := bulkloadtest.New(t, strings.Replace(bulkloadtest.TwoKinds, "{id: 1, fields", "{id: 1, unique: [title], fields", 1))
	y.Write("2014-09-01/play.csv", bulkloadtest.Busy(4000))
	c := y.Config("2014-09-01", "2014-09-01")
	c.Memory, c.Workers = 64<<10, 1
	_, err := load.Run(t.Context(), c)
	if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), `user "b"`) || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("%v, want an error that names the user and --memory", err)
	}
	_, said, _ := strings.Cut(err.Error(), "raise it to ")
	said, _, _ = strings.Cut(said, "MiB")
	enough, parsed := strconv.ParseInt(said, 10, 64)
	if parsed != nil || !strings.Contains(err.Error(), "4000 records") {
		t.Fatalf("%v, want an error that says how many records and how much memory", err)
	}
	c.Memory = enough << 20
	if r, err := load.Run(t.Context(), c); err != nil || r.Loaded != 52 || r.Duplicate != 3950 {
		t.Errorf("with more memory %+v, %v; want 52 loaded and 3950 duplicate", r.Counts, err)
	}
}
