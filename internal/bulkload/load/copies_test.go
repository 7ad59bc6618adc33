package load_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs/local"
)

// mixedJob is a job of files of many days and behaviours.
const mixedJob = `
logs: {path: "logs/*.csv", behaviour: kind, max_bad: 50%}
user: user
behaviours:
  play: {id: 1, fields: {title: string}}
  order: {id: 2}
`

// mixedLog has for each of four days ten plays and ten orders of ten users, and the trails
// of them.
func mixedLog() (text string, trails []string) {
	text = "user,time,kind,title\n"
	for day := 1; day <= 4; day++ {
		for n := range 20 {
			user, title, tail := 10+n/2, fmt.Sprintf("t%d", n), ""
			kind := []string{"play", "order"}[n%2]
			if kind == "play" {
				tail = " title=" + title
			}
			text += fmt.Sprintf("%d,2014-09-%02d 10:00:%02d,%s,%s\n", user, day, n, kind, title)
			trails = append(trails, fmt.Sprintf("%d 2014-09-%02d 2014-09-%02dT10:00:%02dZ %s%s", user, day, day, n, kind, tail))
		}
	}
	slices.Sort(trails)
	return text, trails
}

// rename gives a delivered file another name.
func (y *fixture) rename(from, to string) {
	y.t.Helper()
	if err := os.Rename(filepath.Join(y.dir, "logs", from), filepath.Join(y.dir, "logs", to)); err != nil {
		y.t.Fatal(err)
	}
}

// TestACopyBringsWhatTheFirstDidNot loads a part of a file, and more and more of it under
// other names, by one process and by pieces, in every layout. Each record comes once.
func TestACopyBringsWhatTheFirstDidNot(t *testing.T) {
	text, want := mixedLog()
	for _, name := range layout.Names() {
		for _, way := range []string{"load", "pieces"} {
			t.Run(name+" by "+way, func(t *testing.T) {
				y := newFixture(t, mixedJob)
				y.jobIs("layout: " + name + mixedJob)
				load := func(from, to string, types ...string) bulkload.Result {
					t.Helper()
					if way == "load" {
						return y.load(nil, from, to, types...)
					}
					parts := y.plan(nil, 100, from, to, types...)
					y.doAll(parts)
					return y.commit(nil, parts)
				}
				y.write("a.csv", text)
				y.wantCounts(load("2014-09-02", "2014-09-02", "play"), 80, 10, 0, 0, 70)
				y.rename("a.csv", "b.csv")
				y.wantCounts(load("2014-09-02", "2014-09-03"), 80, 30, 0, 10, 40)
				y.rename("b.csv", "c.csv")
				y.wantCounts(load("2014-09-02", "2014-09-03", "order"), 80, 0, 0, 20, 60)
				y.wantCounts(load("2014-09-01", "2014-09-04"), 80, 40, 0, 20, 20)
				y.rename("c.csv", "a.csv")
				y.wantCounts(load("2014-09-01", "2014-09-04"), 80, 0, 0, 70, 10)
				y.wantTrails(want...)
			})
		}
	}
}

// TestCopiesOfOneLoad: files of one load are copies of each other too, also where a date in
// the path says which records are good.
func TestCopiesOfOneLoad(t *testing.T) {
	const text = `
logs: {path: ["logs/{date}/{behaviour}.csv", "logs/late/{behaviour}.csv"], max_bad: 90%}
user: user
behaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}
`
	head := "user,time,title,seconds\n"
	for _, parts := range []bool{false, true} {
		y := newFixture(t, text)
		y.jobIs(text)
		three := head + "a,2014-09-01 10:00:00,one,1\na,2014-09-02 10:00:00,two,2\na,2014-09-03 10:00:00,three,3\na,2014-09-04 10:00:00,four,4\n"
		y.write("2014-09-01/play.csv", three) // two are outside its day
		y.write("2014-09-02/play.csv", three) // one is
		y.write("late/play.csv", three)
		var r bulkload.Result
		if parts {
			all := y.plan(nil, 1, "2014-09-01", "2014-09-30")
			y.doAll(all)
			r = y.commit(nil, all)
		} else {
			r = y.load(nil, "2014-09-01", "2014-09-30")
		}
		y.wantCounts(r, 12, 4, 3, 5, 0)
		y.wantTrails(
			"a 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1",
			"a 2014-09-02 2014-09-02T10:00:00Z play title=two seconds=2",
			"a 2014-09-03 2014-09-03T10:00:00Z play title=three seconds=3",
			"a 2014-09-04 2014-09-04T10:00:00Z play title=four seconds=4",
		)
	}
}

// TestACopyIntoHBase is TestACopyBringsWhatTheFirstDidNot by puts and by HFiles.
func TestACopyIntoHBase(t *testing.T) {
	text, _ := mixedLog()
	for _, mode := range []bulkload.Mode{bulkload.Put, bulkload.HFile} {
		for _, unique := range []string{"", "unique: [title], "} {
			t.Run(string(mode)+unique, func(t *testing.T) {
				p, files := newHBaseFixture(t), newFixture(t, mixedJob)
				for _, y := range []*fixture{p.fixture, files} {
					y.is(strings.Replace(mixedJob, "id: 1, ", "id: 1, "+unique, 1))
				}
				load := func(from, to string, types ...string) {
					t.Helper()
					store := p.connect(local.New())
					defer store.Close()
					cfg := p.config(from, to, types...)
					cfg.Store, cfg.Mode = store, mode
					r, err := load.Run(t.Context(), cfg)
					if err != nil {
						t.Fatal(err)
					}
					if want := files.load(nil, from, to, types...).Counts; r.Counts != want {
						t.Errorf("counts are %+v, and of a table of files %+v", r.Counts, want)
					}
				}
				for _, y := range []*fixture{p.fixture, files} {
					y.write("a.csv", text)
				}
				load("2014-09-02", "2014-09-02", "play")
				for i, name := range []string{"b.csv", "c.csv"} {
					for _, y := range []*fixture{p.fixture, files} {
						y.rename([]string{"a.csv", "b.csv"}[i], name)
					}
					load("2014-09-01", []string{"2014-09-03", "2014-09-04"}[i])
				}
				got, want := p.cells(), files.cells()
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("the table holds %d cells, and one of files %d: %s", len(got), len(want), difference(got, want))
				}
			})
		}
	}
}

// TestReplayOfAPartialCopy replays the bad records of a file and of its copy. Each is loaded
// once, although the copy brought records too.
func TestReplayOfAPartialCopy(t *testing.T) {
	y := newFixture(t, mixedJob)
	y.write("a.csv", "user,time,kind,title\na,2014-09-01 10:00:00,play,x\nb,never,play,x\na,2014-09-02 10:00:00,play,y\n")
	y.wantCounts(y.load(nil, "2014-09-01", "2014-09-01"), 3, 1, 1, 0, 1)
	y.rename("a.csv", "b.csv")
	y.wantCounts(y.load(nil, "2014-09-01", "2014-09-02"), 3, 1, 1, 1, 0)
	for i, name := range []string{"b.csv", "a.csv"} {
		y.correct(name, "never", "2014-09-01 11:00:00")
		y.wantCounts(y.replay(nil, name), 1, int64(1-i), 0, int64(i), 0)
	}
	y.wantTrails(
		"a 2014-09-01 2014-09-01T10:00:00Z play title=x",
		"a 2014-09-02 2014-09-02T10:00:00Z play title=y",
		"b 2014-09-01 2014-09-01T11:00:00Z play title=x",
	)
}

// TestACopyOfAFileThatFailed has a copy of a file that cannot be loaded. The commit leaves the
// copy out, and the next plan has it.
func TestACopyOfAFileThatFailed(t *testing.T) {
	y := newFixture(t, mixedJob)
	y.jobIs(mixedJob)
	text, want := mixedLog()
	y.write("a.csv", text)
	y.write("b.csv", text)
	parts := y.plan(nil, 1, "2014-09-01", "2014-09-04")
	y.write("a.csv", text[:len(text)-1])
	y.doAll(parts)
	r, err := pieces.Commit(t.Context(), y.worker(local.New()), parts)
	if err == nil || len(r.Failed) != 2 || !strings.Contains(r.Failed[1].Error, "plan again") {
		t.Fatalf("%v, failed %+v; want both files left out", err, r.Failed)
	}
	y.write("a.csv", text)
	y.load(nil, "2014-09-01", "2014-09-04")
	y.wantTrails(want...)
}
