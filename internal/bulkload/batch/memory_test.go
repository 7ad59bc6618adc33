package batch_test

import (
	"context"
	"errors"
	"fmt"
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

// A longIDs is a load of users with IDs of 200 bytes and one play each, by one worker, into a table whose rows are
// not in the order of the users. heap measures it.
type longIDs struct {
	*bulkloadtest.Fixture
	cfg  load.Config
	heap *dfstest.Heap
}

func newLongIDs(t *testing.T, users, regions int, memory int64) *longIDs {
	t.Helper()
	y := bulkloadtest.New(t, strings.Replace(bulkloadtest.LaidOut("hashed"), "behaviours:", fmt.Sprintf("table: {path: trails, regions: %d}\nbehaviours:", regions), 1))
	var text strings.Builder
	text.WriteString("user,time,title,seconds\n")
	for i := range users {
		fmt.Fprintf(&text, "%0200d,2014-09-01 10:00:00,one,1\n", i)
	}
	y.Write("2014-09-01/play.csv", text.String())
	c := y.Config("2014-09-01", "2014-09-01")
	heap := dfstest.NewHeap(c.FS)
	store := y.Store
	store.FS = heap
	c.FS, c.Store, c.Memory, c.Workers = heap, store, memory, 1
	return &longIDs{y, c, heap}
}

// TestUsersOfARollAreSortedInLittleMemory loads many users. Each writer sorts 6 MB of user keys for its roll. It does
// so with little and with much memory. The heap must stay small, and the files must be equal.
func TestUsersOfARollAreSortedInLittleMemory(t *testing.T) {
	const users, memory, besides = 60_000, 4 << 20, 6 << 20
	var want map[string]string
	for _, given := range []int64{256 << 20, memory} {
		y := newLongIDs(t, users, 2, given)
		if r, err := load.Run(t.Context(), y.cfg); err != nil || r.Loaded != users {
			t.Fatalf("in %d bytes: %d records are loaded, %v", given, r.Loaded, err)
		}
		if n := y.heap.Grown(); given == memory && n > memory+besides {
			t.Errorf("the heap has %d MiB more than before, in %d MiB of memory", n>>20, memory>>20)
		}
		got := dfstest.Snapshot(t, y.Store.FS, y.Store.Dir)
		maps.DeleteFunc(got, func(name, _ string) bool {
			return !strings.HasSuffix(name, ".hfile") && !strings.HasSuffix(name, ".roll")
		})
		if want != nil && (len(got) != 4 || !maps.Equal(got, want)) {
			t.Errorf("the %d files of a load in little memory differ from the files of a load in much memory", len(got))
		}
		want = got
	}
}

// TestFinishedRegionsAreNotHeld loads into many regions. The buffers of a region whose files are complete are given
// back, so the heap does not grow with the regions.
func TestFinishedRegionsAreNotHeld(t *testing.T) {
	const regions, memory, besides = 64, 4 << 20, 16 << 20
	y := newLongIDs(t, 600*regions, regions, memory)
	if r, err := load.Run(t.Context(), y.cfg); err != nil || r.HFiles != regions {
		t.Fatalf("%+v, %v; want an HFile for each of %d regions", r, err, regions)
	}
	if n := y.heap.Grown(); n > memory+besides {
		t.Errorf("the heap has %d MiB more than before, in %d MiB of memory", n>>20, memory>>20)
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
