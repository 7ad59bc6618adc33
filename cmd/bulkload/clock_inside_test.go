package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/test/testkit"
)

// A clockWorld is a job and its logs. Commands run there at times that the test sets.
type clockWorld struct {
	t   *testing.T
	dir string
}

// at runs a command at a time, which is given as the time since the year 2000 began. A later call may have an earlier
// time, because each call has a bubble of its own, whose clock begins there.
func (w *clockWorld) at(since time.Duration, args ...string) (status int, said string) {
	w.t.Helper()
	bulkloadtest.InBubble(w.t, func(t *testing.T) {
		time.Sleep(since)
		var out bytes.Buffer
		status = run(t.Context(), args, strings.NewReader(""), &out, &out)
		said = out.String()
	})
	return status, said
}

// must runs a command that ends with a status.
func (w *clockWorld) must(want int, since time.Duration, args ...string) string {
	w.t.Helper()
	status, said := w.at(since, args...)
	if status != want {
		w.t.Fatalf("%v after %s: status %d, want %d\n%s", args, since, status, want, said)
	}
	return said
}

// load loads a day.
func (w *clockWorld) load(want int, since time.Duration, day string, more ...string) string {
	w.t.Helper()
	return w.must(want, since, append([]string{"--job", filepath.Join(w.dir, "usertrail.yaml"), "--from", day, "--to", day, "--quiet"}, more...)...)
}

// TestClocksThatAreSet runs commands while the clock is set back and forward between them.
func TestClocksThatAreSet(t *testing.T) {
	w := &clockWorld{t, t.TempDir()}
	table := filepath.Join(w.dir, "trails")
	write := func(name, text string) { testkit.WriteFile(t, filepath.Join(w.dir, name), text) }
	write("usertrail.yaml", "logs: \"logs/{date}/{behaviour}.csv\"\ntable: trails\nuser: user\ntime: {column: time, format: \"2006-01-02 15:04:05\"}\nbehaviours: {play: {id: 1}}\n")
	const days = 5
	for n := range days {
		day := fmt.Sprintf("2014-09-0%d", n+1)
		write("logs/"+day+"/play.csv", "user,time\nu1,"+day+" 10:00:00\n")
	}
	metrics := filepath.Join(w.dir, "load.prom")
	noon := 240 * time.Hour
	clocks := []time.Duration{noon, noon - time.Hour, noon + 24*time.Hour, 0, noon}
	for n, since := range clocks {
		day := fmt.Sprintf("2014-09-0%d", n+1)
		w.load(0, since, day, "--metrics-file", metrics, "--wait", "2h")
		w.load(99, since-min(since, time.Hour), day)
		text, err := os.ReadFile(metrics)
		if want := `_last_success_timestamp_seconds{command="load",program="bulkload",table="` + table + `"} 9.4`; err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the metrics of %s are %s, %v; want %s…", day, text, err, want)
		}
	}
	w.must(0, 0, "verify", "--table", table)
	var ran []string
	for line := range strings.Lines(w.must(0, 0, "runs", "--table", table, "--json")) {
		if _, day, ok := strings.Cut(line, `"from":"`); ok && strings.Contains(line, `"status":0`) {
			ran = append(ran, day[:10])
		}
	}
	if got := strings.Join(ran, " "); got != "2014-09-01 2014-09-02 2014-09-03 2014-09-04 2014-09-05" {
		t.Errorf("the loads were recorded in the order %s", got)
	}

	drop := func(since time.Duration) {
		t.Helper()
		w.must(0, since, "drop", "--table", table, "--before", "2014-09-03", "--keep-for", "24h")
	}
	drop(noon)
	w.must(0, noon-time.Hour, "undrop", "--table", table) // set back: the files are kept longer
	drop(noon)
	w.must(0, noon+23*time.Hour, "undrop", "--table", table)
	drop(noon)
	if status, said := w.at(noon+25*time.Hour, "undrop", "--table", table); status == 0 { // set forward: the time has passed
		t.Errorf("an undrop after --keep-for ended with 0:\n%s", said)
	}
	w.must(0, noon-time.Hour, "verify", "--table", table)
}
