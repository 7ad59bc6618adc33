package load_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs/local"
)

// TestACopyBringsWhatTheFirstDidNot loads a part of a file, and more and more of it under
// other names, by one process and by pieces, in every layout. Each record comes once.
func TestACopyBringsWhatTheFirstDidNot(t *testing.T) {
	text, want := bulkloadtest.MixedLog()
	for _, name := range layout.Names() {
		for _, way := range []string{"load", "pieces"} {
			t.Run(name+" by "+way, func(t *testing.T) {
				y := bulkloadtest.New(t, bulkloadtest.MixedJob)
				y.SetJob("layout: " + name + bulkloadtest.MixedJob)
				load := func(from, to string, types ...string) bulkload.Result {
					t.Helper()
					if way == "load" {
						return y.Load(nil, from, to, types...)
					}
					parts := y.Plan(nil, 100, from, to, types...)
					y.DoAll(parts)
					return y.Commit(nil, parts)
				}
				y.Write("a.csv", text)
				y.WantCounts(load("2014-09-02", "2014-09-02", "play"), 80, 10, 0, 0, 70)
				y.Rename("a.csv", "b.csv")
				y.WantCounts(load("2014-09-02", "2014-09-03"), 80, 30, 0, 10, 40)
				y.Rename("b.csv", "c.csv")
				y.WantCounts(load("2014-09-02", "2014-09-03", "order"), 80, 0, 0, 20, 60)
				y.WantCounts(load("2014-09-01", "2014-09-04"), 80, 40, 0, 20, 20)
				y.Rename("c.csv", "a.csv")
				y.WantCounts(load("2014-09-01", "2014-09-04"), 80, 0, 0, 70, 10)
				y.WantTrails(want...)
			})
		}
	}
}

// TestCopiesOfOneLoad loads copies in one load. In some cases the date in the path decides
// which records are good.
func TestCopiesOfOneLoad(t *testing.T) {
	const text = `
logs: {path: ["logs/{date}/{behaviour}.csv", "logs/late/{behaviour}.csv"], max_bad: 90%}
user: user
behaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}
`
	head := "user,time,title,seconds\n"
	for _, parts := range []bool{false, true} {
		y := bulkloadtest.New(t, text)
		three := head + "a,2014-09-01 10:00:00,one,1\na,2014-09-02 10:00:00,two,2\na,2014-09-03 10:00:00,three,3\na,2014-09-04 10:00:00,four,4\n"
		y.Write("2014-09-01/play.csv", three) // two are outside its day
		y.Write("2014-09-02/play.csv", three) // one is
		y.Write("late/play.csv", three)
		var r bulkload.Result
		if parts {
			all := y.Plan(nil, 1, "2014-09-01", "2014-09-30")
			y.DoAll(all)
			r = y.Commit(nil, all)
		} else {
			r = y.Load(nil, "2014-09-01", "2014-09-30")
		}
		y.WantCounts(r, 12, 4, 3, 5, 0)
		y.WantTrails(
			"a 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1",
			"a 2014-09-02 2014-09-02T10:00:00Z play title=two seconds=2",
			"a 2014-09-03 2014-09-03T10:00:00Z play title=three seconds=3",
			"a 2014-09-04 2014-09-04T10:00:00Z play title=four seconds=4",
		)
	}
}

// TestACopyOfAFileOfAnotherJob loads a file and then a copy of it by a job that finds the behaviour in another place, or
// has another name for it. Only files whose paths name different behaviours have different records.
func TestACopyOfAFileOfAnotherJob(t *testing.T) {
	const end = "\nuser: user\nbehaviours: "
	byPath, byColumn := "logs: \"logs/{date}/{behaviour}-*.csv\""+end, "logs: {path: \"logs/{date}/*.csv\", behaviour: {column: event}}"+end
	const play, both = "{play: {id: 1}}", "{play: {id: 1}, order: {id: 2}}"
	const first, copied = "2014-09-01/play-1.csv", "2014-09-01/play-2.csv"
	for name, c := range map[string]struct {
		first, later, copy string // jobs, and the name of the copy
		loaded             int64
	}{
		"the same job":                      {byPath + play, byPath + play, copied, 0},
		"by path, then by column":           {byPath + play, byColumn + play, copied, 0},
		"by column, then by path":           {byColumn + play, byPath + play, copied, 0},
		"another behaviour of the path":     {byPath + play, byPath + "{watch: {id: 2, path: play}}", copied, 0},
		"a path of another behaviour":       {byPath + both, byPath + both, "2014-09-01/order-1.csv", 2},
		"the path of a renamed behaviour":   {byPath + both, byPath + "{view: {id: 3, path: play}, play: {id: 1, path: order}}", "2014-09-01/order-1.csv", 2},
		"a path of a behaviour, by columns": {byPath + both, byColumn + both, "2014-09-01/order-1.csv", 0},
	} {
		for _, way := range []string{"load", "pieces"} {
			t.Run(name+" by "+way, func(t *testing.T) {
				y := bulkloadtest.New(t, c.first)
				log := "user,time,event\na,2014-09-01 10:00:00,play\nb,2014-09-01 11:00:00,play\n"
				y.Write(first, log)
				if r, err := loadSpan(y, way, "2014-09-01", "2014-09-01"); err != nil || r.Loaded != 2 {
					t.Fatalf("loaded %d, %v, want 2", r.Loaded, err)
				}
				y.SetJob(c.later)
				y.Rename(first, c.copy)
				r, err := loadSpan(y, way, "2014-09-01", "2014-09-01")
				if err != nil || r.Loaded != c.loaded || r.Duplicate != 2-c.loaded {
					t.Errorf("of the copy %d were loaded and %d are duplicates, %v; want %d loaded", r.Loaded, r.Duplicate, err, c.loaded)
				}
				if got := len(y.Trails(false)); got != int(2+c.loaded) {
					t.Errorf("the table has %d records, want %d", got, 2+c.loaded)
				}
			})
		}
	}
}

// TestACopyOfARenamedBehaviour renames the behaviour of a path, and then moves the root of the logs, so that each file is a
// copy of itself. A load cannot determine whether the copy has the behaviour of the loaded file by another name. For a file
// without records this does not matter.
func TestACopyOfARenamedBehaviour(t *testing.T) {
	const head = "user,time\n"
	for log, refused := range map[string]bool{head: false, head + "a,2014-09-01 10:00:00\n": true} {
		for _, way := range []string{"load", "pieces"} {
			y := bulkloadtest.New(t, "logs: \"logs/app/{behaviour}-*.csv\"\nuser: user\nbehaviours: {play: {id: 1}}")
			y.Write("app/play-1.csv", log)
			y.Write("late/read.me", "no log")
			if _, err := loadSpan(y, way, "2014-09-01", "2014-09-01"); err != nil {
				t.Fatal(err)
			}
			y.SetJob("logs: {path: [\"logs/app/{behaviour}-*.csv\", \"logs/late/{behaviour}-*.csv\"]}\nuser: user\nbehaviours: {watch: {id: 2, path: play}}")
			_, err := loadSpan(y, way, "2014-09-01", "2014-09-01")
			if refused != errors.Is(err, bulkload.ErrRequest) || err != nil && !refused {
				t.Errorf("by %s of %q: %v, want refused: %t", way, log, err, refused)
			}
			if got, want := len(y.Trails(false)), strings.Count(log, "2014"); got != want {
				t.Errorf("by %s the table has %d records, want %d", way, got, want)
			}
		}
	}
}

// TestACopyIntoHBase is TestACopyBringsWhatTheFirstDidNot by puts and by HFiles.
func TestACopyIntoHBase(t *testing.T) {
	text, _ := bulkloadtest.MixedLog()
	for _, mode := range []bulkload.Mode{bulkload.Put, bulkload.HFile} {
		for _, unique := range []string{"", "unique: [title], "} {
			t.Run(string(mode)+unique, func(t *testing.T) {
				p, files := bulkloadtest.NewHBase(t), bulkloadtest.New(t, bulkloadtest.MixedJob)
				for _, y := range []*bulkloadtest.Fixture{p.Fixture, files} {
					y.SetJob(strings.Replace(bulkloadtest.MixedJob, "id: 1, ", "id: 1, "+unique, 1))
				}
				load := func(from, to string, types ...string) {
					t.Helper()
					store := p.Connect(local.New())
					defer store.Close()
					cfg := p.Config(from, to, types...)
					cfg.Store, cfg.Mode = store, mode
					r, err := load.Run(t.Context(), cfg)
					if err != nil {
						t.Fatal(err)
					}
					if want := files.Load(nil, from, to, types...).Counts; r.Counts != want {
						t.Errorf("counts are %+v, and of a table of files %+v", r.Counts, want)
					}
				}
				for _, y := range []*bulkloadtest.Fixture{p.Fixture, files} {
					y.Write("a.csv", text)
				}
				load("2014-09-02", "2014-09-02", "play")
				for i, name := range []string{"b.csv", "c.csv"} {
					for _, y := range []*bulkloadtest.Fixture{p.Fixture, files} {
						y.Rename([]string{"a.csv", "b.csv"}[i], name)
					}
					load("2014-09-01", []string{"2014-09-03", "2014-09-04"}[i])
				}
				got, want := p.Cells(), files.Cells()
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("the table holds %d cells, and one of files %d: %s", len(got), len(want), bulkloadtest.Difference(got, want))
				}
			})
		}
	}
}

// TestACopyOfAFileThatFailed has a copy of a file that cannot be loaded. The commit leaves the
// copy out, and the next plan has it.
func TestACopyOfAFileThatFailed(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.MixedJob)
	text, want := bulkloadtest.MixedLog()
	y.Write("a.csv", text)
	y.Write("b.csv", text)
	parts := y.Plan(nil, 1, "2014-09-01", "2014-09-04")
	y.Write("a.csv", text[:len(text)-1])
	y.DoAll(parts)
	r, err := pieces.Commit(t.Context(), y.Worker(local.New()), parts)
	if err == nil || len(r.Failed) != 2 || !strings.Contains(r.Failed[1].Error, "plan again") {
		t.Fatalf("%v, failed %+v; want both files left out", err, r.Failed)
	}
	y.Write("a.csv", text)
	y.Load(nil, "2014-09-01", "2014-09-04")
	y.WantTrails(want...)
}
