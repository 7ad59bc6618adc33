package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"usertrail/cmd/internal/scripttest"
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
	if status, _ := p.WaitFor(t, 2*time.Minute); status != 0 {
		t.Fatalf("sample: %s", p.Stderr.String())
	}
	return dir
}

// loads begins to load them, a batch a time as --memory makes them small.
func loads(t *testing.T, dir, table string, more ...string) *scripttest.Process {
	t.Helper()
	return scripttest.Start(t, dir, nil, "bulkload", append([]string{"--from", "2014-09-01", "--to", "2014-09-04", "--table", table, "--memory", "64MiB"}, more...)...)
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

// TestASignalEndsALoadCleanly sends one at random moments, until the load is done. Each
// time the load says what it did, and the table comes out as if nobody had.
func TestASignalEndsALoadCleanly(t *testing.T) {
	dir := sampleDays(t, "60000")
	began := time.Now()
	whole := loads(t, dir, "whole")
	if status, _ := whole.WaitFor(t, 2*time.Minute); status != 0 {
		t.Fatalf("undisturbed: %s", whole.Stderr.String())
	}
	took := time.Since(began)
	want := contents(t, filepath.Join(dir, "whole"))
	for _, sig := range []struct {
		signal syscall.Signal
		name   string
	}{{syscall.SIGTERM, "SIGTERM"}, {syscall.SIGINT, "SIGINT"}, {syscall.SIGQUIT, "SIGQUIT"}} {
		t.Run(sig.name, func(t *testing.T) {
			stopped := 0
			for range 4 {
				p := loads(t, dir, sig.name)
				p.Listens(t)
				time.Sleep(rand.N(took))
				told := strings.Count(p.Stderr.String(), " is at, ")
				p.Signal(sig.signal)
				status, last := p.Wait(t)
				switch status {
				case 0, 99: // it was faster
				case 1:
					stopped++
					if text, _ := last["error"].(string); !strings.HasPrefix(text, "stopped by "+sig.name) {
						t.Errorf("the last line has the error %q", text)
					}
				default:
					t.Fatalf("ended with status %d: %s", status, p.Stderr.String())
				}
				if status == 1 && sig.signal == syscall.SIGQUIT && strings.Count(p.Stderr.String(), " is at, ") == told {
					t.Errorf("it did not tell what it was at:\n%s", p.Stderr.String())
				}
			}
			t.Logf("%d of 4 were stopped in the middle", stopped)
			if status, _ := loads(t, dir, sig.name).WaitFor(t, 2*time.Minute); status != 0 && status != 99 {
				t.Fatalf("the last run ended with status %d", status)
			}
			if got := contents(t, filepath.Join(dir, sig.name)); !maps.Equal(got, want) {
				t.Errorf("the table holds %v, undisturbed %v", got, want)
			}
		})
	}
}

// TestALoadTellsWhatItIsAt asks it again and again, and it goes on.
func TestALoadTellsWhatItIsAt(t *testing.T) {
	dir := sampleDays(t, "100000")
	p := loads(t, dir, "trails", "--workers", "2")
	p.Listens(t)
	for p.Signal(syscall.SIGUSR1) {
		time.Sleep(20 * time.Millisecond)
	}
	status, last := p.Wait(t)
	if status != 0 || scripttest.Number(t, last, "read") != 100_000 {
		t.Fatalf("ended with status %d: %v\n%s", status, last, p.Stderr.String())
	}
	said := p.Stderr.String()
	for _, want := range []string{
		"bulkload: process ", "bulkload: loading: ",
		"  load     reading ", "  parsing  logs/2014-09-0", ", from line ", "  writing  region ",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it never told %q:\n%s", want, said)
		}
	}
}

// TestAKilledLoadHasDied kills one with a signal that cannot be heard: its lock is free,
// the journal tells what it was, and the next load goes on.
func TestAKilledLoadHasDied(t *testing.T) {
	dir := sampleDays(t, "60000")
	p := loads(t, dir, "trails")
	p.Listens(t)
	for until := time.Now().Add(time.Minute); !noted(t, dir); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the load is not in the journal after a minute")
		}
	}
	p.Signal(syscall.SIGKILL)
	if status, _ := p.Wait(t); status != -1 {
		t.Fatalf("it ended with status %d before it was killed", status)
	}
	list := func(state string) {
		t.Helper()
		runs := scripttest.Start(t, dir, nil, "bulkload", "runs", "--table", "trails", "--json", "--last", "1")
		if status, _ := runs.Wait(t); status != 0 || !strings.Contains(runs.Stdout.String(), `"state":"`+state+`"`) {
			t.Errorf("of the last run the journal does not tell that it has %s:\n%s", state, runs.Stdout.String())
		}
	}
	list("died")
	if status, last := loads(t, dir, "trails").WaitFor(t, 2*time.Minute); status != 0 || scripttest.Number(t, last, "files") == 0 {
		t.Fatalf("the next load ended with status %d: %v", status, last)
	}
	list("ended")
}

// noted says whether a run stands in the journal of dir's table.
func noted(t *testing.T, dir string) bool {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "trails", "runs", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return len(names) > 0
}
