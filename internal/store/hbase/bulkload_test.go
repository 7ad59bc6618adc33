package hbase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/store/hbase/wire"
)

// A loader has a table t of two regions, and everything that is needed to load a file into
// its first region.
type loader struct {
	t     *testing.T
	f     *hbasetest.Cluster
	c     *Client
	token string
	first Region
}

const lowFile, highFile = "/out/f/low", "/out/f/high"

func newLoader(t *testing.T, cfg hbasetest.Config, changes ...func(*Config)) *loader {
	t.Helper()
	f := fake(t, cfg)
	f.CreateTable("t", []string{"f"}, []byte("m"))
	f.AddFile(lowFile, put("a", "q", "1"), put("b", "q", "2"))
	f.AddFile(highFile, put("x", "q", "3"))
	l := &loader{t: t, f: f, c: dial(t, f, changes...)}
	var err error
	if l.token, err = l.c.PrepareBulkLoad(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	l.first = l.regions()[0]
	return l
}

func (l *loader) regions() []Region {
	l.t.Helper()
	all, err := l.c.Regions(l.t.Context(), "t")
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}

func files(paths ...string) []wire.FamilyPath {
	var all []wire.FamilyPath
	for _, p := range paths {
		all = append(all, wire.FamilyPath{Family: []byte("f"), Path: p})
	}
	return all
}

// load loads the file of the first region.
func (l *loader) load(ctx context.Context) (bool, error) {
	return l.c.BulkLoad(ctx, "t", l.first, files(lowFile), l.token, nil)
}

// calls returns the number of calls that handed files to a region.
func (l *loader) calls() int { return l.f.Counts().Calls["BulkLoadHFile"] }

func TestABulkLoadTakesAllFilesOrNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoader(t, hbasetest.Config{Servers: 2})
		for what, wrong := range map[string][]wire.FamilyPath{
			"a row of another region": files(lowFile, highFile),
			"no such file":            files(lowFile, "/out/f/none"),
			"no such family":          append(files(lowFile), wire.FamilyPath{Family: []byte("g"), Path: highFile}),
		} {
			if loaded, err := l.c.BulkLoad(t.Context(), "t", l.first, wrong, l.token, nil); loaded || err != nil {
				t.Errorf("%s: loaded %v, %v; want not loaded and no error", what, loaded, err)
			}
			if !l.f.HasFile(lowFile) || len(l.f.Cells("t")) > 0 {
				t.Fatalf("%s: a part was loaded", what)
			}
		}
		if loaded, err := l.load(t.Context()); !loaded || err != nil {
			t.Fatalf("loaded %v, %v", loaded, err)
		}
		if loaded, err := l.c.BulkLoad(t.Context(), "t", l.regions()[1], files(highFile), l.token, nil); !loaded || err != nil {
			t.Fatalf("loaded into the second region %v, %v", loaded, err)
		}
		var got []string
		for _, x := range l.f.Cells("t") {
			got = append(got, fmt.Sprintf("%s=%s", x.Row, x.Value))
		}
		if want := []string{"a=1", "b=2", "x=3"}; !slices.Equal(got, want) {
			t.Errorf("the table has %q, want %q", got, want)
		}
		if !slices.Equal(l.f.Staging(), []string{l.token}) {
			t.Errorf("staging directories %q, want the one of token %s", l.f.Staging(), l.token)
		}
		for range 2 {
			if err := l.c.CleanupBulkLoad(t.Context(), "t", l.token); err != nil {
				t.Fatal(err)
			}
		}
		if left := l.f.Staging(); len(left) > 0 {
			t.Errorf("after cleaning up there is %q", left)
		}
	})
}

func TestABulkLoadThatMayHaveBeenDoneIsNotRepeated(t *testing.T) {
	for name, tt := range map[string]struct {
		fault hbasetest.Fault
		done  bool
	}{
		"response lost":     {hbasetest.Fault{Drop: true}, true},
		"not executed":      {hbasetest.Fault{Skip: true}, false},
		"connection lost":   {hbasetest.Fault{Close: true}, true},
		"response cut":      {hbasetest.Fault{Cut: 6}, true},
		"unknown exception": {hbasetest.Fault{Exception: &wire.ServerError{Class: "java.io.IOException", Message: "on purpose"}}, false},
		"from deep inside":  {hbasetest.Fault{Exception: &wire.ServerError{Class: "java.io.IOException", Message: "log is closed"}}, false},
	} {
		bubble(t, name, func(t *testing.T) {
			l := newLoader(t, hbasetest.Config{}, func(cfg *Config) { cfg.CallTimeout, cfg.BulkTimeout = 300*time.Millisecond, 500*time.Millisecond })
			l.f.SetHooks(once("BulkLoadHFile", 1, tt.fault))
			loaded, err := l.load(t.Context())
			if loaded || !errors.Is(err, ErrUncertain) || errors.Is(err, ErrUnavailable) {
				t.Errorf("loaded %v, %v; want ErrUncertain and no more", loaded, err)
			}
			if !strings.Contains(fmt.Sprint(err), "table t, region t,,") {
				t.Errorf("%v; want table and region named", err)
			}
			if n := l.calls(); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
			if l.f.HasFile(lowFile) == tt.done {
				t.Errorf("the file is there %v", !tt.done)
			}
		})
	}
}

func TestABulkLoadThatIsLeftIsUncertain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoader(t, hbasetest.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		l.f.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
			if c.Method == "BulkLoadHFile" {
				cancel()
				return hbasetest.Fault{Drop: true}
			}
			return hbasetest.Fault{}
		}})
		if _, err := l.load(ctx); !errors.Is(err, ErrUncertain) || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled on the way: %v", err)
		}
		if _, err := l.load(ctx); errors.Is(err, ErrUncertain) || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before: %v", err)
		}
		if n := l.calls(); n != 1 {
			t.Errorf("the call was sent %d times", n)
		}
	})
}

// TestABulkLoadTakesItsTimeButNotOnAFrozenServer checks that the client waits for a server
// that is busy for longer than CallTimeout, and does not wait for a server that sends
// nothing.
func TestABulkLoadTakesItsTimeButNotOnAFrozenServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoader(t, hbasetest.Config{}, func(cfg *Config) { cfg.CallTimeout = 400 * time.Millisecond })
		l.f.SetHooks(once("BulkLoadHFile", 1, hbasetest.Fault{Delay: 1500 * time.Millisecond}))
		if loaded, err := l.load(t.Context()); !loaded || err != nil {
			t.Errorf("a slow one: loaded %v, %v", loaded, err)
		}
		l.f.Freeze(0)
		defer l.f.Thaw(0)
		began := time.Now()
		if _, err := l.load(t.Context()); !errors.Is(err, ErrUncertain) {
			t.Errorf("on a frozen server: %v", err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("a frozen server held it for %s", took)
		}
	})
}

func TestABulkLoadThatWasNotBegunIsTriedAgain(t *testing.T) {
	for _, class := range []string{
		"CallQueueTooBigException", "CallDroppedException", "exceptions.RegionOpeningException", "RegionTooBusyException",
		"regionserver.RegionServerStoppedException", "ipc.ServerNotRunningYetException", "NotServingRegionException",
	} {
		bubble(t, class, func(t *testing.T) {
			l := newLoader(t, hbasetest.Config{})
			l.f.SetHooks(once("BulkLoadHFile", 1, hbasetest.Fault{Exception: exception(class)}))
			if loaded, err := l.load(t.Context()); !loaded || err != nil {
				t.Errorf("loaded %v, %v", loaded, err)
			}
			if n := l.calls(); n != 2 {
				t.Errorf("the call was sent %d times, want 2", n)
			}
		})
	}
}

func TestABulkLoadFollowsItsRegion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, sayMoved := range []bool{false, true} {
			l := newLoader(t, hbasetest.Config{Servers: 3, SayMoved: sayMoved})
			l.f.Move("t", []byte("a"), 2)
			if loaded, err := l.load(t.Context()); !loaded || err != nil {
				t.Errorf("SayMoved=%v: loaded %v, %v", sayMoved, loaded, err)
			}
		}
		l := newLoader(t, hbasetest.Config{Servers: 3})
		l.f.Move("t", []byte("a"), 1)
		l.first = l.regions()[0]
		l.f.Kill(1)
		time.AfterFunc(300*time.Millisecond, func() { l.f.Reassign(1, 2) })
		if loaded, err := l.load(t.Context()); !loaded || err != nil {
			t.Errorf("after its server was killed: loaded %v, %v", loaded, err)
		}
	})
}

func TestABulkLoadOfARegionThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoader(t, hbasetest.Config{Servers: 2})
		l.f.Split("t", []byte("b"))
		if loaded, err := l.load(t.Context()); loaded || !errors.Is(err, ErrRegionGone) {
			t.Errorf("after a split: loaded %v, %v", loaded, err)
		}
		l.first = l.regions()[0]
		if loaded, err := l.load(t.Context()); loaded || err != nil {
			t.Errorf("of a file for both daughters: loaded %v, %v", loaded, err)
		}
		l.f.Merge("t", []byte("a"))
		if loaded, err := l.load(t.Context()); loaded || !errors.Is(err, ErrRegionGone) {
			t.Errorf("after a merge: loaded %v, %v", loaded, err)
		}
		l.first = l.regions()[0]
		if loaded, err := l.load(t.Context()); !loaded || err != nil {
			t.Errorf("into the merged region: loaded %v, %v", loaded, err)
		}
	})
}

func TestABulkLoadThatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoader(t, hbasetest.Config{})
		l.f.SetHooks(always("BulkLoadHFile", hbasetest.Fault{Exception: exception("security.AccessDeniedException")}))
		if _, err := l.load(t.Context()); !errors.Is(err, ErrPermission) || errors.Is(err, ErrUncertain) {
			t.Errorf("without permission: %v", err)
		}
		if n := l.calls(); n != 1+maxAsks {
			t.Errorf("the call was sent %d times", n)
		}
		l.f.SetHooks(hbasetest.Hooks{})
		if err := l.c.Disable(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		if _, err := l.load(t.Context()); !errors.Is(err, ErrDisabled) {
			t.Errorf("into a disabled table: %v", err)
		}
		if _, err := l.c.PrepareBulkLoad(t.Context(), "absent"); !errors.Is(err, ErrNoTable) {
			t.Errorf("prepared for a missing table: %v", err)
		}
		if _, err := l.c.BulkLoad(t.Context(), "t", l.first, nil, l.token, nil); err == nil {
			t.Error("a load of no files was taken")
		}
	})
}

// TestOnlyAStagingDirectoryIsDeleted protects other directories, because the server deletes
// any path.
func TestOnlyAStagingDirectoryIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoader(t, hbasetest.Config{})
		random := strings.Repeat("0a", 30)
		for _, token := range []string{
			"", "/", "hdfs://n:8020", "hdfs://n:8020/", "hdfs://n:8020/hbase", "hdfs://n:8020/hbase/staging", "hdfs://n:8020/hbase/staging/",
			"hdfs://n:8020/hbase/data/ann__t__" + random,
			"hdfs://n:8020/staging/ann__t__" + random,
			"hdfs://n:8020/hbase/staging/ann__t__" + random + "/",
			"hdfs://n:8020/hbase/staging/ann__t__" + random + "/f",
			"hdfs://n:8020/hbase/staging/../staging/ann__t__" + random,
			"hdfs://n:8020/hbase/staging//ann__t__" + random,
			"hdfs://n:8020/hbase/staging/__t__" + random,
			"hdfs://n:8020/hbase/staging/ann__u__" + random,
			"hdfs://n:8020/hbase/staging/ann__t__" + random[:20],
			"hdfs://n:8020/hbase/staging/ann__t__" + strings.ToUpper(random),
			"hdfs://n:8020/hbase/staging/ann__t",
			"hbase/staging/ann__t__" + random,
		} {
			if err := l.c.CleanupBulkLoad(t.Context(), "t", token); err == nil {
				t.Errorf("%q was deleted", token)
			}
			if _, err := l.c.BulkLoad(t.Context(), "t", l.first, files(lowFile), token, nil); err == nil {
				t.Errorf("%q was loaded through", token)
			}
		}
		if n := l.f.Counts().Calls["CleanupBulkLoad"] + l.calls(); n != 0 {
			t.Errorf("%d calls were sent", n)
		}
		for _, token := range []string{l.token, "hdfs://n:8020/hbase/staging/ann__t__" + random, "/a/b/staging/o_o__t__" + random} {
			if err := l.c.CleanupBulkLoad(t.Context(), "t", token); err != nil {
				t.Errorf("%q: %v", token, err)
			}
		}
		if err := checkToken("hdfs://n/hbase/staging/ann__space_t__"+random, "space:t"); err != nil {
			t.Error(err)
		}
		if err := checkToken("hdfs://n/hbase/staging/ann__t__"+random, "default:t"); err != nil {
			t.Error(err)
		}
	})
}

func TestBulkTimeoutIsNoShorterThanACall(t *testing.T) {
	for _, tt := range []struct{ call, bulk, want time.Duration }{
		{0, 0, 10 * time.Minute},
		{0, time.Hour, time.Hour},
		{20 * time.Minute, 0, 20 * time.Minute},
		{20 * time.Minute, time.Minute, 20 * time.Minute},
	} {
		cfg, err := Config{Masters: []string{"m:1"}, User: "ann", CallTimeout: tt.call, OpTimeout: time.Hour, BulkTimeout: tt.bulk}.resolve()
		if err != nil || cfg.BulkTimeout != tt.want {
			t.Errorf("calls of %s, bulk loads of %s: got %s, %v; want %s", tt.call, tt.bulk, cfg.BulkTimeout, err, tt.want)
		}
	}
	if _, err := (Config{Masters: []string{"m:1"}, User: "ann", BulkTimeout: -1}).resolve(); err == nil || !strings.Contains(err.Error(), "BulkTimeout") {
		t.Errorf("a negative one: %v", err)
	}
}
