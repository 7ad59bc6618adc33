package load_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/precheck"
	"usertrail/internal/test/testkit"
)

// check makes the checks of a load, and returns them by name.
func check(t *testing.T, cfg load.Config) map[precheck.Name]precheck.Check {
	t.Helper()
	all, _, err := load.PreCheck(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	found := map[precheck.Name]precheck.Check{}
	var names []precheck.Name
	for _, c := range all {
		found[c.Name] = c
		names = append(names, c.Name)
	}
	if !slices.Equal(names, precheck.Names) {
		t.Errorf("checked are %q, want all, in order", names)
	}
	return found
}

func want(t *testing.T, found map[precheck.Name]precheck.Check, name precheck.Name, state precheck.State, says string) {
	t.Helper()
	if c := found[name]; c.State != state || !strings.Contains(c.Detail, says) {
		t.Errorf("%s is %s: %q; want %s that says %q", name, c.State, c.Detail, state, says)
	}
}

func TestPreCheckLooksAtTheInput(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	found := check(t, y.Config("2014-09-01", "2014-09-02"))
	want(t, found, precheck.InputThere, precheck.Fail, "the folder of the logs")
	if !errors.Is(found[precheck.InputThere].Err, job.ErrNoInput) {
		t.Errorf("%v, want ErrNoInput", found[precheck.InputThere].Err)
	}
	want(t, found, precheck.RequiredBehaviours, precheck.Skipped, "could not be looked for")
	want(t, found, precheck.InputReadable, precheck.Skipped, "no file")

	y.Write("2014-08-01/play.csv", bulkloadtest.Header)
	found = check(t, y.Config("2014-09-01", "2014-09-02"))
	want(t, found, precheck.InputThere, precheck.Warn, "0 files for 2014-09-01..2014-09-02; 4 missing, counted for each behaviour and day")

	y.Write("2014-09-01/play.csv", bulkloadtest.Header+"u1,2014-09-01 08:00:00,a,1\n")
	y.Write("2014-09-01/order.csv", "")
	y.Write("2014-09-02/play.csv.gz", bulkloadtest.Zipped(t, bulkloadtest.Header+"u1,2014-09-02 08:00:00,a,1\n"))
	found = check(t, y.Config("2014-09-01", "2014-09-02"))
	want(t, found, precheck.InputThere, precheck.OK, "3 files for 2014-09-01..2014-09-02; 1 missing, counted for each behaviour and day")
	want(t, found, precheck.InputReadable, precheck.OK, "looked into 2 files; 1 are empty")
	want(t, found, precheck.RequiredBehaviours, precheck.OK, "")

	y.Write("2014-09-02/order.csv.gz", "user,time,price\n")
	y.Write("2014-09-03/play.csv", "user,when\n")
	y.Write("2014-09-03/order.csv.gz", "")
	found = check(t, y.Config("2014-09-01", "2014-09-03"))
	for _, says := range []string{"2014-09-02/order.csv.gz: the compressed data is damaged or incomplete: gzip: invalid header", "2014-09-03/play.csv", "2014-09-03/order.csv.gz: the compressed data is damaged or incomplete: unexpected EOF: it has 0 bytes"} {
		want(t, found, precheck.InputReadable, precheck.Fail, says)
	}
	if _, err := os.Stat(y.Store.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the checks made a table: %v", err)
	}
}

// TestPreCheckCountsSkippedRecords has records of each reason for which the job skips records. A load
// skips them with status 0.
func TestPreCheckCountsSkippedRecords(t *testing.T) {
	y := bulkloadtest.New(t, "logs: {path: \"logs/{date}/*.csv\", behaviour: {column: kind, others: skip}, skip: 'kind == \"beat\"'}\nuser: {column: user, empty: skip}\nbehaviours: {play: {id: 1}}\n")
	y.Write("2014-09-01/a.csv", "user,time,kind\na,2014-09-01 08:00:00,play\n,2014-09-01 08:00:00,play\nb,2014-09-01 08:00:00,beat\nb,2014-09-01 08:00:00,beat\nc,2014-09-01 08:00:00,Play\n")
	want(t, check(t, y.Config("2014-09-01", "2014-09-01")), precheck.RecordsParse, precheck.OK, "5 records of 1 file, 1 of them whole: 1 good, 0 bad, 4 skipped")
}

// TestPreCheckRefusesRecordsOfNoBehaviour checks a job that knows no behaviour of the log. If the job says to skip others, it warns: a load
// would skip all records and end with status 0.
func TestPreCheckRefusesRecordsOfNoBehaviour(t *testing.T) {
	y := bulkloadtest.New(t, "logs: {path: \"logs/{date}/*.csv\", behaviour: kind}\nuser: user\nbehaviours: {play: {id: 1}}\n")
	const lines = "user,time,kind\na,2014-09-01 08:00:00,Play\nb,2014-09-01 08:00:00,Play\n"
	y.Write("2014-09-01/b.csv", lines)
	found := check(t, y.Config("2014-09-01", "2014-09-01"))
	want(t, found, precheck.RecordsParse, precheck.Fail, `no record of the sample is of a behaviour of the job: their behaviours are "Play" (2 records): correct the texts of the behaviours, or the column of behaviour`)
	if !errors.Is(found[precheck.RecordsParse].Err, job.ErrJob) {
		t.Errorf("%v, want ErrJob", found[precheck.RecordsParse].Err)
	}
	y.Write("2014-09-01/a.csv", strings.Replace(lines, "Play", "play", 1))
	want(t, check(t, y.Config("2014-09-01", "2014-09-01")), precheck.RecordsParse, precheck.Fail, `logs/2014-09-01/a.csv: 1 of 2 records name no behaviour of the job, and its max_skipped is 10%: 1 "Play": nothing of the file is loaded`)
	y.SetJob("logs: {path: \"logs/{date}/*.csv\", behaviour: {column: kind, others: skip}}\nuser: user\nbehaviours: {play: {id: 1}}\n")
	want(t, check(t, y.Config("2014-09-01", "2014-09-01")), precheck.RecordsParse, precheck.Warn, "a load would skip all records of the sample of ")
	if err := os.Remove(filepath.Join(y.Dir, "logs", "2014-09-01/a.csv")); err != nil {
		t.Fatal(err)
	}
	want(t, check(t, y.Config("2014-09-01", "2014-09-01")), precheck.RecordsParse, precheck.Warn, "a load would skip all records of the sample of ")
}

// TestPreCheckReadsNoLoadedFile has a file whose time of change differs from the time of the loaded file.
func TestPreCheckReadsNoLoadedFile(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Header+"u1,2014-09-01 08:00:00,a,1\n")
	y.Load(nil, "2014-09-01", "2014-09-01")
	later := time.Date(2014, 9, 9, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(y.Dir, "logs", "2014-09-01/play.csv"), later, later); err != nil {
		t.Fatal(err)
	}
	found := check(t, y.Config("2014-09-01", "2014-09-01"))
	want(t, found, precheck.InputReadable, precheck.Skipped, "the file was loaded before")
	want(t, found, precheck.RecordsParse, precheck.Skipped, "the file was loaded before")
}

// TestPreCheckParsesASample judges files as a load would.
func TestPreCheckParsesASample(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	const good, bad = "u1,2014-09-01 08:00:00,a,1\n", "u1,2014-09-01 8.00,a,1\n"
	write := func(name string, records int) {
		y.Write(name, bulkloadtest.Header+strings.Repeat(strings.Repeat(good, 9)+bad, records/10))
	}
	y.Write("2014-09-01/play.csv", bulkloadtest.Header+strings.Repeat(good, 100))
	want(t, check(t, y.Config("2014-09-01", "2014-09-01")), precheck.RecordsParse, precheck.OK, "100 records of 1 file, 1 of them whole: 100 good, 0 bad, 0 skipped")

	y.SetJob(strings.Replace(bulkloadtest.TwoKinds, "50%", "9%", 1))
	write("2014-09-02/play.csv", 30)
	y.Write("2014-09-02/order.csv", "user,time,price\nu1,2014-09-02 08:00:00,x\n")
	found := check(t, y.Config("2014-09-01", "2014-09-02"))
	if err := found[precheck.RecordsParse].Err; !errors.Is(err, bulkload.ErrTooBad) {
		t.Fatalf("%v, want ErrTooBad", err)
	}
	for _, says := range []string{
		"2014-09-02/play.csv: more bad records than the job allows: 3 of 30, and max_bad is 9%: 3 bad time (line 11: \"2014-09-01 8.00\" is not a time",
		"change the format of time in the job",
		"1 of 1, and max_bad is 9%: 1 wrong type (line 2: field price: \"x\" is no double): if the log is written so, change the type of the field, or nulls in the job",
	} {
		want(t, found, precheck.RecordsParse, precheck.Fail, says)
	}

	cfg := y.Config("2014-09-02", "2014-09-02", "play")
	write("2014-09-02/play.csv", 30_000)
	cfg.Sample = 3000
	want(t, check(t, cfg), precheck.RecordsParse, precheck.Warn, "more of these samples are bad than max_bad allows, 9%, or name no behaviour than max_skipped, 10%: ")
	cfg.Sample = -1
	want(t, check(t, cfg), precheck.RecordsParse, precheck.Skipped, "no sample is asked for")
}

// TestPreCheckParsesOtherEncodingsWhole has a file that is larger in UTF-8 than in GBK.
func TestPreCheckParsesOtherEncodingsWhole(t *testing.T) {
	y := bulkloadtest.New(t, strings.Replace(bulkloadtest.TwoKinds, "logs:\n", "logs:\n  encoding: gbk\n", 1))
	lines := bulkloadtest.Header + strings.Repeat("u1,2014-09-01 08:00:00,老街往事老街往事,1\n", 3000)
	text, err := simplifiedchinese.GBK.NewEncoder().String(lines)
	if err != nil {
		t.Fatal(err)
	}
	y.Write("2014-09-01/play.csv", text)
	want(t, check(t, y.Config("2014-09-01", "2014-09-01")), precheck.RecordsParse, precheck.OK, "3,000 records of 1 file, 1 of them whole: 3,000 good, 0 bad, 0 skipped")
}

// TestPreCheckFindsDamageBehindTheBeginning reads to the end of a compressed file.
func TestPreCheckFindsDamageBehindTheBeginning(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	var lines strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&lines, "u%d,2014-09-01 08:00:00,a,1\n", i)
	}
	packed := bulkloadtest.Zipped(t, bulkloadtest.Header+lines.String())
	y.Write("2014-09-01/play.csv.gz", packed[:len(packed)*3/4])
	want(t, check(t, y.Config("2014-09-01", "2014-09-01")), precheck.RecordsParse, precheck.Fail, "2014-09-01/play.csv.gz: after offset ")
}

// denied opens no file.
type denied struct{ dfs.FS }

func (d denied) Open(_ context.Context, name string) (dfs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// TestALoadWritesNothingOfWhatItMayNotRead runs a load that can read none of its files.
func TestALoadWritesNothingOfWhatItMayNotRead(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Header+"u1,2014-09-01 08:00:00,a,1\n")
	y.Write("2014-09-01/order.csv", "user,time,price\nu1,2014-09-01 08:00:00,1.5\n")
	cfg := y.Config("2014-09-01", "2014-09-01")
	cfg.FS = denied{cfg.FS}
	want(t, check(t, cfg), precheck.InputReadable, precheck.Warn, "permission denied")
	_, err := load.Run(t.Context(), cfg)
	if !errors.Is(err, fs.ErrPermission) || strings.Count(err.Error(), "it cannot be read: permission denied") != 2 {
		t.Errorf("the load: %v, want both files and why", err)
	}
	list, err := y.Store.FS.List(t.Context(), y.Store.Dir)
	if err != nil || len(list) != 2 || dfs.Base(list[0].Name) != "loading.json" || dfs.Base(list[1].Name) != "lock" {
		t.Errorf("it left %+v, %v", list, err)
	}
}

// noRoom has none.
type noRoom struct {
	dfs.FS
	dfs.Surveyor
	bytes int64
}

func (n noRoom) Room(context.Context, string) (dfs.Room, error) {
	return dfs.Room{Bytes: n.bytes, Limit: "the quota of /"}, nil
}

func TestPreCheckLooksAtTheTable(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Header+"u1,2014-09-01 08:00:00,a,1\n")
	found := check(t, y.Config("2014-09-01", "2014-09-01"))
	want(t, found, precheck.TableThere, precheck.OK, "the first load makes it")
	want(t, found, precheck.LayoutKnown, precheck.OK, "reversed")
	want(t, found, precheck.SchemaFits, precheck.OK, "the first load makes it")
	want(t, found, precheck.Permissions, precheck.OK, y.Store.Dir)
	want(t, found, precheck.Versions, precheck.Skipped, "no server")

	y.Load(nil, "2014-09-01", "2014-09-01")
	found = check(t, y.Config("2014-09-01", "2014-09-01"))
	want(t, found, precheck.TableThere, precheck.OK, "after 1 load")
	want(t, found, precheck.SchemaFits, precheck.OK, "2 behaviours")
	want(t, found, precheck.InputReadable, precheck.Skipped, "the file was loaded before")
	want(t, found, precheck.UnfinishedRun, precheck.OK, "")

	y.SetJob(strings.Replace(bulkloadtest.TwoKinds, "seconds: int64", "seconds: double", 1))
	found = check(t, y.Config("2014-09-01", "2014-09-01"))
	want(t, found, precheck.SchemaFits, precheck.Fail, "seconds")
	if !errors.Is(found[precheck.SchemaFits].Err, job.ErrJob) {
		t.Errorf("%v, want ErrJob", found[precheck.SchemaFits].Err)
	}

	y.SetJob(bulkloadtest.TwoKinds)
	retired := filepath.Join(y.Store.Dir, "retired.json")
	testkit.WriteFile(t, retired, "{")
	want(t, check(t, y.Config("2014-09-01", "2014-09-01")), precheck.TableThere, precheck.Fail, "retired.json")
	if err := os.Remove(retired); err != nil {
		t.Fatal(err)
	}
	ledger := filepath.Join(y.Store.Dir, "loads", "000001.json")
	b, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1 // of the same size
	testkit.WriteFile(t, ledger, string(b))
	found = check(t, y.Config("2014-09-01", "2014-09-01"))
	want(t, found, precheck.LayoutKnown, precheck.Fail, "000001.json")
	want(t, found, precheck.SchemaFits, precheck.Skipped, "does not open")

	testkit.WriteFile(t, filepath.Join(y.Store.Dir, "manifest.json"), "{")
	found = check(t, y.Config("2014-09-01", "2014-09-01"))
	want(t, found, precheck.TableThere, precheck.Fail, "manifest.json")
	want(t, found, precheck.LayoutKnown, precheck.Skipped, "does not open")
	want(t, found, precheck.SchemaFits, precheck.Skipped, "does not open")
}

// TestAJobOfAnotherLayoutIsRefused by the pre-check, a load, a dry run, a replay and a plan.
func TestAJobOfAnotherLayoutIsRefused(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.LaidOut("tall"))
	y.Write("2014-09-01/play.csv", bulkloadtest.Header+"u1,2014-09-01 08:00:00,a,1\nu1,never,a,1\n")
	cfg := y.Config("2014-09-01", "2014-09-01")
	want(t, check(t, cfg), precheck.LayoutKnown, precheck.OK, "tall: the first load creates the table")
	y.Load(nil, "2014-09-01", "2014-09-01")
	want(t, check(t, cfg), precheck.LayoutKnown, precheck.OK, "tall")
	before := y.Trails(true)

	y.SetJob(bulkloadtest.TwoKinds)
	y.Write("2014-09-02/play.csv", bulkloadtest.Header+"u2,2014-09-02 08:00:00,a,1\n")
	cfg = y.Config("2014-09-01", "2014-09-02")
	says := "the job has reversed, and table " + y.Store.Dir + " has tall, which cannot change: write layout: tall"
	want(t, check(t, cfg), precheck.LayoutKnown, precheck.Fail, says)
	for what, try := range map[string]func() error{
		"a load":    func() error { _, err := load.Run(t.Context(), cfg); return err },
		"a dry run": func() error { _, err := load.DryRun(t.Context(), cfg); return err },
		"a replay": func() error {
			_, err := replay.Run(t.Context(), bulkloadtest.ReplayOf(cfg), y.Store.Quarantine("2014-09-01/play.csv"))
			return err
		},
		"a plan": func() error {
			_, _, err := pieces.Plan(t.Context(), pieces.Config{Config: cfg, PieceSize: 1 << 20})
			return err
		},
	} {
		if err := try(); !errors.Is(err, job.ErrJob) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want ErrJob that says %s", what, err, says)
		}
	}
	if got := y.Trails(true); !slices.Equal(got, before) {
		t.Errorf("the table has\n%s\nwant the records from before\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
	}
}

func TestPreCheckWantsRoom(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Header+strings.Repeat("u1,2014-09-01 08:00:00,a,1\n", 400_000))
	y.Write("2014-09-01/order.csv", "user,time,price\n")
	cfg := y.Config("2014-09-01", "2014-09-01")
	found := check(t, cfg)
	want(t, found, precheck.StagingRoom, precheck.OK, "about 10 MiB needed")
	want(t, found, precheck.DiskForTemp, precheck.OK, "about 10 MiB needed")
	cfg.Memory = 1 << 30
	want(t, check(t, cfg), precheck.DiskForTemp, precheck.OK, "10 MiB of text are sorted in memory")
	cfg.Memory = 8 << 20

	full := noRoom{FS: local.New(), Surveyor: local.New().(dfs.Surveyor), bytes: 1 << 20}
	cfg.FS = full
	found = check(t, cfg)
	want(t, found, precheck.DiskForTemp, precheck.Fail, "too little space: "+cfg.Temp+" has room for 1.0 MiB (the quota of /)")
	want(t, found, precheck.StagingRoom, precheck.OK, "free space")
	if _, err := load.Run(t.Context(), cfg); !errors.Is(err, precheck.ErrNoRoom) {
		t.Errorf("the load: %v, want ErrNoRoom", err)
	}

	full.bytes = 15 << 20
	cfg.FS = full
	var log bytes.Buffer
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	if _, err := load.Run(t.Context(), cfg); err != nil {
		t.Errorf("with scarce room: %v", err)
	}
	if !strings.Contains(log.String(), "check=disk-for-temp") {
		t.Errorf("the load logged %q, without its warning", log.String())
	}
}

// TestPreCheckWantsRoomForWhatIsUploaded checks the room for HFiles that are uploaded to HDFS. Until
// then they are in the directory of the sorted runs.
func TestPreCheckWantsRoomForWhatIsUploaded(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Header+strings.Repeat("u1,2014-09-01 08:00:00,a,1\n", 400_000))
	cfg := y.Config("2014-09-01", "2014-09-01")
	cfg.Store = elsewhere{y.Store}
	want(t, check(t, cfg), precheck.DiskForTemp, precheck.OK, "about 14 MiB needed")
	cfg.Memory = 1 << 30
	want(t, check(t, cfg), precheck.DiskForTemp, precheck.OK, "about 4.1 MiB needed")
	cfg.FS = noRoom{FS: local.New(), Surveyor: local.New().(dfs.Surveyor), bytes: 1 << 20}
	want(t, check(t, cfg), precheck.DiskForTemp, precheck.Fail, "too little space: "+cfg.Temp)
}

// elsewhere is a table whose files are uploaded.
type elsewhere struct{ table.Store }

func (elsewhere) Address() string { return "hdfs://nn/trails" }

func TestPreCheckRefusesWhatIsNoRequest(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	for what, cfg := range map[string]load.Config{
		"no such behaviour": y.Config("2014-09-01", "2014-09-01", "plya"),
		"a span backwards":  y.Config("2014-09-02", "2014-09-01"),
	} {
		if _, _, err := load.PreCheck(t.Context(), cfg); !errors.Is(err, bulkload.ErrRequest) {
			t.Errorf("%s: %v, want ErrRequest", what, err)
		}
	}
}

// TestPreCheckTellsWhoLoads holds the lock.
func TestPreCheckTellsWhoLoads(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Header)
	lock, err := y.Store.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	found := check(t, y.Config("2014-09-01", "2014-09-01"))
	want(t, found, precheck.UnfinishedRun, precheck.Fail, "locked by another run: process ")
	if err := found[precheck.UnfinishedRun].Err; !errors.Is(err, dfs.ErrLocked) || errors.Is(err, table.ErrUnfit) {
		t.Errorf("%v, want ErrLocked", err)
	}
}
