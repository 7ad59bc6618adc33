package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"usertrail/cmd/internal/scripttest"
	"usertrail/internal/breakpoint"
	"usertrail/internal/testkit"
)

const sampleJob = `
logs: {path: "logs/{date}/{behaviour}.csv", zone: Asia/Shanghai}
table: trails
user: user_id
time: {column: time, format: "2006-01-02 15:04:05"}
behaviours:
  play: {id: 1, fields: {programme: string, channel: string, seconds: int64, url: string}}
  order: {id: 2, fields: {product: string, price: double, quantity: int64, note: string}}
  visit: {id: 3, fields: {page: string, referrer: string, duration: int64}}
  login: {id: 4, fields: {device: string, ip: string, success: bool}}
`

// sampleDays makes a folder of four days' logs, with a job for them.
func sampleDays(t *testing.T, records string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "usertrail.yaml"), []byte(sampleJob), 0o666); err != nil {
		t.Fatal(err)
	}
	p := scripttest.Start(t, dir, nil, "bulkload", "sample", "logs", "--records", records, "--days", "4")
	if status, _ := p.Wait(t); status != 0 {
		t.Fatalf("sample: %s", p.Stderr.String())
	}
	return dir
}

// loads begins to load them, a batch a time as --memory makes them small.
func loads(t *testing.T, dir string, env []string, table string, more ...string) *scripttest.Process {
	t.Helper()
	return scripttest.Start(t, dir, env, "bulkload", append([]string{"--from", "2014-09-01", "--to", "2014-09-04", "--table", table, "--memory", "64MiB"}, more...)...)
}

// contents are the digests of what is in a table, by name. What tells of runs is not.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "runs" {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if d.IsDir() || d.Name() == "lock" {
			return nil
		}
		b, err := os.ReadFile(name)
		sum := sha256.Sum256(b)
		rel, _ := filepath.Rel(dir, name)
		sums[rel] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// sampleFiles is how many files sampleDays makes: one of each day and behaviour.
const sampleFiles = 16

// A moment is the nth time that a load reaches a step.
type moment struct {
	step string
	n    int
}

func (m moment) String() string { return fmt.Sprintf("%s %d", m.step, m.n) }

// moments are in the order of a load of sampleDays.
var moments = []moment{
	{breakpoint.Begun, 1}, {breakpoint.Read, 1}, {breakpoint.Read, sampleFiles}, {breakpoint.Batch, 1}, {breakpoint.Segment, 1},
	{breakpoint.Commit, 1}, {breakpoint.Ledger, 1}, {breakpoint.Loaded, 1},
}

// A fatal signal ends a run, which says its name.
type fatal struct {
	signal syscall.Signal
	name   string
}

var fatals = []fatal{{syscall.SIGTERM, "SIGTERM"}, {syscall.SIGINT, "SIGINT"}, {syscall.SIGHUP, "SIGHUP"}, {syscall.SIGQUIT, "SIGQUIT"}}

// stopsAt sends a load of a table a signal at a moment, and checks its end. After the
// step loaded there is nothing left to stop.
func stopsAt(t *testing.T, dir, table string, m moment, f fatal) {
	t.Helper()
	p := loads(t, dir, scripttest.Holds(m.step, m.n), table)
	p.Stops(t)
	p.GoOn(t, f.signal)
	status, last := p.Wait(t)
	text, _ := last["error"].(string)
	if m.step == breakpoint.Loaded {
		if status != 0 {
			t.Errorf("%s at %s: ended with status %d: %s", f.name, m, status, p.Stderr.String())
		}
	} else if status != 1 || !strings.HasPrefix(text, "stopped by "+f.name) {
		t.Errorf("%s at %s: ended with status %d, and the last line has the error %q: %s", f.name, m, status, text, p.Stderr.String())
	}
	if f.signal == syscall.SIGQUIT && strings.Count(p.Stderr.String(), " is at, ") != 1 {
		t.Errorf("%s at %s: it did not tell once what it was at:\n%s", f.name, m, p.Stderr.String())
	}
}

// finishes loads a table, and compares it with one whose load was not disturbed.
func finishes(t *testing.T, dir, table string, want map[string]string) {
	t.Helper()
	p := loads(t, dir, nil, table)
	if status, _ := p.Wait(t); status != 0 && status != 99 {
		t.Fatalf("the last run ended with status %d: %s", status, p.Stderr.String())
	}
	if got := contents(t, filepath.Join(dir, table)); !maps.Equal(got, want) {
		t.Errorf("the table holds %v, undisturbed %v", got, want)
	}
}

// TestASignalEndsALoadCleanly sends one at each moment of a load. Each time the load says
// what it did, and the table comes out as if nobody had.
func TestASignalEndsALoadCleanly(t *testing.T) {
	dir := sampleDays(t, "20000")
	whole := loads(t, dir, nil, "whole")
	if status, _ := whole.Wait(t); status != 0 {
		t.Fatalf("undisturbed: %s", whole.Stderr.String())
	}
	want := contents(t, filepath.Join(dir, "whole"))
	for i, f := range fatals {
		t.Run(f.name, func(t *testing.T) {
			for j, m := range moments { // all of one table
				if testkit.All() || j%len(fatals) == i {
					stopsAt(t, dir, f.name, m, f)
				}
			}
			finishes(t, dir, f.name, want)
		})
	}
	t.Run("each", func(t *testing.T) {
		testkit.OnlyAll(t, "loads of one table, each stopped at another moment")
		for i, m := range moments {
			table := fmt.Sprint("stopped at ", m)
			stopsAt(t, dir, table, m, fatals[i%len(fatals)])
			finishes(t, dir, table, want)
		}
	})
}

// TestALoadTellsWhatItIsAt asks it in the middle of its work, and it goes on.
func TestALoadTellsWhatItIsAt(t *testing.T) {
	dir := sampleDays(t, "20000")
	for step, tells := range map[string][]string{
		breakpoint.Read:    {"bulkload: process ", "bulkload: loading: ", "  load     reading ", "  parsing  logs/2014-09-0", ", from line "},
		breakpoint.Segment: {"bulkload: process ", "bulkload: loading: ", "  writing  region "},
	} {
		p := loads(t, dir, scripttest.Holds(step, 1), "trails at "+step, "--workers", "2")
		p.TellsAt(t, step, tells)
		status, last := p.Wait(t)
		if status != 0 || scripttest.Number(t, last, "read") != 20_000 {
			t.Fatalf("ended with status %d: %v\n%s", status, last, p.Stderr.String())
		}
	}
}

// TestAKilledLoadHasDied kills one with a signal that cannot be heard: its lock is free,
// the journal tells what it was, and the next load goes on.
func TestAKilledLoadHasDied(t *testing.T) {
	dir := sampleDays(t, "20000")
	for _, m := range testkit.Pick(moments[:1], moments[:len(moments)-1]) { // once it is loaded, no load goes on
		table := fmt.Sprint("killed at ", m)
		p := loads(t, dir, scripttest.At(m.step, m.n), table)
		p.Stops(t)
		p.Signal(syscall.SIGKILL)
		if status, _ := p.Wait(t); status != -1 {
			t.Fatalf("at %s: it ended with status %d before it was killed", m, status)
		}
		list := func(state string) {
			t.Helper()
			runs := scripttest.Start(t, dir, nil, "bulkload", "runs", "--table", table, "--json", "--last", "1")
			if status, _ := runs.Wait(t); status != 0 || !strings.Contains(runs.Stdout.String(), `"state":"`+state+`"`) {
				t.Errorf("at %s: of the last run the journal does not tell that it has %s:\n%s", m, state, runs.Stdout.String())
			}
		}
		list("died")
		if status, last := loads(t, dir, nil, table).Wait(t); status != 0 || scripttest.Number(t, last, "files") == 0 {
			t.Fatalf("at %s: the next load ended with status %d: %v", m, status, last)
		}
		list("ended")
	}
}
