package main

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"usertrail/cmd/internal/scripttest"
	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/dfs/local"
	"usertrail/internal/job"
	"usertrail/internal/table/files"
)

// played makes a table of many users who played on one day.
func played(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var log strings.Builder
	log.WriteString("user_id,time,programme\n")
	r := rand.New(rand.NewPCG(1, 1))
	for range 400_000 {
		u := r.IntN(60_000)
		log.WriteString(strings.Join([]string{number(u), "2014-09-01 0" + number(r.IntN(10))[4:] + ":00:00", number(r.IntN(1000))}, ",") + "\n")
	}
	for name, text := range map[string]string{
		"usertrail.yaml":           "logs: logs/{date}/{behaviour}.csv\nbehaviours: {play: {id: 1, fields: {programme: string}}}\n",
		"logs/2014-09-01/play.csv": log.String(),
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	fs := local.New()
	j, err := job.Load(t.Context(), fs, filepath.Join(dir, "usertrail.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	day, err := behaviour.ParseDate("2014-09-01")
	if err != nil {
		t.Fatal(err)
	}
	_, err = bulkload.Run(t.Context(), bulkload.Config{
		FS: fs, Job: j, Store: files.Store{FS: fs, Dir: filepath.Join(dir, "trails")}, Span: behaviour.Span{From: day, To: day}, Temp: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// number is n in five digits.
func number(n int) string {
	return string([]byte{digit(n / 10000), digit(n / 1000), digit(n / 100), digit(n / 10), digit(n)})
}

func digit(n int) byte { return byte('0' + n%10) }

func extracts(t *testing.T, dir, out string) *scripttest.Process {
	t.Helper()
	return scripttest.Start(t, dir, nil, "extract", "--table", "trails", "--users", "all", "--from", "2014-09-01", "--to", "2014-09-01", "--types", "play",
		"--out", out, "--memory", "256MiB")
}

// sizes are those of the files of an answer.
func sizes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, f := range all {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name()] = info.Size()
	}
	return out
}

// TestASignalEndsAnExtractCleanly sends one at random moments: what was asked for is
// not there before it is whole, and the same command goes on.
func TestASignalEndsAnExtractCleanly(t *testing.T) {
	dir := played(t)
	began := time.Now()
	if status, last := extracts(t, dir, "whole").WaitFor(t, 2*time.Minute); status != 0 || scripttest.Number(t, last, "events") != 400_000 {
		t.Fatalf("undisturbed: %d, %v", status, last)
	}
	took := time.Since(began)
	stopped := 0
	for n := range 8 {
		sig := []syscall.Signal{syscall.SIGTERM, syscall.SIGQUIT}[n%2]
		p := extracts(t, dir, "out")
		p.Listens(t)
		time.Sleep(rand.N(took))
		p.Signal(sig)
		status, last := p.Wait(t)
		_, err := os.Stat(filepath.Join(dir, "out"))
		switch {
		case status == 0 || status == 73:
			if err != nil {
				t.Fatalf("it was done, and %v", err)
			}
		case status == 1:
			stopped++
			if text, _ := last["error"].(string); !strings.HasPrefix(text, "stopped by SIG") {
				t.Errorf("the last line has the error %q", text)
			}
			if err == nil {
				t.Fatal("it was stopped, and its answer can be seen")
			}
		default:
			t.Fatalf("ended with status %d: %s", status, p.Stderr.String())
		}
	}
	t.Logf("%d of 8 were stopped in the middle", stopped)
	if status, _ := extracts(t, dir, "out").WaitFor(t, 2*time.Minute); status != 0 && status != 73 {
		t.Fatalf("the last run ended with status %d", status)
	}
	if got, want := sizes(t, filepath.Join(dir, "out")), sizes(t, filepath.Join(dir, "whole")); !maps.Equal(got, want) {
		t.Errorf("the answer is %v, undisturbed %v", got, want)
	}
}

// TestAnExtractTellsWhatItIsAt asks it again and again, and it goes on.
func TestAnExtractTellsWhatItIsAt(t *testing.T) {
	dir := played(t)
	p := extracts(t, dir, "out")
	p.Listens(t)
	for p.Signal(syscall.SIGUSR1) {
		time.Sleep(5 * time.Millisecond)
	}
	status, last := p.Wait(t)
	if status != 0 || scripttest.Number(t, last, "events") != 400_000 {
		t.Fatalf("ended with status %d: %v\n%s", status, last, p.Stderr.String())
	}
	said := p.Stderr.String()
	for _, want := range []string{"extract: process ", "extract: reading trails: ", "  reading  a lot of ", "  writing  part-0000"} {
		if !strings.Contains(said, want) {
			t.Errorf("it never told %q:\n%s", want, said)
		}
	}
}

// TestAnExtractThatHangsEndsAllTheSame stops one that waits for its list of users, which
// is nothing that a signal ends: once and it ends by itself in a while, twice at once.
func TestAnExtractThatHangsEndsAllTheSame(t *testing.T) {
	dir := played(t)
	for name, signals := range map[string][]syscall.Signal{"once": {syscall.SIGTERM}, "twice": {syscall.SIGINT, syscall.SIGINT}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdin, never, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			defer never.Close()
			p := scripttest.StartReading(t, stdin, dir, nil, "extract", "--table", "trails", "--users", "-",
				"--from", "2014-09-01", "--to", "2014-09-01", "--types", "play", "--out", name)
			p.Listens(t)
			for _, s := range signals {
				p.Signal(s)
			}
			status, last := p.Wait(t)
			if text, _ := last["error"].(string); status != 1 || !strings.HasPrefix(text, "stopped by SIG") {
				t.Errorf("ended with status %d, %v\n%s", status, last, p.Stderr.String())
			}
			if n := strings.Count(p.Stderr.String(), "extract: stopped by SIG"); n != 1 {
				t.Errorf("said %d times why, want once:\n%s", n, p.Stderr.String())
			}
		})
	}
}
