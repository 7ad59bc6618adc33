package reread_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/convert"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/reread"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
)

// grown returns a table of three days, and a job with more fields than the loads had.
func grown(t *testing.T, layout string) *bulkloadtest.Fixture {
	t.Helper()
	y := bulkloadtest.New(t, jobOf(layout, short))
	for _, day := range []string{first, "2014-09-02", last} {
		y.Write(day+"/a.csv", logOf(day))
		y.Load(nil, day, day)
	}
	y.SetJob(jobOf(layout, long))
	return y
}

// TestUpkeepAfterAReread drops, restores, compacts, converts and rebuilds a table with a reread.
func TestUpkeepAfterAReread(t *testing.T) {
	for _, layout := range []string{"reversed", "tall", "hashed"} {
		t.Run(layout, func(t *testing.T) { upkeepAfterAReread(t, grown(t, layout)) })
	}
}

func upkeepAfterAReread(t *testing.T, y *bulkloadtest.Fixture) {
	run(t, y, nil, first, last)
	rebuilt(t, y)
	all := y.Trails(true)
	y.Drop("2014-09-02")
	verified(t, y)
	y.Undrop()
	verified(t, y)
	if !slices.Equal(y.Trails(true), all) {
		t.Error("the restored days differ")
	}
	if _, err := upkeep.Compact(t.Context(), y.Upkeep(true)); err != nil {
		t.Fatal(err)
	}
	verified(t, y)
	y.Drop("2014-09-02")
	verified(t, y)
	kept := y.Trails(true)
	rebuilt(t, y)
	for _, to := range []string{"wide", "game"} {
		out := filepath.Join(y.Dir, "as-"+to)
		cfg := convert.Config{FS: y.Store.FS, From: y.Store, Out: files.Store{FS: y.Store.FS, Dir: out}, Layout: to, Temp: filepath.Join(y.Dir, "tmp-"+to), Memory: 64 << 20}
		if _, err := convert.Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		other := *y
		other.Store.Dir = out
		verified(t, &other)
		if !slices.Equal(other.Trails(true), kept) {
			t.Errorf("the conversion to %s has other trails", to)
		}
		other.SetJob(jobOf(to, long))
		if r := other.Load(bulkload.ErrNothing, "2014-09-02", last); r.Unread != nil {
			t.Errorf("in %s without fields are %+v", to, r.Unread)
		}
		rebuilt(t, &other)
	}
}

// rebuilt removes the manifest, and compares the rebuilt one with it.
func rebuilt(t *testing.T, y *bulkloadtest.Fixture) {
	t.Helper()
	name := filepath.Join(y.Store.Dir, catalog.ManifestName)
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.Rebuild(t.Context(), local.New(), y.Store.Dir, false); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != string(want) {
		t.Errorf("the manifest is %v\n%s\nwant\n%s", err, got, want)
	}
}

// TestAnUndropAfterAReread drops days, reads a file again that the drop has rewritten, and tries to restore the days.
func TestAnUndropAfterAReread(t *testing.T) {
	y := bulkloadtest.New(t, jobOf("reversed", short))
	for _, day := range []string{first, last} {
		y.Write(day+"/a.csv", logOf(day))
	}
	y.Load(nil, first, last)
	y.SetJob(jobOf("reversed", long))
	y.Drop("2014-09-02")
	run(t, y, nil, first, last)
	verified(t, y)
	if _, err := upkeep.Undrop(t.Context(), y.Upkeep(true)); !errors.Is(err, bulkload.ErrRequest) {
		t.Errorf("undrop: %v", err)
	}
	verified(t, y)
	rebuilt(t, y)
	if _, err := load.Run(t.Context(), y.Config(first, last)); !errors.Is(err, bulkload.ErrNothing) || !strings.HasSuffix(err.Error(), "were dropped from the table: to have them again, load their logs into a new table") {
		t.Errorf("a load of the dropped days: %v, want a step that helps", err)
	}
	y.Write("2014-08-31/a.csv", "user,time,kind,n,device,age\n10,2014-08-31 10:00:00,play,1,tv,20\n")
	if _, err := load.Run(t.Context(), y.Config("2014-08-31", "2014-08-31")); !errors.Is(err, bulkload.ErrRequest) || !strings.HasSuffix(err.Error(), "correct --from and --to, or load the logs into a new table") {
		t.Errorf("a load of records of dropped days: %v, want a step that helps", err)
	}
}

// TestARereadSurvivesAnyFault fails each file operation of a reread once. The table is then as before or as after the
// reread, also if its manifest is lost. The same reread ends with the table of an undisturbed one.
func TestARereadSurvivesAnyFault(t *testing.T) {
	for _, layout := range []string{"reversed", "wide"} {
		t.Run(layout, func(t *testing.T) { rereadSurvivesAnyFault(t, grown(t, layout)) })
	}
}

func rereadSurvivesAnyFault(t *testing.T, y *bulkloadtest.Fixture) {
	before := y.Store.Dir
	copied := func(to string) *bulkloadtest.Fixture {
		other := *y
		other.Store.Dir = filepath.Join(y.Dir, to)
		if err := errors.Join(os.RemoveAll(other.Store.Dir), os.CopyFS(other.Store.Dir, os.DirFS(before))); err != nil {
			t.Fatal(err)
		}
		return &other
	}
	do := func(o *bulkloadtest.Fixture, fs dfs.FS) error {
		c := o.Config(first, last)
		c.FS, c.Store = fs, files.Store{FS: fs, Dir: o.Store.Dir}
		_, err := reread.Run(context.WithoutCancel(t.Context()), reread.Config{Resources: c.Resources, Job: c.Job, Span: c.Span, KeepFor: upkeep.DefaultKeepFor})
		return err
	}
	after := copied("after")
	if err := do(after, y.Store.FS); err != nil {
		t.Fatal(err)
	}
	was, want := y.Cells(), after.Cells()
	dfstest.Sweep(t, dfstest.Modes, 40, func(t *testing.T, n int, mode dfstest.Mode) bool {
		o := copied("faulty")
		fault := dfstest.FaultAt(y.Store.FS, n, mode)
		err := do(o, fault)
		past := fault.Count() <= n
		if err != nil && !errors.Is(err, dfstest.ErrInjected) {
			t.Fatalf("fault at %d: lost the cause: %v", n, err)
		}
		if n%3 == 0 {
			lose(t, o)
		}
		if got := o.Cells(); !slices.Equal(got, was) && !slices.Equal(got, want) {
			t.Errorf("fault at %d (%v): the table is neither as before nor as after", n, err)
		}
		verified(t, o)
		if err := do(o, y.Store.FS); err != nil && !errors.Is(err, bulkload.ErrNothing) {
			t.Fatalf("fault at %d: again: %v", n, err)
		}
		if !slices.Equal(o.Cells(), want) {
			t.Errorf("fault at %d (%v): in the end the cells differ", n, err)
		}
		verified(t, o)
		return past
	})
}

// lose removes the manifest, and rebuilds it.
func lose(t *testing.T, y *bulkloadtest.Fixture) {
	t.Helper()
	if err := os.Remove(filepath.Join(y.Store.Dir, catalog.ManifestName)); err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.Rebuild(t.Context(), local.New(), y.Store.Dir, false); err != nil {
		t.Fatalf("rebuild: %v", err)
	}
}

// TestRereadsDoNotDependOnResources reads files again with little memory, in many regions and with many workers. The cells
// are the same.
func TestRereadsDoNotDependOnResources(t *testing.T) {
	for _, layout := range []string{"reversed", "wide", "hashed"} {
		t.Run(layout, func(t *testing.T) { rereadsByResources(t, layout) })
	}
}

func rereadsByResources(t *testing.T, layout string) {
	var want []string
	for _, c := range []struct {
		workers int
		memory  int64
		regions int
	}{{1, 1 << 30, 1}, {4, 1 << 30, 7}, {1, 200 << 10, 1}, {3, 600 << 10, 5}} {
		y := bulkloadtest.New(t, "layout: "+layout+"\n"+playJob(false, "user", ""))
		y.Job.Table.Regions = c.regions
		y.Write(first+"/play.csv", bulkloadtest.Busy(3000))
		y.Load(nil, first, first)
		y.SetJob("layout: " + layout + "\nlogs: {path: \"logs/{date}/{behaviour}.*\", max_bad: 100%}\nuser: user\nbehaviours:\n  play: {id: 1, fields: {title: string, seconds: int64, name: {type: string, column: title}, again: {type: int64, column: seconds}}}\n")
		cfg := y.Config(first, first)
		cfg.Workers, cfg.Memory = c.workers, c.memory
		r, err := reread.Run(t.Context(), reread.Config{Resources: cfg.Resources, Job: cfg.Job, Span: cfg.Span})
		if err != nil || r.Reread.Records != 3002 {
			t.Fatalf("%+v: %+v, %v", c, r.Reread, err)
		}
		verified(t, y)
		got := y.Cells()
		if want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("%+v: %s", c, bulkloadtest.Difference(got, want))
		}
		if left, err := filepath.Glob(filepath.Join(y.Dir, "tmp*", "*")); err != nil || len(left) > 0 {
			t.Errorf("%+v: sorted runs are left: %v", c, left)
		}
	}
}
