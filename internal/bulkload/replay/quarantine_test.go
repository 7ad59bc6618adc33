package replay_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/test/testkit"
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
var strict = strings.Replace(bulkloadtest.TwoKinds, "50%", "10%", 1)

// forgetDigests makes a quarantine file one of before lines told digests.
func forgetDigests(y *bulkloadtest.Fixture, name string) {
	y.T.Helper()
	text := y.Quarantined(name)
	if !bulkloadtest.Digests.MatchString(text) {
		y.T.Fatalf("no line tells a digest:\n%s", text)
	}
	y.KeepBad(name, bulkloadtest.Digests.ReplaceAllString(text, ""))
}

// TestARefusedFileComesOnce refuses a file, loads it when it is corrected, and replays the
// quarantine file of the first delivery, of which the user has kept a copy.
func TestARefusedFileComesOnce(t *testing.T) {
	const name = "2014-09-01/play.csv"
	bad, corrected := refusedNight()
	for _, way := range []string{"load", "pieces", "ranges"} {
		t.Run(way, func(t *testing.T) {
			y := bulkloadtest.New(t, strict)
			size := map[string]int64{"pieces": 1 << 20, "ranges": 300}[way]
			load := func(want error) bulkload.Result {
				t.Helper()
				if size == 0 {
					return y.Load(want, "2014-09-01", "2014-09-01")
				}
				parts := y.Plan(nil, size, "2014-09-01", "2014-09-01")
				if (len(parts) > 1) != (way == "ranges") {
					t.Fatalf("%d pieces", len(parts))
				}
				y.DoAll(parts)
				return y.Commit(want, parts)
			}
			y.Write(name, bad)
			load(bulkload.ErrTooBad)
			kept := y.Quarantined(name)
			if n := len(bulkloadtest.Digests.FindAllString(kept, -1)); n != 3 {
				t.Errorf("%d lines tell a digest, want 3:\n%s", n, kept)
			}
			y.Write(name, corrected)
			y.WantCounts(load(nil), 23, 23, 0, 0, 0)
			y.Replay(job.ErrNoInput, name) // it is removed
			want := y.Trails(true)
			y.KeepBad(name, kept)
			y.Correct(name, "never", "2014-09-01 10:00:00")
			y.Replay(bulkload.ErrRequest, name)
			forgetDigests(y, name)
			y.Replay(bulkload.ErrRequest, name)
			if got := y.Trails(true); !slices.Equal(got, want) || len(got) != 23 {
				t.Errorf("the table holds %d records, want the %d that it held", len(got), len(want))
			}
		})
	}
}

// grows is a file system in which a file has one more line from its second opening on.
type grows struct {
	dfs.FS
	name, line string
	opened     *int
}

// Open implements dfs.FS.
func (g grows) Open(ctx context.Context, name string) (dfs.File, error) {
	if name == g.name {
		if *g.opened++; *g.opened == 2 {
			text, err := dfs.ReadFile(ctx, g.FS, name)
			if err == nil {
				err = dfs.WriteFile(ctx, g.FS, name, append(text, g.line...))
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return g.FS.Open(ctx, name)
}

// TestAQuarantineFileThatGrowsIsNotReplayed adds a line to a quarantine file between the check of its lines and the replay. Nothing is
// loaded. The same replay again loads both lines.
func TestAQuarantineFileThatGrowsIsNotReplayed(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(name, "many", "8888")
	y.Correct(name, `"raw":",2014`, `"raw":"d,2014`)
	file, lines := y.Store.Quarantine(name), strings.SplitAfter(y.Quarantined(name), "\n")
	y.KeepBad(name, lines[0])
	before := y.Trails(true)
	cfg := bulkloadtest.ReplayOf(y.Config("2014-09-01", "2014-09-01"))
	cfg.FS = grows{cfg.FS, file, lines[1], new(int)}
	r, err := replay.Run(t.Context(), cfg, file)
	if want := file + " changed after its lines were checked: replay a file that no program writes"; err == nil || !strings.Contains(err.Error(), want) || r.Loaded != 0 {
		t.Errorf("%d records were loaded, %v; want %q", r.Loaded, err, want)
	}
	if got := y.Trails(true); !slices.Equal(got, before) {
		t.Errorf("the table holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
	}
	y.WantCounts(y.Replay(nil, name), 2, 2, 0, 0, 0)
}

// TestCorrectionsOfAnEarlierDeliveryAreKept corrects a line of a refused file, and delivers the file again, with and without bad records.
func TestCorrectionsOfAnEarlierDeliveryAreKept(t *testing.T) {
	const name = "2014-09-01/play.csv"
	bad, corrected := refusedNight()
	for _, way := range []string{"load", "pieces", "ranges"} {
		for what, again := range map[string]string{"refused": bad + "u9,never,one,9\n", "good": corrected} {
			t.Run(way+"/"+what, func(t *testing.T) {
				y := bulkloadtest.New(t, strict)
				y.Write(name, bad)
				y.LoadBy(way, bulkload.ErrTooBad, "2014-09-01")
				y.Correct(name, "u7,never,one", "u7,2014-09-01 10:00:00,one")
				want := strings.SplitAfter(y.Quarantined(name), "\n")[1]
				y.Write(name, again)
				err := map[string]error{"refused": bulkload.ErrTooBad}[what]
				y.LoadBy(way, err, "2014-09-01")
				kept, globErr := filepath.Glob(y.Store.Quarantine(name) + ".kept-*")
				if globErr != nil || len(kept) != 1 {
					t.Fatalf("%q, %v; want a file of the corrected line", kept, globErr)
				}
				if got, err := os.ReadFile(kept[0]); err != nil || string(got) != want {
					t.Errorf("%s has\n%s\nwant\n%s%v", kept[0], got, want, err)
				}
			})
		}
	}
}

// TestOldQuarantineFilesAreReplayed replays lines without a digest. Their records must be bad in
// the delivered file.
func TestOldQuarantineFilesAreReplayed(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	forgetDigests(y, name)
	y.Correct(name, "many", "8")
	y.Correct(name, `"raw":",2014`, `"raw":"d,2014`)
	kept := y.Quarantined(name)
	delivered := filepath.Join(y.Dir, "logs", name)
	if err := os.Rename(delivered, delivered+".away"); err != nil {
		t.Fatal(err)
	}
	y.Replay(bulkload.ErrRequest, name)
	if err := os.Rename(delivered+".away", delivered); err != nil {
		t.Fatal(err)
	}
	y.Correct(name, `"line":3`, `"line":2`)
	y.Replay(bulkload.ErrRequest, name)
	y.KeepBad(name, kept)
	y.WantCounts(y.Replay(nil, name), 2, 2, 0, 0, 0)
}

// TestQuarantineStaysWhereItIsNeeded checks that only a replay adds a record that was bad in a
// load. A later load of another part of the file does not change this.
func TestQuarantineStaysWhereItIsNeeded(t *testing.T) {
	const seconds = "logs: {path: \"logs/*.csv\", max_bad: 70%}\nuser: user\nbehaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}\n"
	y := bulkloadtest.New(t, seconds)
	y.Write("a.csv", "user,time,title,seconds\na,2014-09-01 10:00:00,one,1\nb,2014-09-01 11:00:00,two,many\nc,2014-09-02 10:00:00,three,many\nd,2014-09-02 11:00:00,four,4\n")
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 4, 1, 2, 0, 1)
	y.SetJob(strings.Replace(seconds, ", seconds: int64", "", 1))
	y.WantCounts(y.Load(nil, "2014-09-02", "2014-09-02"), 4, 2, 0, 0, 2)
	// By this job both lines are good. The second load added the record of its day.
	y.WantCounts(y.Replay(nil, "a.csv"), 2, 1, 0, 1, 0)
	y.WantTrails(
		"a 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1",
		"b 2014-09-01 2014-09-01T11:00:00Z play title=two",
		"c 2014-09-02 2014-09-02T10:00:00Z play title=three",
		"d 2014-09-02 2014-09-02T11:00:00Z play title=four",
	)
	loads := y.Ledgers()
	if got := loads[len(loads)-1].Inputs[0].Offsets; len(got) != 1 {
		t.Errorf("the replay brought the offsets %v, want one", got)
	}
}

// replays replays a quarantine file into HBase by puts.
func replays(p *bulkloadtest.HBase, ctx context.Context, name string) (bulkload.Result, error) {
	p.T.Helper()
	store := p.Connect(local.New())
	defer store.Close()
	cfg := p.Config("2014-09-01", "2014-09-01")
	cfg.Store, cfg.Mode = store, bulkload.Put
	return replay.Run(ctx, bulkloadtest.ReplayOf(cfg), store.Quarantine(name))
}

// TestAKilledReplayIsRepeated kills a replay after its cells are put and before its ledger is
// written. The same replay then reports these records as loaded, because no ledger lists them.
func TestAKilledReplayIsRepeated(t *testing.T) {
	const name = "2014-09-01/play.csv"
	p := bulkloadtest.NewHBase(t)
	p.Write(name, bulkloadtest.WithBad)
	if _, err := p.Puts(t.Context(), "2014-09-01", "2014-09-01", 1); err != nil {
		t.Fatal(err)
	}
	store := p.Connect(local.New())
	file := store.Quarantine(name)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	corrected := strings.ReplaceAll(strings.ReplaceAll(string(text), "many", "8"), `"raw":",2014`, `"raw":"d,2014`)
	testkit.WriteFile(t, file, corrected)
	before := len(p.Cells())
	ctx, kill := context.WithCancel(t.Context())
	p.Cluster.SetHooks(hbasetest.Hooks{Call: func(c hbasetest.Call) hbasetest.Fault {
		if c.Method == "Multi" {
			return hbasetest.Fault{Executed: kill, Drop: true}
		}
		return hbasetest.Fault{}
	}})
	if _, err := replays(p, ctx, name); !errors.Is(err, context.Canceled) {
		t.Fatalf("a killed replay: %v, want it cancelled", err)
	}
	p.Cluster.Settle()
	p.Cluster.SetHooks(hbasetest.Hooks{})
	for i, want := range []manifest.Counts{{Read: 2, Loaded: 2}, {Read: 2, Duplicate: 2}} {
		if r, err := replays(p, t.Context(), name); err != nil || r.Counts != want {
			t.Fatalf("replay %d: %+v, %v; want %+v", i+1, r.Counts, err, want)
		}
	}
	var told int64
	for _, l := range p.Ledgers() {
		for _, d := range l.Days {
			told += d.Tally.Cells
		}
	}
	if got := len(p.Cells()); int64(got) != told || got <= before {
		t.Errorf("the table has %d cells, %d before the replay, and its ledgers count %d", got, before, told)
	}
}

// TestQuarantineFilesOfAllPaths checks that each path has a quarantine file of its own, however
// long the path is.
func TestQuarantineFilesOfAllPaths(t *testing.T) {
	y := bulkloadtest.New(t, "logs: {path: [\"logs/*.csv\", \"logs/*/*.csv\"], max_bad: 50%}\nuser: user\nbehaviours: {play: {id: 1, fields: {title: string}}}\n")
	names := []string{"a/b.csv", "a__b.csv", "a_/b.csv", "a/_b.csv", strings.Repeat("f", 200) + "/" + strings.Repeat("g", 200) + ".csv", strings.Repeat("ü", 120) + ".csv"}
	var want []string
	for i, name := range names {
		if i == 3 {
			continue // wildcards leave names out that begin so
		}
		y.Write(name, fmt.Sprintf("user,time,title\ngood%d,2014-09-01 10:00:00,x\nbad%d,never,x\n", i, i))
		want = append(want, fmt.Sprintf("good%d 2014-09-01 2014-09-01T10:00:00Z play title=x", i), fmt.Sprintf("bad%d 2014-09-01 2014-09-01T11:00:00Z play title=x", i))
	}
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 10, 5, 5, 0, 0)
	for i, name := range names {
		if i == 3 {
			continue
		}
		y.Correct(name, "never", "2014-09-01 11:00:00")
		y.WantCounts(y.Replay(nil, name), 1, 1, 0, 0, 0)
	}
	y.WantTrails(want...)
}

// TestReplayFindsTheCorrection replays a file that has a bad line and also its correction.
func TestReplayFindsTheCorrection(t *testing.T) {
	const name = "2014-09-01/play.csv"
	for _, order := range [][]string{{"many", "8"}, {"8", "many"}, {"many", "8", "8", "many"}} {
		y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
		y.Write(name, bulkloadtest.WithBad)
		y.Load(nil, "2014-09-01", "2014-09-01")
		line, rest, _ := strings.Cut(y.Quarantined(name), "\n")
		text := strings.ReplaceAll(rest, `"raw":",2014`, `"raw":"d,2014`)
		for _, seconds := range order {
			text += strings.ReplaceAll(line, "many", seconds) + "\n"
		}
		n := int64(len(order))
		y.KeepBad(name, text)
		y.WantCounts(y.Replay(nil, name), n+1, 2, 0, n-1, 0)
		if q := y.Quarantined(name + ".replay"); q != "" {
			t.Errorf("%v: still bad is said to be %s", order, q)
		}
		y.WantTrails(
			"a 2014-09-01 2014-09-01T10:00:00Z play title=one seconds=1",
			"b 2014-09-01 2014-09-01T11:00:00Z play title=two seconds=8",
			"c 2014-09-01 2014-09-01T12:00:00Z play title=four seconds=4",
			"d 2014-09-01 2014-09-01T11:30:00Z play title=of\ntwo lines seconds=3",
		)
	}
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	before := y.Trails(true)
	line, _, _ := strings.Cut(y.Quarantined(name), "\n")
	y.KeepBad(name, strings.ReplaceAll(line, "many", "8")+"\n"+strings.ReplaceAll(line, "many", "9")+"\n")
	y.Replay(bulkload.ErrRequest, name)
	if got := y.Trails(true); !slices.Equal(got, before) {
		t.Errorf("the table has %q, want the records from before", got)
	}
}

// TestAQuarantineFileKeepsWhatALoadOfAPartLeft loads a file for one behaviour, and by a job
// with other times for the other one. The records that only the first load found bad are read
// by no later load: the second quarantine file has them, too.
func TestAQuarantineFileKeepsWhatALoadOfAPartLeft(t *testing.T) {
	const name = "2014-09-01/a.csv"
	for _, way := range []string{"load", "pieces", "ranges"} {
		t.Run(way, func(t *testing.T) {
			y := bulkloadtest.New(t, rfcTimes)
			y.Write(name, rfcLog)
			load := func(job, kind string) bulkload.Result {
				t.Helper()
				y.SetJob(job)
				return y.LoadBy(way, nil, "2014-09-01", kind)
			}
			y.WantCounts(load(rfcTimes, "play"), 5, 1, 3, 0, 1)
			before := y.Quarantined(name)
			y.WantCounts(load(anyTimes, "order"), 5, 2, 1, 0, 2)
			if got := y.Quarantined(name); wantLines(got, before, 0, 1) != "" || strings.Count(got, "\n") != 3 || !strings.Contains(got, "e,never") {
				t.Errorf("the quarantine file is\n%swant the record that is bad now after two of\n%s", got, before)
			}
			y.WantCounts(y.Replay(bulkload.ErrLeft, name), 3, 1, 1, 1, 0)
			y.WantTrails(
				"a 2014-09-01 2014-09-01T10:00:00Z play",
				"b 2014-09-01 2014-09-01T11:00:00Z play",
				"c 2014-09-01 2014-09-01T12:00:00Z order",
				"d 2014-09-01 2014-09-01T13:00:00Z order",
			)
		})
	}
}

// TestAFileInAnotherEncodingIsRefused saves a corrected quarantine file as an editor with another encoding does.
func TestAFileInAnotherEncodingIsRefused(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(name, "many", "8")
	y.Correct(name, `"raw":",2014`, "\"raw\":\"u\xe9,2014")
	before := y.Quarantined(name)
	if r, err := replayed(y, name); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), ".jsonl:2: not a line of a quarantine file: it is not UTF-8: save the file") || r.Loaded != 0 || y.Quarantined(name) != before {
		t.Errorf("%+v, %v; want that nothing is loaded, and the same file", r, err)
	}
}

// TestAByteOrderMarkIsAccepted saves a corrected quarantine file as some editors do, and replays it, or delivers the log again.
func TestAByteOrderMarkIsAccepted(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write(name, bulkloadtest.WithBad)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Correct(name, "many", "8")
	y.KeepBad(name, "\ufeff"+y.Quarantined(name))
	if r, err := replayed(y, name); !errors.Is(err, bulkload.ErrLeft) || r.Loaded != 1 || r.Removed != 1 || y.Quarantined(name) != "" {
		t.Errorf("%+v, %v, and the file has\n%s\nwant a record loaded, and the other moved", r, err, y.Quarantined(name))
	}

	bad, corrected := refusedNight()
	y = bulkloadtest.New(t, strict)
	y.Write(name, bad)
	y.Load(bulkload.ErrTooBad, "2014-09-01", "2014-09-01")
	y.KeepBad(name, "\ufeff"+y.Quarantined(name))
	y.Write(name, corrected)
	y.Load(nil, "2014-09-01", "2014-09-01")
	y.Replay(job.ErrNoInput, name) // the file is removed
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

// TestReplaysOfCopiesKeepWhatIsStillBad replays the quarantine files of a file and of its copy. Records
// that are still bad go to one file. The file loses only records that are loaded.
func TestReplaysOfCopiesKeepWhatIsStillBad(t *testing.T) {
	const first, second = "2014-09-01/a.csv", "2014-09-01/b.csv"
	y := bulkloadtest.New(t, rfcTimes)
	y.Write(first, rfcLog)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 5, 2, 3, 0, 0)
	y.Write(second, rfcLog)
	y.WantCounts(y.Load(nil, "2014-09-01", "2014-09-01"), 5, 0, 3, 2, 0)
	lines := strings.SplitAfter(y.Quarantined(second), "\n")
	y.KeepBad(second, lines[0]+lines[2])
	lines = strings.SplitAfter(y.Quarantined(first), "\n")
	y.KeepBad(first, lines[1])
	y.Correct(first, "c,2014-09-01 12:00:00", "c,2014-09-01 12:00:01")
	y.Correct(second, "b,2014-09-01 11:00:00", "b,2014-09-01 11:00:01")
	y.WantCounts(y.Replay(bulkload.ErrLeft, first), 1, 0, 1, 0, 0)
	y.WantCounts(y.Replay(bulkload.ErrLeft, second), 2, 0, 2, 0, 0)
	again := first + ".replay"
	if got := y.Quarantined(again); !strings.Contains(got, "b,2014") || !strings.Contains(got, "c,2014") || strings.Count(got, "\n") != 3 {
		t.Errorf("of three records that are bad again the file has\n%s", got)
	}
	y.Correct(again, "b,2014-09-01 11:00:01", "b,2014-09-01T11:00:00Z")
	r, err := replayed(y, again)
	if !errors.Is(err, bulkload.ErrLeft) {
		t.Errorf("%v, want ErrLeft", err)
	}
	y.WantCounts(r, 3, 1, 2, 0, 0)
	if got := y.Quarantined(again); strings.Contains(got, "b,2014") || strings.Count(got, "\n") != 2 {
		t.Errorf("of two records that are still bad the file has\n%s", got)
	}
}
