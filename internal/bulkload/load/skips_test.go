package load_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/bulkload/verify"
	"usertrail/internal/store/dfs/local"
)

// skipDay is the day of the logs of these tests.
const skipDay = "2014-09-03"

// A skipRecord is a record of a log that loads read by many conditions.
type skipRecord struct {
	text string // that names the behaviour
	tag  int
	n    int
}

// A skipLog is the content of delivered files. Its column of tags has a name of its own.
type skipLog struct {
	column  string
	records []skipRecord
}

func newSkipLog(random *rand.Rand, column string, first int) skipLog {
	l := skipLog{column: column}
	for i := range 12 {
		l.records = append(l.records, skipRecord{[]string{"play", "start", "order", "never"}[random.IntN(4)], random.IntN(4), first + i})
	}
	return l
}

// text returns the file. All files have the same size if n has the same number of digits.
func (l skipLog) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "user,time,kind,%s,n\n", l.column)
	for _, r := range l.records {
		fmt.Fprintf(&b, "u%d,%s 10:00:00,%5s,%d,%d\n", r.n%3, skipDay, r.text, r.tag, r.n)
	}
	return b.String()
}

// A skipJob is a job that reads these logs: its condition, and the texts of play.
type skipJob struct {
	above int  // its condition skips records with a larger tag; -1 has no condition
	start bool // start is a text of play
}

func (j skipJob) text() string {
	skip, texts := "", ""
	if j.above >= 0 {
		skip = fmt.Sprintf(`, skip: 'number(tag) > %d'`, j.above)
	}
	if j.start {
		texts = "start: play"
	}
	return fmt.Sprintf("logs: {path: \"logs/{date}/*.csv\", behaviour: {column: kind, pattern: \"[a-z]+\", others: skip, texts: {%s}}%s}\n"+
		"user: user\nbehaviours: {play: {id: 1, fields: {n: int64}}, order: {id: 2, fields: {n: int64}}}\n", texts, skip)
}

// kind returns the behaviour of a text, or "".
func (j skipJob) kind(text string) string {
	switch {
	case text == "start" && j.start:
		return "play"
	case text == "play" || text == "order":
		return text
	}
	return ""
}

// A skipModel knows which records a table has to have.
type skipModel map[int]string // behaviour by n

// load adds the records of a log that a load requests.
func (m skipModel) load(l skipLog, j skipJob, types []string) {
	for _, r := range l.records {
		kind := j.kind(r.text)
		if kind != "" && (j.above < 0 || r.tag <= j.above) && (len(types) == 0 || slices.Contains(types, kind)) {
			m[r.n] = kind
		}
	}
}

// lines returns the model as Fixture.Trails does.
func (m skipModel) lines() (out []string) {
	for n, kind := range m {
		out = append(out, fmt.Sprintf("u%d %s %sT10:00:00Z %s n=%d", n%3, skipDay, skipDay, kind, n))
	}
	slices.Sort(out)
	return out
}

// TestSkippedLogsAreWarnedOf loads logs of which every record or fewer records are skipped. A load and a commit warn of the first.
func TestSkippedLogsAreWarnedOf(t *testing.T) {
	const all = "every record of these logs was skipped"
	for what, c := range map[string]struct {
		with, without, comments int
		want                    string
	}{
		"no user":          {0, 1, 0, all},
		"skip":             {0, 0, 1, all},
		"both":             {0, 2, 3, all},
		"half":             {20, 20, 0, ""},
		"a few":            {1, 19, 0, ""},
		"comments":         {1, 0, 50, ""},
		"nothing":          {0, 0, 0, ""},
		"all records good": {50, 0, 0, ""},
	} {
		y := bulkloadtest.New(t, "logs: {path: \"logs/{date}/play.csv\", skip: 'user == \"#\"'}\nuser: {column: user, empty: skip}\nbehaviours: {play: {id: 1}}\n")
		y.Write("2014-09-01/play.csv", "user,time\n"+strings.Repeat("a,2014-09-01 10:00:00\n", c.with)+strings.Repeat(",2014-09-01 10:00:00\n", c.without)+strings.Repeat("#,2014-09-01 10:00:00\n", c.comments))
		parts := y.Plan(nil, 1<<20, "2014-09-01", "2014-09-01")
		y.DoAll(parts)
		for way, do := range map[string]func(log *slog.Logger) error{
			"load": func(log *slog.Logger) error {
				cfg := y.Twin().Config("2014-09-01", "2014-09-01")
				cfg.Log = log
				_, err := load.Run(t.Context(), cfg)
				return err
			},
			"commit": func(log *slog.Logger) error {
				with := y.Worker(local.New())
				with.Log = log
				_, err := pieces.Commit(t.Context(), with, parts)
				return err
			},
		} {
			var log bytes.Buffer
			if err := do(slog.New(slog.NewTextHandler(&log, nil))); err != nil {
				t.Errorf("%s, %s: %v", what, way, err)
			}
			if said := log.String(); strings.Contains(said, all) != (c.want != "") || c.want != "" && !strings.Contains(said, "files=1 first=2014-09-01/play.csv") {
				t.Errorf("%s, %s: want %q, got %s", what, way, c.want, said)
			}
		}
	}
}

// TestEveryConditionLeavesOutItsOwnRecords loads copies of two logs of equal size by jobs whose conditions, texts
// and requested behaviours change. A table has a record once, if one of its loads requested it.
func TestEveryConditionLeavesOutItsOwnRecords(t *testing.T) {
	for seed := range uint64(6) {
		for _, way := range []string{"load", "pieces", "ranges"} {
			t.Run(fmt.Sprintf("%d by %s", seed, way), func(t *testing.T) {
				y := bulkloadtest.New(t, skipJob{above: -1}.text())
				playSkips(t, seed, y, func(types []string) error { return loadBy(y, way, types) })
				if _, err := verify.Run(t.Context(), verify.Config{Store: y.Store}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestEveryConditionIntoHBase is TestEveryConditionLeavesOutItsOwnRecords by puts and by HFiles. The cells are the
// same as in a table of files.
func TestEveryConditionIntoHBase(t *testing.T) {
	for seed := range uint64(2) {
		for _, mode := range []bulkload.Mode{bulkload.Put, bulkload.HFile} {
			t.Run(fmt.Sprintf("%d by %s", seed, mode), func(t *testing.T) {
				p := bulkloadtest.NewHBase(t)
				playSkips(t, seed, p.Fixture, func(types []string) error {
					cfg := p.Config(skipDay, skipDay, types...)
					store := p.Connect(local.New())
					defer store.Close()
					cfg.Store, cfg.Mode = store, mode
					_, err := load.Run(t.Context(), cfg)
					return errors.Join(nothing(err), loadBy(p.Fixture, "load", types))
				})
				got, want := p.Cells(), p.Fixture.Cells()
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("the table holds %d cells, and one of files %d: %s", len(got), len(want), bulkloadtest.Difference(got, want))
				}
			})
		}
	}
}

// playSkips delivers and loads files in a random order, and compares the table with the model after each load.
func playSkips(t *testing.T, seed uint64, y *bulkloadtest.Fixture, load func(types []string) error) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 31))
	logs := []skipLog{newSkipLog(random, "tag", 10), newSkipLog(random, "tag", 30), newSkipLog(random, "tug", 50)}
	delivered, gone := make([]int, len(logs)), make([]int, len(logs)) // files with each log
	model := skipModel{}
	var told []string
	for step := range 8 {
		for range 1 + random.IntN(2) {
			which := random.IntN(2)
			if step > 4 && random.IntN(3) == 0 {
				which = 2
			}
			delivered[which]++
			y.Write(fmt.Sprintf("%s/%d-%d.csv", skipDay, which, delivered[which]), logs[which].text())
		}
		for which := range logs {
			if gone[which] < delivered[which]-1 && random.IntN(2) == 0 {
				gone[which]++
				y.Rename(fmt.Sprintf("%s/%d-%d.csv", skipDay, which, gone[which]), fmt.Sprintf("%d-%d.csv", which, gone[which]))
			}
		}
		job := skipJob{above: random.IntN(5) - 1, start: random.IntN(2) == 0}
		if delivered[2] > 0 {
			job.above = -1 // a job cannot read a file without the column of its condition
		}
		types := [][]string{nil, nil, {"play"}, {"order"}}[random.IntN(4)]
		y.SetJob(job.text())
		told = append(told, fmt.Sprintf("%+v of %v, types %v", job, delivered, types))
		if err := load(types); err != nil {
			t.Fatalf("%v\nafter %s", err, strings.Join(told, "\n"))
		}
		for which, l := range logs {
			if delivered[which] > 0 {
				model.load(l, job, types)
			}
		}
		if got, want := y.Trails(false), model.lines(); !slices.Equal(got, want) {
			t.Fatalf("the table holds\n%s\nwant\n%s\nafter\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), strings.Join(told, "\n"))
		}
	}
}

// TestAFileOfTooManyConditionsIsRefusedAlone loads the records of a file one by one: each load has a condition that skips one record
// less. When a load can no longer tell the conditions apart, it leaves the file out, and loads another file.
func TestAFileOfTooManyConditionsIsRefusedAlone(t *testing.T) {
	const most = 64
	y := bulkloadtest.New(t, skipJob{above: -1}.text())
	l := skipLog{column: "tag"}
	for n := range most + 2 {
		l.records = append(l.records, skipRecord{"play", n, n})
	}
	name := skipDay + "/many.csv"
	y.Write(name, l.text())
	for n := range most + 1 {
		y.SetJob(skipJob{above: n}.text())
		y.WantCounts(y.Load(nil, skipDay, skipDay), most+2, 1, 0, 0, most+1)
	}
	y.Write(skipDay+"/other.csv", skipLog{"tag", []skipRecord{{"play", 0, 100}}}.text())
	y.SetJob(skipJob{above: most + 1}.text())
	r := y.Load(bulkload.ErrRequest, skipDay, skipDay)
	if len(r.Failed) != 1 || !strings.HasSuffix(r.Failed[0].Path, name) || !strings.Contains(r.Failed[0].Error, "conditions logs.skip, and at most 64 can be told apart: load the logs into a new table") {
		t.Errorf("failed is %+v, want %s and its conditions", r.Failed, name)
	}
	if r.Loaded != 1 {
		t.Errorf("%d records were loaded, want the record of the other file", r.Loaded)
	}
}

// loadBy loads all files, if there is something to load.
func loadBy(y *bulkloadtest.Fixture, way string, types []string) error {
	_, err := loadSpan(y, way, skipDay, skipDay, types...)
	return err
}

// loadSpan loads the files of some days, if there is something to load. The result has what is not read.
func loadSpan(y *bulkloadtest.Fixture, way, from, to string, types ...string) (bulkload.Result, error) {
	y.T.Helper()
	if way == "load" {
		result, err := load.Run(y.T.Context(), y.Config(from, to, types...))
		return result, nothing(err)
	}
	parts, planned, err := pieces.Plan(y.T.Context(), y.Planning(bulkloadtest.PieceSizes[way], from, to, types...))
	if err != nil {
		return bulkload.Result{NotRead: planned.NotRead}, nothing(err)
	}
	y.DoAll(parts)
	result := y.Commit(nil, parts)
	result.NotRead = planned.NotRead
	return result, nil
}

// nothing returns err, or nil if err means that there was nothing to do.
func nothing(err error) error {
	if errors.Is(err, bulkload.ErrNothing) {
		return nil
	}
	return err
}
