package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"usertrail/internal/bulkload"

	"usertrail/cmd/internal/scripttest"
	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/format/job"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/files"
	"usertrail/internal/test/testkit"
)

// played creates a table of users with ten plays each on one day.
func played(t *testing.T, records int) string {
	t.Helper()
	dir := t.TempDir()
	var log strings.Builder
	log.WriteString("user_id,time,programme\n")
	r := rand.New(rand.NewPCG(1, 1))
	for range records {
		u := r.IntN(records / 10)
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
		testkit.WriteFile(t, name, text)
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
	_, err = load.Run(t.Context(), load.Config{
		Resources: bulkload.Resources{FS: fs, Store: files.Store{FS: fs, Dir: filepath.Join(dir, "trails")}, Temp: t.TempDir()},
		Job:       j, Span: behaviour.Span{From: day, To: day},
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// number returns n with five digits.
func number(n int) string {
	return string([]byte{digit(n / 10000), digit(n / 1000), digit(n / 100), digit(n / 10), digit(n)})
}

func digit(n int) byte { return byte('0' + n%10) }

func extracts(t *testing.T, dir string, env []string, out string, more ...string) *scripttest.Process {
	t.Helper()
	return scripttest.Start(t, dir, env, "extract", append([]string{"--table", "trails", "--users", "all", "--from", "2014-09-01", "--to", "2014-09-01", "--types", "play",
		"--out", out, "--memory", "256MiB"}, more...)...)
}

// sizes returns the sizes of the files of a result.
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

// TestASignalEndsAnExtractCleanly sends a signal at each moment of an extract. The result is
// not visible before it is complete, and the same command continues.
func TestASignalEndsAnExtractCleanly(t *testing.T) {
	t.Parallel()
	dir := played(t, 20_000)
	stopped(t, dir, 20_000, testkit.All(), "--piece-size", "8000") // three pieces
}

// TestASignalEndsAnExtractOfWholePartsCleanly is the same with parts of the usual size.
func TestASignalEndsAnExtractOfWholePartsCleanly(t *testing.T) {
	testkit.OnlyAll(t, "the same with small parts")
	dir := played(t, 400_000)
	stopped(t, dir, 400_000, false)
}

// A moment is the nth time that an extract reaches a step.
type moment struct {
	step string
	n    int
}

func (m moment) String() string { return fmt.Sprintf("%s %d", m.step, m.n) }

// A fatal signal ends a run. The run prints the name of the signal.
type fatal struct {
	signal syscall.Signal
	name   string
}

// stopped extracts records of three parts or more, and sends a signal to extracts at a
// moment. Some extracts write to one directory, one after the other, and continue after the
// finished parts; others start with nothing. all sends each signal at each step.
func stopped(t *testing.T, dir string, records int64, all bool, flags ...string) {
	t.Helper()
	if status, last := extracts(t, dir, nil, "whole", flags...).Wait(t); status != 0 || scripttest.Number(t, last, "events") != records {
		t.Fatalf("undisturbed: %d, %v", status, last)
	}
	want := sizes(t, filepath.Join(dir, "whole"))
	if len(want) < 5 { // with the manifest and _SUCCESS
		t.Fatalf("the result is %v, want three parts or more", want)
	}
	stop := func(out string, m moment, f fatal) {
		t.Helper()
		p := extracts(t, dir, scripttest.Holds(m.step, m.n), out, flags...)
		p.Stops(t)
		p.GoOn(t, f.signal)
		status, last := p.Wait(t)
		text, _ := last["error"].(string)
		_, err := os.Stat(filepath.Join(dir, out))
		switch {
		case m.step == breakpoint.Published:
			if status != 0 || err != nil {
				t.Fatalf("%s when it was done: it ended with status %d, and %v: %s", f.name, status, err, p.Stderr.String())
			}
		case status != 1 || !strings.HasPrefix(text, "stopped by "+f.name):
			t.Errorf("%s at %s: ended with status %d, and the last line has the error %q: %s", f.name, m, status, text, p.Stderr.String())
		case err == nil:
			t.Fatalf("%s at %s: it was stopped, and its result can be seen", f.name, m)
		}
	}
	finish := func(out string) {
		t.Helper()
		if status, _ := extracts(t, dir, nil, out, flags...).Wait(t); status != 0 && status != 73 {
			t.Fatalf("the last run ended with status %d", status)
		}
		if got := sizes(t, filepath.Join(dir, out)); !maps.Equal(got, want) {
			t.Errorf("the result is %v, undisturbed %v", got, want)
		}
	}

	fatals := []fatal{{syscall.SIGTERM, "SIGTERM"}, {syscall.SIGQUIT, "SIGQUIT"}, {syscall.SIGINT, "SIGINT"}}
	some, rows := 2, 1 // of the moments, and of the directories
	if all {
		some, rows = 6, len(fatals)
	}
	for i := range rows {
		out := fmt.Sprint("out", i)
		for j, step := range []string{breakpoint.Fetch, breakpoint.Part, breakpoint.Publish, breakpoint.Published} {
			stop(out, moment{step, 1}, fatals[(i+j)%len(fatals)])
		}
		finish(out)
	}
	for i, m := range []moment{
		{breakpoint.Fetch, 2}, {breakpoint.Part, 2}, // of which a second time is certain only where nothing is done yet
		{breakpoint.Fetch, 1}, {breakpoint.Part, 1}, {breakpoint.Publish, 1}, {breakpoint.Published, 1},
	}[:some] {
		out := fmt.Sprint("out ", m)
		stop(out, m, fatals[i%len(fatals)])
		finish(out)
	}
}

// TestAnExtractReportsItsProgress sends USR1 in the middle of an extract. The extract continues.
func TestAnExtractReportsItsProgress(t *testing.T) {
	t.Parallel()
	dir := played(t, 20_000)
	for step, tells := range map[string][]string{
		breakpoint.Fetch: {"extract: process ", "extract: reading trails: ", "  reading  a batch of "},
		breakpoint.Part:  {"extract: process ", "extract: reading trails: ", "  writing  part-0000"},
	} {
		p := extracts(t, dir, scripttest.Holds(step, 1), step)
		p.TellsAt(t, step, tells)
		status, last := p.Wait(t)
		if status != 0 || scripttest.Number(t, last, "events") != 20_000 {
			t.Fatalf("ended with status %d: %v\n%s", status, last, p.Stderr.String())
		}
	}
}

// TestAnExtractThatHangsEndsAllTheSame sends a signal to an extract that waits for its list of
// users. A signal does not end this read. After one signal the extract exits when its time
// is over, after a second one at once.
func TestAnExtractThatHangsEndsAllTheSame(t *testing.T) {
	t.Parallel() // it waits most of the time
	dir := played(t, 100)
	for name, s := range map[string]syscall.Signal{"once": syscall.SIGTERM, "again": syscall.SIGINT} {
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
			p.Reads(t, 0)
			if s == syscall.SIGINT {
				p.SignalUntilItEnds(t, s)
			} else {
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
