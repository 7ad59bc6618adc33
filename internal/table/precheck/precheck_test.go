package precheck_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/precheck"
)

func TestEveryCheckIsListedOnceAndInOrder(t *testing.T) {
	var l precheck.List
	l.OK(precheck.DiskForTemp, "enough")
	l.Warn(precheck.Clock, "set it", "slow by %d", 7)
	l.Fail(precheck.TableThere, table.ErrUnfit, "make it")
	all := precheck.Complete(l, "nobody knows")
	var names []precheck.Name
	for _, c := range all {
		names = append(names, c.Name)
		want := precheck.Skipped
		switch c.Name {
		case precheck.DiskForTemp:
			want = precheck.OK
		case precheck.Clock:
			want = precheck.Warn
		case precheck.TableThere:
			want = precheck.Fail
		default:
			if c.Detail != "nobody knows" {
				t.Errorf("%s was skipped for %q", c.Name, c.Detail)
			}
		}
		if c.State != want || (c.Err != nil) != (want == precheck.Fail) {
			t.Errorf("%s is %s with the error %v, want %s", c.Name, c.State, c.Err, want)
		}
	}
	if !slices.Equal(names, precheck.Names) || len(names) != 16 {
		t.Errorf("listed are %q", names)
	}
	if n := precheck.Count(all, precheck.Skipped); n != 13 {
		t.Errorf("%d are skipped, want 13", n)
	}
}

func TestFailureKeepsEveryCause(t *testing.T) {
	var l precheck.List
	l.OK(precheck.InputThere, "there")
	l.Warn(precheck.Clock, "", "slow")
	if err := precheck.Failure(l); err != nil {
		t.Errorf("warnings alone fail: %v", err)
	}
	l.Fail(precheck.TableThere, table.ErrUnfit, "make it")
	l.Fail(precheck.UnfinishedRun, dfs.ErrLocked, "")
	err := precheck.Failure(l)
	if !errors.Is(err, table.ErrUnfit) || !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("%v lost a cause", err)
	}
	if want := "pre-check table-there: the table is not suitable; make it\npre-check unfinished-run: locked by another run"; err.Error() != want {
		t.Errorf("it says %q, want %q", err, want)
	}
}

// A surveyed file system returns the results that it was given.
type surveyed struct {
	dfs.FS
	room  dfs.Room
	ahead time.Duration
	err   error
}

func (s surveyed) Room(context.Context, string) (dfs.Room, error) { return s.room, s.err }
func (s surveyed) Try(context.Context, string) (time.Time, error) {
	return time.Now().Add(s.ahead), s.err
}
func (s surveyed) Held(context.Context, string) (bool, string, error) { return false, "", s.err }

// plain is a file system without the optional interfaces.
type plain struct{ dfs.FS }

func TestRoomIsComparedWithTheNeed(t *testing.T) {
	for what, x := range map[string]struct {
		fs    dfs.FS
		want  precheck.State
		says  string
		cause error
	}{
		"plenty":          {surveyed{room: dfs.Room{Bytes: 200 << 20, Limit: "free space"}}, precheck.OK, "has room for 200 MiB (free space), about 100 MiB needed", nil},
		"scarce":          {surveyed{room: dfs.Room{Bytes: 150 << 20, Limit: "the quota of /a"}}, precheck.Warn, "the quota of /a", nil},
		"too little":      {surveyed{room: dfs.Room{Bytes: 49 << 20}}, precheck.Fail, "too little space", precheck.ErrNoRoom},
		"out of reach":    {surveyed{err: dfs.ErrUnavailable}, precheck.Fail, "cannot be reached", dfs.ErrUnavailable},
		"nobody can tell": {plain{}, precheck.Skipped, "unsupported", nil},
	} {
		var l precheck.List
		l.Room(t.Context(), x.fs, precheck.StagingRoom, "dir", 100<<20)
		if len(l) != 1 || l[0].State != x.want || !strings.Contains(l[0].Detail, x.says) || !errors.Is(l[0].Err, x.cause) {
			t.Errorf("%s: %+v, want %s that says %q", what, l, x.want, x.says)
		}
	}
	var l precheck.List
	l.Room(t.Context(), surveyed{}, precheck.StagingRoom, "dir", 0)
	if l[0].State != precheck.Fail {
		t.Errorf("no room for nothing: %+v", l)
	}
}

func TestDemandsAreMetOrRefused(t *testing.T) {
	for what, x := range map[string]struct {
		fs    dfs.FS
		cause error
	}{
		"just enough":     {surveyed{room: dfs.Room{Bytes: 100 << 20}}, nil},
		"too little":      {surveyed{room: dfs.Room{Bytes: 100<<20 - 1, Limit: "the quota of /a"}}, precheck.ErrNoRoom},
		"out of reach":    {surveyed{err: dfs.ErrUnavailable}, dfs.ErrUnavailable},
		"nobody can tell": {plain{}, nil},
	} {
		if err := precheck.Demand(t.Context(), x.fs, "dir", 100<<20, "make room"); !errors.Is(err, x.cause) {
			t.Errorf("%s: %v, want %v", what, err, x.cause)
		}
	}
	err := precheck.Demand(t.Context(), surveyed{room: dfs.Room{Bytes: 1 << 20, Limit: "free space"}}, "dir", 2<<20, "make room")
	if want := "too little space: dir has room for 1.0 MiB (free space), about 2.0 MiB needed: make room"; err == nil || err.Error() != want {
		t.Errorf("it says %v, want %s", err, want)
	}
}

func TestClocksMayDifferByAMinute(t *testing.T) {
	for ahead, want := range map[time.Duration]struct {
		state precheck.State
		says  string
	}{
		100 * time.Millisecond: {precheck.OK, "agree"},
		-30 * time.Second:      {precheck.OK, "30s behind"},
		2 * time.Minute:        {precheck.Warn, "2m0s ahead of"},
		-time.Hour:             {precheck.Warn, "1h0m0s behind"},
	} {
		got, err := precheck.Try(t.Context(), surveyed{ahead: ahead}, "dir")
		if err != nil {
			t.Fatal(err)
		}
		var l precheck.List
		l.Clock("nn", got)
		if l[0].State != want.state || !strings.Contains(l[0].Detail, want.says) {
			t.Errorf("%s: %+v, want %s that says %q", ahead, l, want.state, want.says)
		}
	}
}

func TestTryTellsWhoMayNotFromWhatIsBroken(t *testing.T) {
	if _, err := precheck.Try(t.Context(), surveyed{err: fs.ErrPermission}, "dir"); !errors.Is(err, table.ErrUnfit) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("without the right: %v, want ErrUnfit", err)
	}
	if _, err := precheck.Try(t.Context(), surveyed{err: dfs.ErrUnavailable}, "dir"); errors.Is(err, table.ErrUnfit) || !errors.Is(err, dfs.ErrUnavailable) {
		t.Errorf("out of reach: %v", err)
	}
	if _, err := precheck.Try(t.Context(), local.New(), t.TempDir()); err != nil {
		t.Errorf("a directory of one's own: %v", err)
	}
}
