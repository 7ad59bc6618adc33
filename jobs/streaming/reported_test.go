package streaming_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"usertrail/internal/run/lineage/lineagetest"
)

// A report is the content of the metrics file and of the OpenLineage file of one command's runs.
type report struct {
	table  string
	status int      // of the last run
	types  []string // of the events
	runs   int
	inputs string // of the events that say COMPLETE; all have the same
	output string
}

// A reporter is the files to which a command reports.
type reporter struct{ metrics, events string }

func (w *fixture) reporter(name string) reporter {
	return reporter{filepath.Join(w.dir, name+".prom"), filepath.Join(w.dir, name+".events")}
}

// flags returns the flags that name the files.
func (r reporter) flags() []string {
	return []string{"--metrics-file", r.metrics, "--openlineage", r.events}
}

// check compares the files with want. The run is reported as command of program, and its parts
// are not reported.
func (r reporter) check(t *testing.T, program, command string, want report) {
	t.Helper()
	var got report
	got.readMetrics(t, r.metrics, program, command)
	got.readEvents(t, r.events, program+"."+command)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s reports %+v, want %+v", command, got, want)
	}
}

func (r *report) readMetrics(t *testing.T, file, program, command string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^usertrail_last_run_status\{command="` + command + `",program="` + program + `",table="(.*)"\} (\d+)$`)
	found := line.FindAllStringSubmatch(string(b), -1)
	if len(found) != 1 || strings.Contains(string(b), `command="commit"`) || strings.Contains(string(b), `command="plan"`) {
		t.Fatalf("want the metrics of one %s, and not of its parts:\n%s", command, b)
	}
	r.table = found[0][1]
	r.status, _ = strconv.Atoi(found[0][2])
}

func (r *report) readEvents(t *testing.T, file, job string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	type dataset struct{ Namespace, Name string }
	one := func(all []dataset) string {
		if len(all) != 1 {
			t.Errorf("%d datasets, want one: %+v", len(all), all)
			return ""
		}
		return strings.TrimPrefix(all[0].Namespace, "file") + all[0].Name
	}
	runs := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		var e struct {
			EventType       string
			Run             struct{ RunID string }
			Job             struct{ Name string }
			Inputs, Outputs []dataset
		}
		if err := errors.Join(lineagetest.Check([]byte(line)), json.Unmarshal([]byte(line), &e)); err != nil {
			t.Fatal(err)
		}
		if e.Job.Name != job {
			t.Errorf("an event is of %q, want %q", e.Job.Name, job)
		}
		r.types = append(r.types, e.EventType)
		runs[e.Run.RunID] = true
		if e.EventType == "COMPLETE" {
			r.inputs, r.output = one(e.Inputs), one(e.Outputs)
		}
	}
	r.runs = len(runs)
}
