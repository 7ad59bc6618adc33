package load_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/table/precheck"
)

// refusedNight returns 20 good plays and three with invalid times, and the same plays with valid
// times, whose records have other offsets.
func refusedNight() (bad, corrected string) {
	bad = "user,time,title,seconds\n"
	corrected = bad
	for n := range 23 {
		when := fmt.Sprintf("2014-09-01 10:00:%02d", n)
		line := fmt.Sprintf("u%d,%%s,one,%d\n", n, n)
		corrected += fmt.Sprintf(line, when)
		if n%8 == 7 || n == 0 {
			when = "never"
		}
		bad += fmt.Sprintf(line, when)
	}
	return bad, corrected
}

// strict is a job that allows one bad record of ten.
var strict = strings.Replace(twoKinds, "50%", "10%", 1)

// digests matches the digests in the lines of a quarantine file.
var digests = regexp.MustCompile(`,"sha256":"[0-9a-f]{64}"`)

// forgetDigests makes a quarantine file one of before lines told digests.
func (y *fixture) forgetDigests(name string) {
	y.t.Helper()
	text := y.quarantined(name)
	if !digests.MatchString(text) {
		y.t.Fatalf("no line tells a digest:\n%s", text)
	}
	y.keepBad(name, digests.ReplaceAllString(text, ""))
}

func (y *fixture) keepBad(name, text string) {
	y.t.Helper()
	if err := os.WriteFile(y.store.Quarantine(name), []byte(text), 0o644); err != nil {
		y.t.Fatal(err)
	}
}

// TestARefusedFileComesOnce refuses a file, loads it when it is corrected, and replays the
// quarantine file of the first delivery, which somebody has kept.
func TestARefusedFileComesOnce(t *testing.T) {
	const name = "2014-09-01/play.csv"
	bad, corrected := refusedNight()
	for _, way := range []string{"load", "pieces", "ranges"} {
		t.Run(way, func(t *testing.T) {
			y := newFixture(t, strict)
			y.jobIs(strict)
			size := map[string]int64{"pieces": 1 << 20, "ranges": 300}[way]
			load := func(want error) bulkload.Result {
				t.Helper()
				if size == 0 {
					return y.load(want, "2014-09-01", "2014-09-01")
				}
				parts := y.plan(nil, size, "2014-09-01", "2014-09-01")
				if (len(parts) > 1) != (way == "ranges") {
					t.Fatalf("%d pieces", len(parts))
				}
				y.doAll(parts)
				return y.commit(want, parts)
			}
			y.write(name, bad)
			load(bulkload.ErrTooBad)
			kept := y.quarantined(name)
			if n := len(digests.FindAllString(kept, -1)); n != 3 {
				t.Errorf("%d lines tell a digest, want 3:\n%s", n, kept)
			}
			y.write(name, corrected)
			y.wantCounts(load(nil), 23, 23, 0, 0, 0)
			y.replay(job.ErrNoInput, name) // it is removed
			want := y.trails(true)
			y.keepBad(name, kept)
			y.correct(name, "never", "2014-09-01 10:00:00")
			y.replay(bulkload.ErrRequest, name)
			y.forgetDigests(name)
			y.replay(bulkload.ErrRequest, name)
			if got := y.trails(true); !slices.Equal(got, want) || len(got) != 23 {
				t.Errorf("the table holds %d records, want the %d that it held", len(got), len(want))
			}
		})
	}
}

// TestOldQuarantineFilesAreReplayed: lines without a digest must be bad in the delivered file.
func TestOldQuarantineFilesAreReplayed(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := newFixture(t, twoKinds)
	y.write(name, withBad)
	y.load(nil, "2014-09-01", "2014-09-01")
	y.forgetDigests(name)
	y.correct(name, "many", "8")
	y.correct(name, `"raw":",2014`, `"raw":"d,2014`)
	kept := y.quarantined(name)
	delivered := filepath.Join(y.dir, "logs", name)
	if err := os.Rename(delivered, delivered+".away"); err != nil {
		t.Fatal(err)
	}
	y.replay(bulkload.ErrRequest, name)
	if err := os.Rename(delivered+".away", delivered); err != nil {
		t.Fatal(err)
	}
	y.correct(name, `"line":3`, `"line":2`)
	y.replay(bulkload.ErrRequest, name)
	y.keepBad(name, kept)
	y.wantCounts(y.replay(nil, name), 2, 2, 0, 0, 0)
}

// TestQuarantineStaysWhereItIsNeeded: a line that a load found bad is in the table only if it
// is replayed, whatever a later load of another part of the file finds.
func TestQuarantineStaysWhereItIsNeeded(t *testing.T) {
	const seconds = "logs: {path: \"logs/*.csv\", max_bad: 70%}\nuser: user\nbehaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}\n"
	y := newFixture(t, seconds)
	y.write("a.csv", "user,time,title,seconds\na,2014-09-01 10:00:00,one,1\nb,2014-09-01 11:00:00,two,many\nc,2014-09-02 10:00:00,three,many\n")
	y.wantCounts(y.load(nil, "2014-09-01", "2014-09-01"), 3, 1, 2, 0, 0)
	y.is(strings.Replace(seconds, ", seconds: int64", "", 1))
	y.wantCounts(y.load(nil, "2014-09-02", "2014-09-02"), 3, 1, 0, 0, 2)
	// By this job both lines are good. The second load brought the one of its day.
	y.wantCounts(y.replay(nil, "a.csv"), 2, 1, 0, 1, 0)
	y.wantTrails(
		"a 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1",
		"b 2014-09-01 2014-09-01T11:00:00Z play title=two",
		"c 2014-09-02 2014-09-02T10:00:00Z play title=three",
	)
	loads := y.ledgers()
	if got := loads[len(loads)-1].Inputs[0].Offsets; len(got) != 1 {
		t.Errorf("the replay brought the offsets %v, want one", got)
	}
}

// replays replays a quarantine file into HBase by puts.
func (p *hbaseFixture) replays(ctx context.Context, name string) (bulkload.Result, error) {
	p.t.Helper()
	store := p.connect(local.New())
	defer store.Close()
	cfg := p.config("2014-09-01", "2014-09-01")
	cfg.Store, cfg.Mode = store, bulkload.Put
	return replay.Run(ctx, replayOf(cfg), store.Quarantine(name))
}

// TestAKilledReplayIsRepeated kills a replay after its cells are put and before its ledger is
// written. The same replay then reports these records as loaded, because no ledger lists them.
func TestAKilledReplayIsRepeated(t *testing.T) {
	const name = "2014-09-01/play.csv"
	p := newHBaseFixture(t)
	p.write(name, withBad)
	if _, err := p.puts(t.Context(), "2014-09-01", "2014-09-01", 1); err != nil {
		t.Fatal(err)
	}
	store := p.connect(local.New())
	file := store.Quarantine(name)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	corrected := strings.ReplaceAll(strings.ReplaceAll(string(text), "many", "8"), `"raw":",2014`, `"raw":"d,2014`)
	if err := os.WriteFile(file, []byte(corrected), 0o644); err != nil {
		t.Fatal(err)
	}
	before := len(p.cells())
	ctx, kill := context.WithCancel(t.Context())
	p.hbase.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		if c.Method == "Multi" {
			defer kill()
			return hbasetest.Fault{Drop: true}
		}
		return hbasetest.Fault{}
	}})
	if _, err := p.replays(ctx, name); !errors.Is(err, context.Canceled) {
		t.Fatalf("a killed replay: %v, want it cancelled", err)
	}
	p.hbase.SetHooks(hbasetest.Hooks{})
	for i, want := range []manifest.Counts{{Read: 2, Loaded: 2}, {Read: 2, Duplicate: 2}} {
		if r, err := p.replays(t.Context(), name); err != nil || r.Counts != want {
			t.Fatalf("replay %d: %+v, %v; want %+v", i+1, r.Counts, err, want)
		}
	}
	var told int64
	for _, l := range p.ledgers() {
		for _, d := range l.Days {
			told += d.Tally.Cells
		}
	}
	if got := len(p.cells()); int64(got) != told || got <= before {
		t.Errorf("the table has %d cells, %d before the replay, and its ledgers tell of %d", got, before, told)
	}
}

// TestQuarantineFilesOfAllPaths: each path has a quarantine file of its own, however long it is.
func TestQuarantineFilesOfAllPaths(t *testing.T) {
	y := newFixture(t, "logs: {path: [\"logs/*.csv\", \"logs/*/*.csv\"], max_bad: 50%}\nuser: user\nbehaviours: {play: {id: 1, fields: {title: string}}}\n")
	names := []string{"a/b.csv", "a__b.csv", "a_/b.csv", "a/_b.csv", strings.Repeat("f", 200) + "/" + strings.Repeat("g", 200) + ".csv", strings.Repeat("ü", 120) + ".csv"}
	var want []string
	for i, name := range names {
		if i == 3 {
			continue // wildcards leave names out that begin so
		}
		y.write(name, fmt.Sprintf("user,time,title\ngood%d,2014-09-01 10:00:00,x\nbad%d,never,x\n", i, i))
		want = append(want, fmt.Sprintf("good%d 2014-09-01 2014-09-01T10:00:00Z play title=x", i), fmt.Sprintf("bad%d 2014-09-01 2014-09-01T11:00:00Z play title=x", i))
	}
	y.wantCounts(y.load(nil, "2014-09-01", "2014-09-01"), 10, 5, 5, 0, 0)
	for i, name := range names {
		if i == 3 {
			continue
		}
		y.correct(name, "never", "2014-09-01 11:00:00")
		y.wantCounts(y.replay(nil, name), 1, 1, 0, 0, 0)
	}
	y.wantTrails(want...)
}

// TestReplayFindsTheCorrection: a line that is still bad may stand next to its correction.
func TestReplayFindsTheCorrection(t *testing.T) {
	const name = "2014-09-01/play.csv"
	for _, order := range [][]string{{"many", "8"}, {"8", "many"}, {"many", "8", "8", "many"}} {
		y := newFixture(t, twoKinds)
		y.write(name, withBad)
		y.load(nil, "2014-09-01", "2014-09-01")
		line, rest, _ := strings.Cut(y.quarantined(name), "\n")
		text := strings.ReplaceAll(rest, `"raw":",2014`, `"raw":"d,2014`)
		for _, seconds := range order {
			text += strings.ReplaceAll(line, "many", seconds) + "\n"
		}
		n := int64(len(order))
		y.keepBad(name, text)
		y.wantCounts(y.replay(nil, name), n+1, 2, 0, n-1, 0)
		if q := y.quarantined(name + ".replay"); q != "" {
			t.Errorf("%v: still bad is said to be %s", order, q)
		}
		y.wantTrails(
			"a 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1",
			"b 2014-09-01 2014-09-01T11:00:00Z play title=two seconds=8",
			"c 2014-09-01 2014-09-01T12:00:00Z play title=four seconds=4",
			"d 2014-09-01 2014-09-01T11:30:00Z play title=of\ntwo lines seconds=3",
		)
	}
	y := newFixture(t, twoKinds)
	y.write(name, withBad)
	y.load(nil, "2014-09-01", "2014-09-01")
	before := y.trails(true)
	line, _, _ := strings.Cut(y.quarantined(name), "\n")
	y.keepBad(name, strings.ReplaceAll(line, "many", "8")+"\n"+strings.ReplaceAll(line, "many", "9")+"\n")
	y.replay(bulkload.ErrRequest, name)
	if got := y.trails(true); !slices.Equal(got, before) {
		t.Errorf("the table holds %q, want what it held", got)
	}
}

// TestNamesMustBeUTF8: a file that the table cannot remember is left out, each time; the
// others are loaded.
func TestNamesMustBeUTF8(t *testing.T) {
	y := newFixture(t, twoKinds)
	y.jobIs(twoKinds)
	y.write("2014-09-01/play.\xb5\xe7.csv", plays)
	r := y.load(bulkload.ErrRequest, "2014-09-01", "2014-09-01")
	if len(r.Failed) != 1 || r.Files != 0 || !strings.Contains(r.Failed[0].Error, `\xb5\xe7.csv`) || !strings.Contains(r.Failed[0].Error, "rename") {
		t.Errorf("%+v; want one failed file whose error names it and what to do", r)
	}
	y.write("2014-09-01/play.csv", plays+"c,2014-09-01 12:00:00,three,3\n")
	y.wantCounts(y.load(bulkload.ErrRequest, "2014-09-01", "2014-09-01"), 3, 3, 0, 0, 0)
	y.wantCounts(y.load(bulkload.ErrRequest, "2014-09-01", "2014-09-01"), 0, 0, 0, 0, 0)
	y.plan(bulkload.ErrRequest, 1<<20, "2014-09-01", "2014-09-01")
	checks, err := load.PreCheck(t.Context(), y.config("2014-09-01", "2014-09-01"))
	if err != nil || !errors.Is(precheck.Failure(checks), bulkload.ErrRequest) {
		t.Errorf("the pre-check says %+v, %v", checks, err)
	}
}

// TestAQuarantineFileKeepsWhatALoadOfAPartLeft loads a file for one behaviour, and by a job
// with other times for the other one. The records that only the first load found bad are read
// by no later load: the second quarantine file has them, too.
func TestAQuarantineFileKeepsWhatALoadOfAPartLeft(t *testing.T) {
	const name = "2014-09-01/a.csv"
	for _, way := range []string{"load", "pieces", "ranges"} {
		t.Run(way, func(t *testing.T) {
			y := newFixture(t, rfcTimes)
			y.write(name, rfcLog)
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
			y.wantCounts(load(rfcTimes, "play"), 5, 1, 3, 0, 1)
			before := y.quarantined(name)
			y.wantCounts(load(anyTimes, "order"), 5, 2, 1, 0, 2)
			if got := y.quarantined(name); wantLines(got, before, 0, 1) != "" || strings.Count(got, "\n") != 3 || !strings.Contains(got, "e,never") {
				t.Errorf("the quarantine file is\n%swant the record that is bad now after two of\n%s", got, before)
			}
			y.wantCounts(y.replay(bulkload.ErrTooBad, name), 3, 1, 1, 1, 0)
			y.wantTrails(
				"a 2014-09-01 2014-09-01T10:00:00Z play",
				"b 2014-09-01 2014-09-01T11:00:00Z play",
				"c 2014-09-01 2014-09-01T12:00:00Z order",
				"d 2014-09-01 2014-09-01T13:00:00Z order",
			)
		})
	}
}

// wantLines returns the first of some lines of want that is not in text.
func wantLines(text, want string, lines ...int) string {
	for _, n := range lines {
		if line := strings.SplitAfter(want, "\n")[n]; !strings.Contains(text, line) {
			return line
		}
	}
	return ""
}

// TestReplaysOfCopiesKeepWhatIsStillBad replays the quarantine files of a file and of its copy.
// Records that are still bad go to one file. That file loses only records that were replayed
// again.
func TestReplaysOfCopiesKeepWhatIsStillBad(t *testing.T) {
	const first, second = "2014-09-01/a.csv", "2014-09-01/b.csv"
	y := newFixture(t, rfcTimes)
	y.write(first, rfcLog)
	y.wantCounts(y.load(nil, "2014-09-01", "2014-09-01"), 5, 2, 3, 0, 0)
	y.write(second, rfcLog)
	y.wantCounts(y.load(nil, "2014-09-01", "2014-09-01"), 5, 0, 3, 2, 0)
	lines := strings.SplitAfter(y.quarantined(second), "\n")
	y.keepBad(second, lines[0]+lines[2])
	lines = strings.SplitAfter(y.quarantined(first), "\n")
	y.keepBad(first, lines[1])
	y.wantCounts(y.replay(bulkload.ErrTooBad, first), 1, 0, 1, 0, 0)
	y.wantCounts(y.replay(bulkload.ErrTooBad, second), 2, 0, 2, 0, 0)
	again := first + ".replay"
	if got := y.quarantined(again); !strings.Contains(got, "b,2014") || !strings.Contains(got, "c,2014") || strings.Count(got, "\n") != 3 {
		t.Errorf("of three records that are bad again the file has\n%s", got)
	}
	y.correct(again, "b,2014-09-01 11:00:00", "b,2014-09-01T11:00:00Z")
	y.wantCounts(y.replay(bulkload.ErrTooBad, again), 3, 1, 2, 0, 0)
	if got := y.quarantined(again); strings.Contains(got, "b,2014") || strings.Count(got, "\n") != 2 {
		t.Errorf("of two records that are still bad the file has\n%s", got)
	}
}
