package metrics_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/metrics"
	"usertrail/internal/run/outcome"
	"usertrail/internal/test/testkit"
)

var noon = time.Date(2014, 9, 1, 12, 0, 0, 0, time.UTC)

// load returns a load that ended with a status, minutes after noon.
func load(minutes int, status exit.Status) metrics.Run {
	return metrics.Run{
		Program: "bulkload", Command: "load", Table: "hdfs://nn/trails", Ended: noon.Add(time.Duration(minutes) * time.Minute), Seconds: 12.5,
		Status: status, Success: status == 0 || status == 99, Changed: status == 0,
		Counts: outcome.Counts{outcome.Read: 10, outcome.Loaded: 9, outcome.Quarantined: 1, outcome.Files: 2, outcome.Failed: 3, outcome.HFiles: 1, outcome.Bytes: 1e9},
	}
}

// values returns the values that Prometheus's own parser reads from a file, by name and own
// labels.
func values(t *testing.T, name string) map[string]float64 {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := expfmt.NewTextParser(model.UTF8Validation)
	all, err := p.TextToMetricFamilies(f)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for metric, family := range all {
		if family.GetHelp() == "" {
			t.Errorf("%s has no help", metric)
		}
		for _, m := range family.GetMetric() {
			key := strings.TrimPrefix(metric, "usertrail_last_")
			run := map[string]string{}
			for _, l := range m.GetLabel() {
				switch l.GetName() {
				case "program", "command", "table":
					run[l.GetName()] = l.GetValue()
				default:
					key += " " + l.GetValue()
				}
			}
			if want := map[string]string{"program": "bulkload", "command": "load", "table": "hdfs://nn/trails"}; !maps.Equal(run, want) {
				t.Errorf("%s has the labels %v, want %v", key, run, want)
			}
			out[key] = m.GetGauge().GetValue()
		}
	}
	return out
}

func TestAFileHasTheLastRun(t *testing.T) {
	name := filepath.Join(t.TempDir(), "load.prom")
	if err := metrics.Write(name, load(1, 0)); err != nil {
		t.Fatal(err)
	}
	at := float64(noon.Unix() + 60)
	want := map[string]float64{
		"run_end_timestamp_seconds": at, "run_duration_seconds": 12.5, "run_status": 0,
		"success_timestamp_seconds": at, "change_timestamp_seconds": at,
		"run_records read": 10, "run_records loaded": 9, "run_records quarantined": 1, "run_files done": 2, "run_files failed": 3, "run_bytes": 1e9,
	}
	if got := values(t, name); !maps.Equal(got, want) {
		t.Errorf("the file tells %v, want %v", got, want)
	}
	left, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(left) != 1 {
		t.Errorf("beside the file lies %v, %v", left, err)
	}
}

// TestLastSuccessIsKept simulates a week of nights.
func TestLastSuccessIsKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "load.prom")
	for minute, night := range []struct {
		status          exit.Status
		success, change int // minutes after noon; -1 for none
	}{{75, -1, -1}, {99, 1, -1}, {0, 2, 2}, {1, 2, 2}, {66, 2, 2}, {99, 5, 2}, {0, 6, 6}} {
		if err := metrics.Write(name, load(minute, night.status)); err != nil {
			t.Fatal(err)
		}
		got := values(t, name)
		for metric, minutes := range map[string]int{"success_timestamp_seconds": night.success, "change_timestamp_seconds": night.change} {
			v, ok := got[metric]
			if want := float64(noon.Unix() + int64(minutes)*60); ok != (minutes >= 0) || ok && v != want {
				t.Errorf("after night %d, status %d: %s is %v, %t, want %v", minute, night.status, metric, v, ok, want)
			}
		}
	}
}

// TestAFailureRemovesNoSuccess has failed runs about another table, about another command,
// and about an unknown table.
func TestAFailureRemovesNoSuccess(t *testing.T) {
	name := filepath.Join(t.TempDir(), "load.prom")
	line := func(metric, labels string, minutes int) string {
		return fmt.Sprintf("usertrail_last_%s{%s} %s", metric, labels, strconv.FormatFloat(float64(noon.Unix()+int64(minutes)*60), 'g', -1, 64))
	}
	const trails, elsewhere = `command="load",program="bulkload",table="hdfs://nn/trails"`, `command="load",program="bulkload",table="elsewhere"`
	unknown, other, commit, moved := load(2, 64), load(3, 66), load(4, 75), load(5, 0)
	unknown.Table, other.Table, commit.Command, moved.Table = "", "elsewhere", "commit", "elsewhere"
	for _, step := range []struct {
		run    metrics.Run
		labels string // labels of the run
		kept   []string
		gone   string
	}{
		{load(1, 0), trails, []string{line("success_timestamp_seconds", trails, 1), line("change_timestamp_seconds", trails, 1)}, elsewhere},
		{unknown, trails, []string{line("success_timestamp_seconds", trails, 1), line("change_timestamp_seconds", trails, 1)}, `table=""`},
		{other, elsewhere, []string{line("success_timestamp_seconds", trails, 1), line("change_timestamp_seconds", trails, 1)}, "success_timestamp_seconds{" + elsewhere},
		{commit, strings.Replace(trails, "load", "commit", 1), []string{line("success_timestamp_seconds", trails, 1), line("change_timestamp_seconds", trails, 1)}, elsewhere},
		{moved, elsewhere, []string{line("success_timestamp_seconds", elsewhere, 5), line("change_timestamp_seconds", elsewhere, 5)}, trails},
	} {
		if err := metrics.Write(name, step.run); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range append(step.kept, fmt.Sprintf("usertrail_last_run_status{%s} %d", step.labels, step.run.Status)) {
			if !strings.Contains(string(b), want+"\n") {
				t.Errorf("after status %d the line %s is missing in\n%s", step.run.Status, want, b)
			}
		}
		if strings.Contains(string(b), step.gone) {
			t.Errorf("after status %d there is %s in\n%s", step.run.Status, step.gone, b)
		}
	}
}

// TestWhatIsNotOursStays checks that a file of another program is never overwritten.
func TestWhatIsNotOursStays(t *testing.T) {
	dir := t.TempDir()
	for text, what := range map[string]string{
		"logs: logs/{date}/{behaviour}.csv\n": "a job file",
		"node_load1 0.5\n":                    "metrics of another",
		"# My notes\n# of today\n":            "comments",
	} {
		name := filepath.Join(dir, strings.ReplaceAll(what, " ", "-"))
		testkit.WriteFile(t, name, text)
		for _, err := range []error{metrics.Check(name), metrics.Write(name, load(1, 0))} {
			if !errors.Is(err, metrics.ErrForeign) || !strings.Contains(fmt.Sprint(err), name) {
				t.Errorf("%s: %v, want ErrForeign with the name", what, err)
			}
		}
		if b, _ := os.ReadFile(name); string(b) != text {
			t.Errorf("%s was replaced by %q", what, b)
		}
	}
	if err := metrics.Check(filepath.Join(dir, "none", "load.prom")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	if err := metrics.Check(filepath.Join(dir, "new.prom")); err != nil {
		t.Errorf("a file that does not exist yet: %v", err)
	}
}

// TestPromtoolFindsNothing checks a file as `promtool check metrics` does.
func TestPromtoolFindsNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "load.prom")
	extract := metrics.Run{
		Program: "extract", Command: "extract", Table: "d:\\ \"trails\"\nof ös", Ended: noon, Seconds: 1e-9, Status: 75,
		Counts: outcome.Counts{outcome.Users: 1, outcome.Found: 1, outcome.Active: 0, outcome.Kept: 0, outcome.Events: 1e15, outcome.Files: 3},
	}
	for _, r := range []metrics.Run{load(1, 0), load(2, 99), load(3, 65), extract} {
		if err := metrics.Write(name, r); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		problems, err := promlint.New(bytes.NewReader(b)).Lint()
		if err != nil || len(problems) > 0 {
			t.Errorf("status %d: promlint says %v, %v of\n%s", r.Status, problems, err, b)
		}
	}
}

// TestThePageNamesEveryMetric writes all metrics of a load and of an extract, and finds
// their names and the values of their labels in docs/reference/metrics.md.
func TestThePageNamesEveryMetric(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	run := load(0, 0)
	for _, name := range []outcome.Name{"read", "loaded", "quarantined", "duplicate", "skipped", "users", "found", "active", "kept", "files", "already", "missing", "failed", "bytes", "cells", "events"} {
		run.Counts[name] = 1
	}
	name := filepath.Join(t.TempDir(), "load.prom")
	if err := metrics.Write(name, run); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range regexp.MustCompile(`(?m)^(usertrail_\w+)\{([^}]*)\}`).FindAllStringSubmatch(string(text), -1) {
		found++
		want := []string{m[1]}
		for _, label := range regexp.MustCompile(`(outcome|state)="(\w+)"`).FindAllStringSubmatch(m[2], -1) {
			want = append(want, label[1], label[2])
		}
		for _, w := range want {
			if !strings.Contains(string(page), "`"+w+"`") {
				t.Errorf("docs/reference/metrics.md does not name %s of %s", w, m[0])
			}
		}
	}
	if found < 20 {
		t.Errorf("found only %d metrics in\n%s", found, text)
	}
}
