// Package scripttest runs the scripts that test the commands. The scripts are
// files of testscript in cmd/*/testdata/script. In addition to testscript's own commands they
// have these:
//
//	exits N PROGRAM ARG...    the program ends with status N, prints each error
//	                          once, and ends its stdout with the JSON line
//	jsonline FIELD=VALUE...   the last line of stdout is one JSON object with
//	                          these values, and its counts add up
//	jsonlog                   every line of stderr is a JSON object of a log
//	lineage FILE              every line is an event that fits OpenLineage's schemas
//	load FROM TO [TYPES]      loads by ./usertrail.yaml, for scripts of extract
//	reread FROM TO            adds fields of ./usertrail.yaml to loaded records, for scripts of extract
//	drop BEFORE               drops the days before a date, for scripts of extract
//	rows DIR                  prints the events of a table or a result, one per
//	                          line, without the id
//	lock FILE                 holds a lock until the script ends
//	remember DIR              records the files of DIR, for unchanged DIR
//	gzip FILE                 compresses it to FILE.gz
//	shorten FILE N            cuts N bytes off its end
//	encode ENCODING FILE      writes it in another encoding
package scripttest

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"usertrail/internal/run/lineage/lineagetest"
	"usertrail/internal/test/testkit"
)

// Run runs the scripts of the package under test, all at once.
func Run(t *testing.T) {
	path := os.Getenv("PATH")
	if !testkit.All() && testing.CoverMode() == "" {
		// They start in half the time of the test binary.
		path = testkit.Commands(t) + string(os.PathListSeparator) + path
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireUniqueNames:  true,
		ContinueOnError:     true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", path)
			env.Values[remembered] = map[string]map[string]string{}
			// With the race detector every program would sleep a second at its end.
			env.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"jsonline":  jsonLine,
			"jsonlog":   jsonLog,
			"lineage":   lineage,
			"load":      loadTable,
			"reread":    rereadTable,
			"drop":      dropDays,
			"undrop":    undropDays,
			"rows":      rows,
			"lock":      lock,
			"remember":  remember,
			"unchanged": unchanged,
			"gzip":      compress,
			"shorten":   shorten,
			"encode":    encode,
		},
	})
}

// usage fails a script that uses a command wrongly.
func usage(ts *testscript.TestScript, neg, right bool, how string) {
	if neg || !right {
		ts.Fatalf("usage: %s", how)
	}
}

// exits implements the command of that name.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "exits N PROGRAM ARG...")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		got = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s ended with status %d, want %d", strings.Join(args[1:], " "), got, want)
	}
	stdout, stderr := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	if want != 0 && !strings.Contains(stderr, args[1]+": ") {
		ts.Fatalf("stderr does not say why it ended with status %d", want)
	}
	if o, ok := lastObject(stdout); ok {
		checkEnd(ts, o, want, stderr)
	}
}

// checkEnd compares the last line with the status, and its error with stderr.
func checkEnd(ts *testscript.TestScript, o map[string]any, status int, stderr string) {
	if o["status"] != json.Number(strconv.Itoa(status)) {
		ts.Fatalf("the last line of stdout has status %v, want %d", o["status"], status)
	}
	text, _ := o["error"].(string)
	switch {
	case (text != "") != (status != 0):
		ts.Fatalf("the last line of stdout has error %q at status %d", text, status)
	case text != "" && strings.Count(stderr, text) != 1:
		ts.Fatalf("stderr has the error of the last line %d times, want once: %s", strings.Count(stderr, text), text)
	}
	seconds, ok := o["seconds"].(json.Number)
	if _, decimals, _ := strings.Cut(seconds.String(), "."); !ok || len(decimals) > 3 {
		ts.Fatalf("the last line of stdout has seconds %q, want a number of three decimals", seconds)
	}
}

// lastObject returns the last line of stdout if it is a JSON object.
func lastObject(stdout string) (map[string]any, bool) {
	line := strings.TrimSuffix(stdout, "\n")
	line = line[strings.LastIndexByte(line, '\n')+1:]
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var o map[string]any
	if d.Decode(&o) != nil || d.More() || !strings.HasSuffix(stdout, "\n") {
		return nil, false
	}
	_, ours := o["status"]
	return o, ours
}

// jsonLine implements the command of that name.
func jsonLine(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, true, "jsonline FIELD=VALUE...")
	o, ok := lastObject(ts.ReadFile("stdout"))
	if !ok {
		ts.Fatalf("the last line of stdout is not a JSON object with a status")
	}
	for _, arg := range args {
		field, want, _ := strings.Cut(arg, "=")
		got, there := o[field]
		if !there {
			ts.Fatalf("the last line of stdout has no %s", field)
		}
		if text, err := json.Marshal(got); err != nil || string(text) != want && got != want {
			ts.Fatalf("%s is %s, want %s", field, text, want)
		}
	}
	if _, counts := o["read"]; counts {
		checkLaw(ts, o)
	}
}

// jsonLog implements the command of that name.
func jsonLog(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 0, "jsonlog")
	n := 0
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		n++
		var o struct {
			Time       time.Time
			Level, Msg string
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil || o.Time.IsZero() || o.Level == "" || o.Msg == "" {
			ts.Fatalf("line %d of stderr is none of a log in JSON: %s", n, line)
		}
	}
	if n == 0 {
		ts.Fatalf("stderr is empty")
	}
}

// lineage implements the command of that name.
func lineage(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "lineage FILE")
	n := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		n++
		if err := lineagetest.Check([]byte(line)); err != nil {
			ts.Fatalf("event %d of %s: %v", n, args[0], err)
		}
	}
	if n == 0 {
		ts.Fatalf("%s has no events", args[0])
	}
}

// checkLaw checks read = loaded + quarantined + duplicate + skipped.
func checkLaw(ts *testscript.TestScript, o map[string]any) {
	count := func(field string) int64 {
		n, ok := o[field].(json.Number)
		if !ok {
			ts.Fatalf("the last line of stdout has no number %s", field)
		}
		v, err := n.Int64()
		ts.Check(err)
		return v
	}
	if read, sum := count("read"), count("loaded")+count("quarantined")+count("duplicate")+count("skipped"); read != sum {
		ts.Fatalf("the conservation law does not hold: %d read, the others are %d together", read, sum)
	}
	for _, field := range []string{"cells", "files", "missing"} {
		count(field)
	}
}
