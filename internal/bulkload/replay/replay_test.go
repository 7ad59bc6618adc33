package replay_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/test/testkit"
)

// TestReplayLoadsWhatWasCorrected replays corrected records. A replayed record gets the row and
// the column ID that it would have had in its log. A record that is still bad is reported. A second
// replay loads nothing.
func TestReplayLoadsWhatWasCorrected(t *testing.T) {
	const name = "2014-09-01/play.csv"
	good := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	good.Write(name, strings.Replace(bulkloadtest.WithBad, "many", "8888", 1))
	good.Load(nil, "2014-09-01", "2014-09-01")

	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 4, 2, 2, 0, 0)
	y.Correct(name, "many", "8888")
	r := y.Replay(bulkload.ErrLeft, name)
	y.WantCounts(r, 2, 1, 1, 0, 0)
	if got, want := y.Trails(true), good.Trails(true); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("after the replay the table has\n%s\nwant the records of the corrected file\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if q := y.Quarantined(name + ".replay"); strings.Count(q, "\n") != 1 || !strings.Contains(q, "of\\ntwo lines") {
		t.Errorf("what is still bad: %s", q)
	}

	// The rest is corrected in the second quarantine file; the first given again
	// holds nothing new.
	y.Correct(name+".replay", `"raw":",2014`, `"raw":"d,2014`)
	y.WantCounts(y.Replay(nil, name+".replay"), 1, 1, 0, 0, 0)
	y.Correct(name, `"raw":",2014`, `"raw":"d,2014`)
	y.WantCounts(y.Replay(nil, name), 2, 0, 0, 2, 0)
	y.WantTrails(
		"a 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1",
		"b 2014-09-01 2014-09-01T11:00:00Z play title=two seconds=8888",
		"c 2014-09-01 2014-09-01T12:00:00Z play title=four seconds=4",
		"d 2014-09-01 2014-09-01T11:30:00Z play title=of\ntwo lines seconds=3",
	)
	y.Load(bulkload.ErrNothing, "2014-09-01", "2014-09-01")
}

// TestReplayTakesOneRecordForOne checks that a corrected text with two records is refused. The
// second record would get the column ID of another record.
func TestReplayTakesOneRecordForOne(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	before := strings.Join(y.Trails(true), "\n")
	y.Correct(name, `two,many`, `two,2\nb,2014-09-01 11:00:00,three,3`)
	r, err := replay.Run(t.Context(), bulkloadtest.ReplayOf(y.Config("2014-09-01", "2014-09-01")), y.Store.Quarantine(name))
	file := y.Store.Quarantine(name)
	if err == nil || !strings.Contains(err.Error(), file+":1: the corrected text has 2 records") || r.Loaded != 0 {
		t.Errorf("%+v, %v; want nothing loaded, and an error with the line of the quarantine file", r, err)
	}
	if len(r.Failed) != 1 || r.Failed[0].Path != file {
		t.Errorf("failed %+v, want %s", r.Failed, file)
	}
	if after := strings.Join(y.Trails(true), "\n"); after != before {
		t.Errorf("the table has\n%s\nwant the records from before\n%s", after, before)
	}
}

// TestReplayOfACopyIsADuplicate replays a bad record of a file and of its copy. It is loaded
// once.
func TestReplayOfACopyIsADuplicate(t *testing.T) {
	y := bulkloadtest.New(t, `
logs: {path: "logs/{date}/{behaviour}.*.csv", max_bad: 50%}
user: user
behaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}
`)
	y.Write("2014-09-01/play.0.csv", bulkloadtest.WithBad)
	y.Write("2014-09-01/play.1.csv", bulkloadtest.WithBad)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 8, 2, 4, 2, 0)
	for _, name := range []string{"2014-09-01/play.0.csv", "2014-09-01/play.1.csv"} {
		y.Correct(name, "many", "8")
		y.Correct(name, `"raw":",2014`, `"raw":"d,2014`)
	}
	y.WantCounts(y.Replay(nil, "2014-09-01/play.0.csv"), 2, 2, 0, 0, 0)
	y.WantCounts(y.Replay(nil, "2014-09-01/play.1.csv"), 2, 0, 0, 2, 0)
	if got := y.Trails(false); len(got) != 4 {
		t.Errorf("the table holds %q, want 4 events", got)
	}
}

func TestReplayRefusesWhatIsNoQuarantine(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	forgetDigests(y, "2014-09-01/play.csv")
	y.Correct("2014-09-01/play.csv", `"path":"2014`, `"path":"2015`)
	y.Replay(bulkload.ErrRequest, "2014-09-01/play.csv")
	y.Correct("2014-09-01/play.csv", `{"path"`, `"path"`)
	y.Replay(bulkload.ErrRequest, "2014-09-01/play.csv")
}

// TestATextReplacesBytes corrects a record that is not UTF-8. Its line has no text, and the user writes one.
func TestATextReplacesBytes(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, "user,time,title,seconds\na,2014-09-01 10:00:00,one,1\nb,2014-09-01 11:00:00,caf\xe9,2\n")
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Replay(replay.ErrUnchanged, name)
	y.Correct(name, `"raw":""`, `"raw":"b,2014-09-01 11:00:00,café,2"`)
	y.WantCounts(y.Replay(nil, name), 1, 1, 0, 0, 0)
}

// TestReplayOfALogWithoutNames corrects a record of a log that has no header. The job reads columns by number or from the
// whole line, and has no names.
func TestReplayOfALogWithoutNames(t *testing.T) {
	byNumber := `
user: $2
time: $1
behaviours: {join: {id: 1, fields: {room: {column: $4}}}}
`
	byLine := `
user: {column: $line, pattern: "u[0-9]+"}
time: {column: $line, pattern: "^[0-9a-zT:-]+"}
behaviours: {join: {id: 1, fields: {room: {column: $line, pattern: "room[0-9]"}}}}
`
	for _, c := range []struct{ format, delimiter, behaviour, columns string }{
		{"csv, header: false", ",", "$3", byNumber},
		{"tsv, header: false", "\t", "$3", byNumber},
		{"blanks", " ", "$3", byNumber},
		{"csv, header: false", ",", "", byNumber},
		{"csv, header: false", ",", `{column: $line, pattern: "join"}`, byLine},
	} {
		name, behaviour := "2014-09-01.log", ""
		if c.behaviour != "" {
			behaviour = ", behaviour: " + c.behaviour
		}
		y := bulkloadtest.New(t, "\nlogs: {path: \"logs/{date}.log\", max_bad: 50%, format: "+c.format+behaviour+"}"+c.columns)
		y.Write(name, strings.ReplaceAll("2014-09-01T10:00:00 u1 join room1\nyesterday u2 join room2\n", " ", c.delimiter))
		y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 2, 1, 1, 0, 0)
		y.Correct(name, "yesterday", "2014-09-01T11:00:00")
		y.WantCounts(y.Replay(nil, name), 1, 1, 0, 0, 0)
		y.WantTrails(
			"u1 2014-09-01 2014-09-01T10:00:00Z join room=room1",
			"u2 2014-09-01 2014-09-01T11:00:00Z join room=room2",
		)
	}
}

// TestReplayNeedsTheFileThatWasLoaded changes the delivered file before a replay. The column
// names come from this file, so it must be the file that was loaded.
func TestReplayNeedsTheFileThatWasLoaded(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := loadCorrected(t, name)
	before := y.Trails(true)
	y.Write(name, strings.Replace(bulkloadtest.WithBad, "time,title", "title,time", 1)+"c,2014-09-01 12:00:00,five,5\n")
	y.Replay(bulkload.ErrChanged, name)
	if err := os.Remove(filepath.Join(y.Dir, "logs", name)); err != nil {
		t.Fatal(err)
	}
	y.Replay(job.ErrNoInput, name)
	if got := y.Trails(true); !slices.Equal(got, before) {
		t.Errorf("the table has %q, want the records from before", got)
	}
	y.Write(name, bulkloadtest.WithBad)
	y.WantCounts(y.Replay(nil, name), 2, 2, 0, 0, 0)
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
			y := bulkloadtest.New(t, first)
			y.Write(name, text)
			load := func(job, kind string) bulkload.Result {
				t.Helper()
				y.SetJob(job)
				return y.LoadBy(way, nil, "2014-09-01", kind)
			}
			y.WantCounts(load(first, "play"), 4, 1, 1, 0, 2)
			y.WantCounts(load(grown, "order"), 4, 1, 3, 0, 0)
			y.Correct(name, "many", "8")
			y.Correct(name, "never", "2014-09-01 13:00:00")
			y.SetJob(strings.Replace(grown, "user: user", "user: second", 1))
			y.WantCounts(y.Replay(bulkload.ErrLeft, name), 3, 2, 0, 1, 0) // one of them is in the table without its seconds
			y.WantTrails(
				"a 2014-09-01 2014-09-01T10:00:00Z play",
				"b 2014-09-01 2014-09-01T11:00:00Z order seconds=1",
				"C 2014-09-01 2014-09-01T13:00:00Z play seconds=2",
				"D 2014-09-01 2014-09-01T12:00:00Z order seconds=8",
			)
		})
	}
}

// rfcTimes is a job that accepts only times of RFC 3339. anyTimes is a job that also accepts
// others.
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
	y := bulkloadtest.New(t, rfcTimes)
	y.Write(first, rfcLog)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01", "play"), 5, 1, 3, 0, 1)
	kept := y.Quarantined(first)
	y.SetJob(anyTimes)
	y.Rename(first, second)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 5, 2, 1, 2, 0)
	forgetBad(y)
	y.KeepBad(first, kept)
	y.WantCounts(y.Replay(bulkload.ErrLeft, first), 3, 1, 1, 1, 0)
	y.WantTrails(
		"a 2014-09-01 2014-09-01T10:00:00Z play",
		"b 2014-09-01 2014-09-01T11:00:00Z play",
		"c 2014-09-01 2014-09-01T12:00:00Z order",
		"d 2014-09-01 2014-09-01T13:00:00Z order",
	)
}

// forgetBad rewrites the ledgers as a program would write them that does not list bad records.
func forgetBad(y *bulkloadtest.Fixture) {
	y.T.Helper()
	forget(y, `,?\s*"bad_at":\s*"[^"]*"`)
}

// forget rewrites the ledgers without the text that a pattern matches.
func forget(y *bulkloadtest.Fixture, pattern string) {
	y.T.Helper()
	names, err := filepath.Glob(filepath.Join(y.Store.Dir, "loads", "*.json"))
	if err != nil || len(names) == 0 {
		y.T.Fatalf("ledgers %v: %v", names, err)
	}
	listed := regexp.MustCompile(pattern + `|(?m:^ "sha256": .*\n)`)
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			y.T.Fatal(err)
		}
		testkit.WriteFile(y.T, name, string(listed.ReplaceAll(b, nil)))
	}
	m, name := new(manifest.Table), filepath.Join(y.Store.Dir, "manifest.json")
	if err := manifest.Read(y.T.Context(), y.Store.FS, name, m); err != nil {
		y.T.Fatal(err)
	}
	for i := range m.Loads {
		m.Loads[i].Size, m.Loads[i].SHA256 = 0, ""
	}
	if err := manifest.Write(y.T.Context(), y.Store.FS, name, m); err != nil {
		y.T.Fatal(err)
	}
}

// TestReplayOfAPartialCopy replays the bad records of a file and of its copy. Each is loaded
// once, although the copy added records, too.
func TestReplayOfAPartialCopy(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.MixedJob)
	y.Write("a.csv", "user,time,kind,title\na,2014-09-01 10:00:00,play,x\nb,never,play,x\na,2014-09-02 10:00:00,play,y\n")
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 3, 1, 1, 0, 1)
	y.Rename("a.csv", "b.csv")
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-02"), 3, 1, 1, 1, 0)
	for i, name := range []string{"b.csv", "a.csv"} {
		y.Correct(name, "never", "2014-09-01 11:00:00")
		y.WantCounts(y.Replay(nil, name), 1, int64(1-i), 0, int64(i), 0)
	}
	y.WantTrails(
		"a 2014-09-01 2014-09-01T10:00:00Z play title=x",
		"a 2014-09-02 2014-09-02T10:00:00Z play title=y",
		"b 2014-09-01 2014-09-01T11:00:00Z play title=x",
	)
}

// TestALoadKnowsWhatAReplayBrought replays a bad record of a file that was loaded in part, by a job that
// finds the record good. The load of the rest of the file then skips that record. So does the load
// of a copy of the file.
func TestALoadKnowsWhatAReplayBrought(t *testing.T) {
	const name, copied = "2014-09-01/a.csv", "2014-09-01/b.csv"
	want := []string{
		"a 2014-09-01 2014-09-01T10:00:00Z play",
		"b 2014-09-01 2014-09-01T11:00:00Z play",
		"c 2014-09-01 2014-09-01T12:00:00Z order",
		"d 2014-09-01 2014-09-01T13:00:00Z order",
	}
	replayed := func(t *testing.T) *bulkloadtest.Fixture {
		t.Helper()
		y := bulkloadtest.New(t, rfcTimes)
		y.Write(name, rfcLog)
		y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01", "play"), 5, 1, 3, 0, 1)
		y.SetJob(anyTimes)
		y.WantCounts(y.Replay(bulkload.ErrLeft, name), 3, 2, 1, 0, 0)
		return y
	}
	for _, size := range []int64{0, 1 << 20, 60} {
		load := func(y *bulkloadtest.Fixture) bulkload.Result {
			if size == 0 {
				return y.Load(nil, "2014-09-01", "2014-09-01")
			}
			parts := y.Plan(nil, size, "2014-09-01", "2014-09-01")
			y.DoAll(parts)
			return y.Commit(nil, parts)
		}
		t.Run(fmt.Sprintf("pieces of %d bytes", size), func(t *testing.T) {
			y := replayed(t)
			y.WantCounts(load(y), 5, 1, 1, 1, 2)
			y.WantTrails(want...)
		})
		t.Run(fmt.Sprintf("copy in pieces of %d bytes", size), func(t *testing.T) {
			y := replayed(t)
			y.Rename(name, copied)
			y.WantCounts(load(y), 5, 1, 1, 3, 0)
			y.WantTrails(want...)
		})
		if size == 0 {
			continue
		}
		t.Run(fmt.Sprintf("pieces of %d bytes before the replay", size), func(t *testing.T) {
			y := bulkloadtest.New(t, rfcTimes)
			y.Write(name, rfcLog)
			y.Load(nil, "2014-09-01", "2014-09-01", "play")
			y.SetJob(anyTimes)
			parts := y.Plan(nil, size, "2014-09-01", "2014-09-01")
			y.DoAll(parts)
			y.Replay(bulkload.ErrLeft, name)
			y.Commit(pieces.ErrStale, parts)
			parts = y.Plan(nil, size, "2014-09-01", "2014-09-01")
			y.DoAll(parts)
			y.WantCounts(y.Commit(nil, parts), 5, 1, 1, 1, 2)
			y.WantTrails(want...)
		})
	}
}

// TestALoadOfPutsKnowsWhatAReplayBrought is TestALoadKnowsWhatAReplayBrought for a load that puts.
func TestALoadOfPutsKnowsWhatAReplayBrought(t *testing.T) {
	p := bulkloadtest.NewHBase(t)
	p.SetJob(rfcTimes)
	p.Write("2014-09-01/play.csv", rfcLog)
	if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1, "play"); err != nil {
		t.Fatal(err)
	}
	p.SetJob(anyTimes)
	if r, err := replays(p, t.Context(), "2014-09-01/play.csv"); !errors.Is(err, bulkload.ErrLeft) || r.Loaded != 2 {
		t.Fatalf("the replay: %+v, %v; want 2 loaded, and one bad", r.Counts, err)
	}
	r, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1)
	if want := (manifest.Counts{Read: 5, Loaded: 1, Quarantined: 1, Duplicate: 1, Skipped: 2, Skips: manifest.Skips{LoadedBefore: 2}}); err != nil || r.Counts != want {
		t.Errorf("the load of the rest: %+v, %v; want %+v", r.Counts, err, want)
	}
	var told int64
	for _, l := range p.Ledgers() {
		for _, d := range l.Days {
			told += d.Tally.Cells
		}
	}
	if got := len(p.Cells()); int64(got) != told {
		t.Errorf("the table has %d cells, and its ledgers count %d", got, told)
	}
}

// TestATextMayNotBeginWithAnEmptyLine has a good and a bad text with an empty line before it. Each would have the place of another record.
func TestATextMayNotBeginWithAnEmptyLine(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(name, ",many", ",8")
	for _, text := range []string{`"raw":"b,2014`, `"raw":",2014`} {
		begun := strings.Replace(text, `:"`, `:"\n`, 1)
		y.Correct(name, text, begun)
		before := y.Quarantined(name)
		if _, err := replayed(y, name); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "begins with an empty line") {
			t.Errorf("%s: %v, want ErrRequest", begun, err)
		}
		if y.Quarantined(name) != before {
			t.Errorf("the quarantine file has\n%s\nwant\n%s", y.Quarantined(name), before)
		}
		y.Correct(name, begun, text)
	}
	y.WantCounts(y.Replay(bulkload.ErrLeft, name), 2, 1, 1, 0, 0)
}

// TestAReplayByAJobWithALaterColumn replays a log that is older than a column of the job. It must not have the
// log delivered again: the table has its other records. By the older job the record is loaded.
func TestAReplayByAJobWithALaterColumn(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(name, ",many", ",8")
	before := y.Trails(true)
	y.SetJob(strings.Replace(bulkloadtest.TwoKinds, "seconds: int64", "seconds: int64, device: string", 1))
	r, err := replayed(y, name)
	said := fmt.Sprint(err, r.Failed)
	if !errors.Is(err, bulkload.ErrTooBad) || !strings.Contains(said, "replay with a copy of the job that does not have the column") || strings.Contains(said, "delivered again") {
		t.Errorf("%v, %+v; want the advice to replay by another job", err, r)
	}
	if got := y.Trails(true); !slices.Equal(got, before) {
		t.Errorf("the table has %q, want %q", got, before)
	}
	y.SetJob(bulkloadtest.TwoKinds)
	if r, err := replayed(y, name); r.Loaded != 1 || !errors.Is(err, bulkload.ErrLeft) {
		t.Errorf("by the older job: %+v, %v; want one record, and another that is bad still", r, err)
	}
}
