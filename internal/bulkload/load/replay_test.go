package load_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

const withBad = `user,time,title,seconds
a,2014-09-01 10:00:00,one,1
b,2014-09-01 11:00:00,two,many
,2014-09-01 11:30:00,"of
two lines",3
c,2014-09-01 12:00:00,four,4
`

// TestReplayLoadsWhatWasCorrected: a corrected record lies where it would have
// lain, one still bad is told, and what was replayed is not loaded again.
func TestReplayLoadsWhatWasCorrected(t *testing.T) {
	const name = "2014-09-01/play.csv"
	good := newFixture(t, twoKinds)
	good.write(name, strings.Replace(withBad, "many", "8888", 1))
	good.load(nil, "2014-09-01", "2014-09-01")

	y := newFixture(t, twoKinds)
	y.write(name, withBad)
	y.wantCounts(y.load(nil, "2014-09-01", "2014-09-01"), 4, 2, 2, 0, 0)
	y.correct(name, "many", "8888")
	r := y.replay(bulkload.ErrTooBad, name)
	y.wantCounts(r, 2, 1, 1, 0, 0)
	if got, want := y.trails(true), good.trails(true); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("after the replay the table holds\n%s\nwant what the corrected file gives\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if q := y.quarantined(name + ".replay"); strings.Count(q, "\n") != 1 || !strings.Contains(q, "of\\ntwo lines") {
		t.Errorf("what is still bad: %s", q)
	}

	// The rest is corrected in the second quarantine file; the first given again
	// holds nothing new.
	y.correct(name+".replay", `"raw":",2014`, `"raw":"d,2014`)
	y.wantCounts(y.replay(nil, name+".replay"), 1, 1, 0, 0, 0)
	y.correct(name, `"raw":",2014`, `"raw":"d,2014`)
	y.wantCounts(y.replay(nil, name), 2, 0, 0, 2, 0)
	y.wantTrails(
		"a 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1",
		"b 2014-09-01 2014-09-01T11:00:00Z play title=two seconds=8888",
		"c 2014-09-01 2014-09-01T12:00:00Z play title=four seconds=4",
		"d 2014-09-01 2014-09-01T11:30:00Z play title=of\ntwo lines seconds=3",
	)
	y.load(bulkload.ErrNothing, "2014-09-01", "2014-09-01")
}

// TestReplayTakesOneRecordForOne: a corrected text that is two records would give
// the second the column ID of another.
func TestReplayTakesOneRecordForOne(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := newFixture(t, twoKinds)
	y.write(name, withBad)
	y.load(nil, "2014-09-01", "2014-09-01")
	before := strings.Join(y.trails(true), "\n")
	y.correct(name, `two,many`, `two,2\nb,2014-09-01 11:00:00,three,3`)
	r, err := replay.Run(t.Context(), replayOf(y.config("2014-09-01", "2014-09-01")), y.store.Quarantine(name))
	if err == nil || r.Loaded != 0 {
		t.Errorf("%+v, %v; want an error and nothing loaded", r, err)
	}
	if after := strings.Join(y.trails(true), "\n"); after != before {
		t.Errorf("the table holds\n%s\nwant what it held\n%s", after, before)
	}
}

// TestReplayOfACopyIsADuplicate replays a bad record of a file and of its copy. It is loaded
// once.
func TestReplayOfACopyIsADuplicate(t *testing.T) {
	y := newFixture(t, `
logs: {path: "logs/{date}/{behaviour}.*.csv", max_bad: 50%}
user: user
behaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}
`)
	y.write("2014-09-01/play.0.csv", withBad)
	y.write("2014-09-01/play.1.csv", withBad)
	y.wantCounts(y.load(nil, "2014-09-01", "2014-09-01"), 8, 2, 4, 2, 0)
	for _, name := range []string{"2014-09-01/play.0.csv", "2014-09-01/play.1.csv"} {
		y.correct(name, "many", "8")
		y.correct(name, `"raw":",2014`, `"raw":"d,2014`)
	}
	y.wantCounts(y.replay(nil, "2014-09-01/play.0.csv"), 2, 2, 0, 0, 0)
	y.wantCounts(y.replay(nil, "2014-09-01/play.1.csv"), 2, 0, 0, 2, 0)
	if got := y.trails(false); len(got) != 4 {
		t.Errorf("the table holds %q, want 4 behaviours", got)
	}
}

func TestReplayRefusesWhatIsNoQuarantine(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.write("2014-09-01/play.csv", withBad)
	y.load(nil, "2014-09-01", "2014-09-01")
	y.correct("2014-09-01/play.csv", `"path":"2014`, `"path":"2015`)
	y.replay(bulkload.ErrRequest, "2014-09-01/play.csv")
	y.correct("2014-09-01/play.csv", `{"path"`, `"path"`)
	y.replay(bulkload.ErrRequest, "2014-09-01/play.csv")
}

// TestReplayNeedsTheFileThatWasLoaded changes the delivered file before a replay. The column
// names come from this file, so it must be the file that was loaded.
func TestReplayNeedsTheFileThatWasLoaded(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := newFixture(t, twoKinds)
	y.write(name, withBad)
	y.load(nil, "2014-09-01", "2014-09-01")
	y.correct(name, "many", "8")
	y.correct(name, `"raw":",2014`, `"raw":"d,2014`)
	before := y.trails(true)
	y.write(name, strings.Replace(withBad, "time,title", "title,time", 1)+"c,2014-09-01 12:00:00,five,5\n")
	y.replay(bulkload.ErrChanged, name)
	if err := os.Remove(filepath.Join(y.dir, "logs", name)); err != nil {
		t.Fatal(err)
	}
	y.replay(job.ErrNoInput, name)
	if got := y.trails(true); !slices.Equal(got, before) {
		t.Errorf("the table holds %q, want what it held", got)
	}
	y.write(name, withBad)
	y.wantCounts(y.replay(nil, name), 2, 2, 0, 0, 0)
}

// TestReplayKnowsWhatALoadBrought loads a file for one of two behaviours, and then for the
// other, by a job that finds a record bad that is in the table. The replay of that record
// changes nothing, whatever user the job of the replay sees in it.
func TestReplayKnowsWhatALoadBrought(t *testing.T) {
	const (
		name = "2014-09-01/events.csv"
		text = `user,second,time,kind,seconds
a,A,2014-09-01 10:00:00,play,many
b,B,2014-09-01 11:00:00,order,1
c,C,never,play,2
d,D,2014-09-01 12:00:00,order,many
`
		first = `
logs: {path: "logs/{date}/events.csv", behaviour: kind, max_bad: 90%}
user: user
behaviours:
  play: {id: 1}
  order: {id: 2}
`
	)
	grown := strings.NewReplacer("{id: 1}", "{id: 1, fields: {seconds: int64}}", "{id: 2}", "{id: 2, fields: {seconds: int64}}").Replace(first)
	for _, way := range []string{"load", "pieces", "ranges"} {
		t.Run(way, func(t *testing.T) {
			y := newFixture(t, first)
			y.write(name, text)
			load := func(job, kind string) bulkload.Result {
				t.Helper()
				y.jobIs(job)
				size := map[string]int64{"pieces": 1 << 20, "ranges": 60}[way]
				if size == 0 {
					return y.load(nil, "2014-09-01", "2014-09-01", kind)
				}
				parts := y.plan(nil, size, "2014-09-01", "2014-09-01", kind)
				y.doAll(parts)
				return y.commit(nil, parts)
			}
			y.wantCounts(load(first, "play"), 4, 1, 1, 0, 2)
			y.wantCounts(load(grown, "order"), 4, 1, 3, 0, 0)
			y.correct(name, "many", "8")
			y.correct(name, "never", "2014-09-01 13:00:00")
			y.jobIs(strings.Replace(grown, "user: user", "user: second", 1))
			y.wantCounts(y.replay(nil, name), 3, 2, 0, 1, 0)
			y.wantTrails(
				"a 2014-09-01 2014-09-01T10:00:00Z play",
				"b 2014-09-01 2014-09-01T11:00:00Z order seconds=1",
				"C 2014-09-01 2014-09-01T13:00:00Z play seconds=2",
				"D 2014-09-01 2014-09-01T12:00:00Z order seconds=8",
			)
		})
	}
}

// rfcTimes is a job that takes only times of RFC 3339, and anyTimes one that takes others.
const (
	anyTimes = `
logs: {path: "logs/{date}/*.csv", behaviour: kind, max_bad: 90%}
user: user
behaviours:
  play: {id: 1}
  order: {id: 2}
`
	rfcTimes = anyTimes + "time: {column: time, format: rfc3339}\n"
	rfcLog   = `user,time,kind
a,2014-09-01T10:00:00Z,play
b,2014-09-01 11:00:00,play
c,2014-09-01 12:00:00,order
d,2014-09-01T13:00:00Z,order
e,never,order
`
)

// TestReplayFindsTheRecordsOfCopies replays a quarantine file after a copy of its delivered
// file brought the record, to a table whose ledgers do not list bad records.
func TestReplayFindsTheRecordsOfCopies(t *testing.T) {
	const first, second = "2014-09-01/a.csv", "2014-09-01/b.csv"
	y := newFixture(t, rfcTimes)
	y.write(first, rfcLog)
	y.wantCounts(y.load(nil, "2014-09-01", "2014-09-01", "play"), 5, 1, 3, 0, 1)
	kept := y.quarantined(first)
	y.is(anyTimes)
	y.rename(first, second)
	y.wantCounts(y.load(nil, "2014-09-01", "2014-09-01"), 5, 2, 1, 2, 0)
	y.forgetBad()
	y.keepBad(first, kept)
	y.wantCounts(y.replay(bulkload.ErrTooBad, first), 3, 1, 1, 1, 0)
	y.wantTrails(
		"a 2014-09-01 2014-09-01T10:00:00Z play",
		"b 2014-09-01 2014-09-01T11:00:00Z play",
		"c 2014-09-01 2014-09-01T12:00:00Z order",
		"d 2014-09-01 2014-09-01T13:00:00Z order",
	)
}

// forgetBad rewrites the ledgers as a program would write them that does not list bad records.
func (y *fixture) forgetBad() {
	y.t.Helper()
	names, err := filepath.Glob(filepath.Join(y.store.Dir, "loads", "*.json"))
	if err != nil || len(names) == 0 {
		y.t.Fatalf("ledgers %v: %v", names, err)
	}
	listed := regexp.MustCompile(`,?\s*"bad_at":\s*"[^"]*"|(?m:^ "sha256": .*\n)`)
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			y.t.Fatal(err)
		}
		if err := os.WriteFile(name, listed.ReplaceAll(b, nil), 0o644); err != nil {
			y.t.Fatal(err)
		}
	}
	m, name := new(manifest.Table), filepath.Join(y.store.Dir, "manifest.json")
	if err := manifest.Read(y.t.Context(), y.store.FS, name, m); err != nil {
		y.t.Fatal(err)
	}
	for i := range m.Loads {
		m.Loads[i].Size, m.Loads[i].SHA256 = 0, ""
	}
	if err := manifest.Write(y.t.Context(), y.store.FS, name, m); err != nil {
		y.t.Fatal(err)
	}
}
