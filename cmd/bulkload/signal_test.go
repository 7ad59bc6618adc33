package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"usertrail/cmd/internal/scripttest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/testkit"
)

const sampleJob = `
logs: {path: "logs/{date}/{behaviour}.csv", zone: Asia/Shanghai}
table: trails` + testkit.SampleBehaviours

// sampleDays writes the logs of four days and a job for them.
func sampleDays(t *testing.T, records string) string {
	t.Helper()
	dir := t.TempDir()
	testkit.WriteFile(t, filepath.Join(dir, "usertrail.yaml"), sampleJob)
	p := scripttest.Start(t, dir, nil, "bulkload", "sample", "logs", "--records", records, "--days", "4")
	if status, _ := p.Wait(t); status != 0 {
		t.Fatalf("sample: %s", p.Stderr.String())
	}
	return dir
}

// loads starts to load them. --memory is small, so that there are several batches.
func loads(t *testing.T, dir string, env []string, table string, more ...string) *scripttest.Process {
	t.Helper()
	return scripttest.Start(t, dir, env, "bulkload", append([]string{"--from", "2014-09-01", "--to", "2014-09-04", "--table", table, "--memory", "64MiB"}, more...)...)
}

// contents returns the digests of the files of a table by name, without the log of runs.
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

// sampleFiles is the number of files of sampleDays: one for each day and behaviour.
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

// A fatal signal ends a run. The run prints the name of the signal.
type fatal struct {
	signal syscall.Signal
	name   string
}

var fatals = []fatal{{syscall.SIGTERM, "SIGTERM"}, {syscall.SIGINT, "SIGINT"}, {syscall.SIGHUP, "SIGHUP"}, {syscall.SIGQUIT, "SIGQUIT"}}

// stopsAt sends a signal to a load at a moment, and checks its end. After the step loaded
// nothing is left to stop.
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
	if f.signal == syscall.SIGQUIT && strings.Count(p.Stderr.String(), " after its start:") != 1 {
		t.Errorf("%s at %s: it did not print once what its workers did:\n%s", f.name, m, p.Stderr.String())
	}
}

// finishes loads a table, and compares it with a table whose load was not interrupted.
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

// notIgnored makes a signal have its default effect on the processes that the test starts. Below
// nohup, SIGHUP is ignored, and processes inherit that.
func notIgnored(t *testing.T, s os.Signal) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, s)
	t.Cleanup(func() { signal.Stop(caught) })
}

// TestASignalEndsALoadCleanly sends a signal at each moment of a load. Each time the load
// reports what it did, and after the next load the table is the same as without a signal.
func TestASignalEndsALoadCleanly(t *testing.T) {
	notIgnored(t, syscall.SIGHUP)
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

// TestALoadReportsItsProgress sends USR1 in the middle of a load. The load continues.
func TestALoadReportsItsProgress(t *testing.T) {
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

// TestAKilledLoadHasDied kills a load with SIGKILL. Its lock is free, the log of runs has the run
// as died, and the next load continues.
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
				t.Errorf("at %s: the log of runs does not list the last run as %s:\n%s", m, state, runs.Stdout.String())
			}
		}
		list("died")
		if status, last := loads(t, dir, nil, table).Wait(t); status != 0 || scripttest.Number(t, last, "files") == 0 {
			t.Fatalf("at %s: the next load ended with status %d: %v", m, status, last)
		}
		list("ended")
	}
}
