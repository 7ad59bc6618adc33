package runlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/runlog"
	"usertrail/internal/test/testkit"
)

var epoch = time.Date(2014, 9, 1, 2, 0, 0, 0, time.UTC)

// keeper returns the Keeper of a run of this process that began n seconds after the epoch.
func keeper(n int) *runlog.Keeper {
	host, _ := os.Hostname() // as in the text of a lock
	return runlog.NewKeeper(func() runlog.Run {
		return runlog.Run{Command: fmt.Sprint("run ", n), Host: host, Process: os.Getpid(), Began: epoch.Add(time.Duration(n) * time.Second)}
	})
}

// counts is a result that has only counts.
type counts outcome.Counts

func (c counts) Counted() outcome.Counts { return outcome.Counts(c) }

// list returns the result of Last for a table, a line for each run.
func list(t *testing.T, dir string, n int) string {
	t.Helper()
	runs, skipped, err := runlog.Last(t.Context(), local.New(), dir, n)
	if err != nil || len(skipped) > 0 {
		t.Fatal(skipped, err)
	}
	var out []string
	for _, r := range runs {
		line := r.Command + " " + string(r.State)
		if r.End != nil {
			line += fmt.Sprintf(" %d of %d, %q", r.End.Status, r.End.Loaded, r.End.Error)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func expect(t *testing.T, got string, want ...string) {
	t.Helper()
	if w := strings.Join(want, "\n"); got != w {
		t.Errorf("the run log has\n%s\nwant\n%s", got, w)
	}
}

func TestARunRunsThenEndsOrDies(t *testing.T) {
	fs, dir := local.New(), t.TempDir()
	name := dfs.Join(dir, "lock")
	expect(t, list(t, dir, 9))

	died := keeper(1)
	died.Begin(t.Context(), fs, dir)
	expect(t, list(t, dir, 9), "run 1 died")

	lock, err := fs.Lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	k := keeper(2)
	k.Begin(t.Context(), fs, dir)
	k.Begin(t.Context(), fs, dir) // of a second lock
	expect(t, list(t, dir, 1), "run 2 running")
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := k.End(t.Context(), &outcome.Outcome{Result: counts{outcome.Loaded: 7}, Status: 1, Error: "broken"}, false); err != nil {
		t.Fatal(err)
	}
	expect(t, list(t, dir, 9), "run 1 died", `run 2 ended 1 of 7, "broken"`)
	expect(t, list(t, dir, 1), `run 2 ended 1 of 7, "broken"`)
}

func TestARunWithoutTheLockIsWrittenDownWhereThereIsATable(t *testing.T) {
	fs, dir, others := local.New(), t.TempDir(), t.TempDir()
	lock, err := fs.Lock(t.Context(), dfs.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	for n, c := range []struct {
		dir    string
		always bool
	}{{dir, true}, {dir, false}, {dfs.Join(dir, "none"), true}, {"", true}, {others, true}} {
		k := keeper(n)
		k.At(fs, c.dir)
		if err := k.End(t.Context(), &outcome.Outcome{Status: 75, Error: "locked"}, c.always); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, list(t, dir, 9), `run 0 ended 75 of 0, "locked"`)
	if _, err := os.Stat(dfs.Join(dir, "none")); err == nil {
		t.Error("a folder was made where there is no table")
	}
	expect(t, list(t, others, 9))
}

func TestTheOldestAreForgotten(t *testing.T) {
	fs, dir := local.New(), t.TempDir()
	runs := dfs.Join(dir, "runs")
	if err := os.MkdirAll(runs, 0o777); err != nil {
		t.Fatal(err)
	}
	for n := range runlog.Kept {
		testkit.WriteFile(t, dfs.Join(runs, fmt.Sprintf("2013%04d.json", n)), "{}")
	}
	for n := range 3 {
		keeper(n).Begin(t.Context(), fs, dir)
	}
	left, err := os.ReadDir(runs)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != runlog.Kept || left[0].Name() != "20130003.json" {
		t.Errorf("%d are left, from %s on; want %d without the oldest three", len(left), left[0].Name(), runlog.Kept)
	}
	expect(t, list(t, dir, 4), "run 0 died", "run 1 died", "run 2 died") // the fourth is no run of this version
}

// TestARunLogThatCannotBeWrittenFailsOnlyAtTheEnd has a file instead of the folder.
func TestARunLogThatCannotBeWrittenFailsOnlyAtTheEnd(t *testing.T) {
	fs, dir := local.New(), t.TempDir()
	testkit.WriteFile(t, filepath.Join(dir, "runs"), "a file")
	k := keeper(1)
	k.Begin(t.Context(), fs, dir)
	err := k.End(t.Context(), &outcome.Outcome{}, false)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "runs")) {
		t.Errorf("%v, want an error that names the folder", err)
	}
}

// TestNamesThatAreNoFilesAreSkipped puts something else among the files of the runs.
func TestNamesThatAreNoFilesAreSkipped(t *testing.T) {
	dir := t.TempDir()
	keeper(1).Begin(t.Context(), local.New(), dir)
	at := func(what string) string { return filepath.Join(dir, "runs", "20140901T000000.000Z-1-"+what+".json") }
	if err := errors.Join(syscall.Mkfifo(at("pipe"), 0o600), os.Symlink(filepath.Base(at("link")), at("link")), os.Mkdir(at("directory"), 0o700)); err != nil {
		t.Fatal(err)
	}
	runs, skipped, err := runlog.Last(t.Context(), local.New(), dir, 9)
	if err != nil || len(runs) != 1 || len(skipped) != 3 {
		t.Fatalf("%d runs, skipped %v, %v; want one run and three errors", len(runs), skipped, err)
	}
	for _, err := range skipped {
		if !strings.Contains(err.Error(), at("")[:len(at(""))-len(".json")]) || !strings.HasSuffix(err.Error(), ": move it away") {
			t.Errorf("%v, want the name and the next step", err)
		}
	}
}

func TestAContextHasItsKeeper(t *testing.T) {
	k := keeper(1)
	if got := runlog.FromContext(runlog.NewContext(t.Context(), k)); got != k {
		t.Errorf("the context has %v", got)
	}
	none := runlog.FromContext(context.Background())
	none.At(local.New(), "x")
	none.Begin(t.Context(), local.New(), "x")
	if none != nil {
		t.Error("a context without a keeper has one")
	}
}

// TestAClockThatIsSetBack records runs whose clock is set back and forward. The log keeps the order
// of the runs, and forgets the oldest of them.
func TestAClockThatIsSetBack(t *testing.T) {
	fs, dir := local.New(), t.TempDir()
	var want []string
	for i, n := range []int{5, 6, -3600, -3599, 86400, 7, 1 << 30, 8} {
		keeper(n).Begin(t.Context(), fs, dir)
		want = append(want, fmt.Sprintf("run %d died", n))
		expect(t, list(t, dir, 99), want[:i+1]...)
	}
}

// TestTheNewestLoadIsFoundAfterTheClockWasSetBack has a full log of loads. By an earlier
// clock, the table is then set aside, and loaded again.
func TestTheNewestLoadIsFoundAfterTheClockWasSetBack(t *testing.T) {
	fs, dir := local.New(), t.TempDir()
	record := func(command string, at time.Time) {
		t.Helper()
		k := runlog.NewKeeper(func() runlog.Run { return runlog.Run{Command: command, Began: at} })
		k.Begin(t.Context(), fs, dir)
		if err := k.End(t.Context(), &outcome.Outcome{}, false); err != nil {
			t.Fatal(err)
		}
	}
	record("load", epoch)
	files, err := filepath.Glob(dfs.Join(dir, "runs", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("a run has the files %v, %v; want one", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for n := range runlog.Kept - 1 {
		name := epoch.AddDate(0, 0, n+1).Format("20060102T150405.000Z") + "-1-abcd.json"
		testkit.WriteFile(t, dfs.Join(dir, "runs", name), string(text))
	}
	if r, err := runlog.Loaded(t.Context(), fs, dir); err != nil || r == nil {
		t.Fatalf("after loads: %+v, %v; want the newest load", r, err)
	}
	record("forget", epoch.AddDate(-1, 0, 0))
	if r, err := runlog.Loaded(t.Context(), fs, dir); err != nil || r != nil {
		t.Errorf("after a forget: %+v, %v; want none", r, err)
	}
	record("load", epoch.AddDate(-2, 0, 0))
	if r, err := runlog.Loaded(t.Context(), fs, dir); err != nil || r == nil || !r.Began.Equal(epoch.AddDate(-2, 0, 0)) {
		t.Errorf("after another load: %+v, %v; want that load", r, err)
	}
	if all, _, err := runlog.Last(t.Context(), fs, dir, 2*runlog.Kept); err != nil || len(all) != runlog.Kept {
		t.Errorf("%d runs are left, %v; want %d", len(all), err, runlog.Kept)
	}
}

// An entry is the entry of a run that ended with success, unless it has another status.
type entry struct {
	args      string
	rewritten int // number of its first manifest
	status    exit.Status
}

// TestALostDropIsFound compares run logs with the number of a manifest.
func TestALostDropIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		log  []entry
		made int    // number of the manifest
		want string // the command
	}{
		"no run":                   {nil, 0, ""},
		"a drop":                   {[]entry{{"drop", 1, 0}}, 1, ""},
		"a lost drop":              {[]entry{{"drop", 1, 0}}, 0, "drop"},
		"a lost undrop":            {[]entry{{"drop", 1, 0}, {"undrop", 2, 0}}, 1, "undrop"},
		"a lost compact":           {[]entry{{"drop", 1, 0}, {"compact", 2, 0}}, 1, ""},
		"after several months":     {[]entry{{"compact", 1, 0}, {"drop", 4, 0}}, 3, "drop"},
		"before a compact":         {[]entry{{"compact", 1, 0}, {"drop", 2, 0}, {"compact", 2, 0}}, 4, "drop"},
		"type it again":            {[]entry{{"compact", 1, 0}, {"compact", 2, 0}, {"drop", 3, 0}, {"drop", 2, 0}}, 2, ""},
		"a drop that failed late":  {[]entry{{"drop", 1, 1}}, 0, "drop"},
		"a drop that did nothing":  {[]entry{{"drop", 1, 0}, {"drop", 0, 99}}, 1, ""},
		"a refused drop":           {[]entry{{"drop", 0, 75}}, 0, ""},
		"a drop of an old release": {[]entry{{"compact", 0, 0}, {"drop", 0, 0}}, 1, "drop"},
		"old releases":             {[]entry{{"compact", 0, 0}, {"drop", 0, 0}}, 2, ""},
		"an old compact":           {[]entry{{"drop", 0, 0}, {"compact", 0, 0}}, 2, ""},
		"a table set aside":        {[]entry{{"drop", 1, 0}, {"forget", 0, 0}}, 0, ""},
		"an accepted manifest":     {[]entry{{"drop", 1, 0}, {"rebuild --with-dropped", 0, 0}}, 0, ""},
		"an accepted whole table":  {[]entry{{"drop", 1, 0}, {"rebuild --with-dropped", 0, 99}}, 0, ""},
		"accepted by a value":      {[]entry{{"drop", 1, 0}, {"rebuild --with-dropped=true", 0, 99}}, 0, ""},
		"not accepted by a value":  {[]entry{{"drop", 1, 0}, {"rebuild --with-dropped=false", 0, 99}}, 0, "drop"},
		"a failed rebuild":         {[]entry{{"drop", 1, 0}, {"rebuild --with-dropped", 0, 1}}, 0, "drop"},
		"a rebuild":                {[]entry{{"drop", 1, 0}, {"rebuild", 0, 0}}, 0, "drop"},
	} {
		dir := t.TempDir()
		for i, e := range c.log {
			args := strings.Fields(e.args)
			k := runlog.NewKeeper(func() runlog.Run {
				return runlog.Run{Command: args[0], Args: args, Began: epoch.Add(time.Duration(i) * time.Second)}
			})
			k.Begin(t.Context(), local.New(), dir)
			for n := range 3 {
				if e.rewritten > 0 {
					k.Rewrote(e.rewritten + n)
				}
			}
			if err := k.End(t.Context(), &outcome.Outcome{Status: e.status}, false); err != nil {
				t.Fatal(err)
			}
		}
		runs, err := runlog.Rewrites(t.Context(), local.New(), dir)
		got := ""
		if lost := runlog.Lost(runs, c.made); lost != nil {
			got = lost.Command
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}
