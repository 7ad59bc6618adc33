// Package metrics writes metrics of the last run for Prometheus, in a file in its text
// format. The textfile collector of node_exporter reads the file. A file holds one run of one
// program, command and table, and is replaced as a whole.
//
//	usertrail_last_success_timestamp_seconds   when a run last ended with 0 or 99
//	usertrail_last_change_timestamp_seconds    when a run last ended with 0
//
// If a run does not set one of these metrics, its value and labels are copied from the
// replaced file. An alarm therefore needs no memory of its own. After a night that failed for
// any reason, or that was killed and wrote nothing, these values grow old.
package metrics

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
)

// ErrForeign is wrapped if this package did not write the file.
var ErrForeign = errors.New("holds no metrics of usertrail")

const (
	prefix  = "usertrail_last_"
	success = prefix + "success_timestamp_seconds"
	change  = prefix + "change_timestamp_seconds"
)

// A Run describes how a run ended.
type Run struct {
	Program string // bulkload or extract
	Command string // load, replay, extract, …
	Table   string // its address; if it is empty, the table of the replaced file
	Ended   time.Time
	Seconds float64
	Status  exit.Status
	Success bool // the run succeeded, even if it had nothing to do
	Changed bool // the run changed something

	Counts outcome.Counts
}

// labels returns the labels of every metric.
func (r *Run) labels() prometheus.Labels {
	return prometheus.Labels{"program": r.Program, "command": r.Command, "table": r.Table}
}

// A field is a number of the last line that becomes a metric.
type field struct {
	name         outcome.Name // name of the field
	metric, help string
	label, value string // a label in addition to the labels of the run; empty for none
}

const (
	recordsHelp = "Records of the last run, by outcome."
	usersHelp   = "Users of the last extract, by state."
	filesHelp   = "Files of the last run: the delivered files of a load, by state, or the files of a result."
)

var fields = []field{
	{outcome.Read, "records", recordsHelp, "outcome", "read"},
	{outcome.Loaded, "records", recordsHelp, "outcome", "loaded"},
	{outcome.Quarantined, "records", recordsHelp, "outcome", "quarantined"},
	{outcome.Duplicate, "records", recordsHelp, "outcome", "duplicate"},
	{outcome.Skipped, "records", recordsHelp, "outcome", "skipped"},
	{outcome.Users, "users", usersHelp, "state", "asked"},
	{outcome.Found, "users", usersHelp, "state", "found"},
	{outcome.Active, "users", usersHelp, "state", "active"},
	{outcome.Kept, "users", usersHelp, "state", "kept"},
	{outcome.Files, "files", filesHelp, "state", "done"},
	{outcome.Already, "files", filesHelp, "state", "already"},
	{outcome.Missing, "files", filesHelp, "state", "missing"},
	{outcome.Failed, "files", filesHelp, "state", "failed"},
	{outcome.Bytes, "bytes", "Bytes of the delivered files of the last run.", "", ""},
	{outcome.Cells, "cells", "Cells that the last run loaded.", "", ""},
	{outcome.Events, "behaviours", "Events that the last extract wrote.", "", ""},
}

// Check returns an error if name cannot be written: if its folder does not exist, or if the
// file holds anything else.
func Check(name string) error {
	info, err := os.Stat(filepath.Dir(name))
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder", filepath.Dir(name))
	}
	_, err = read(name)
	return err
}

// Write replaces the file called name.
func Write(name string, r Run) error {
	before, err := read(name)
	if err != nil {
		return err
	}
	if r.Table == "" {
		r.Table = before.table(&r)
	}
	g := gauges{labels: r.labels(), registry: prometheus.NewRegistry(), vectors: map[string]*prometheus.GaugeVec{}}
	ended := float64(r.Ended.UnixMilli()) / 1000
	g.set("run_end_timestamp_seconds", "When the last run ended.", ended)
	g.set("run_duration_seconds", "How long the last run took.", r.Seconds)
	g.set("run_status", "The exit status of the last run.", float64(r.Status))
	for _, s := range []struct {
		name, help string
		now        bool
	}{
		{success, "When a run last ended well, with status 0, or 99 where there was nothing to do.", r.Success},
		{change, "When a run last did something, with status 0.", r.Changed},
	} {
		name := strings.TrimPrefix(s.name, prefix)
		if s.now {
			g.set(name, s.help, ended)
			continue
		}
		for _, m := range before[s.name].GetMetric() {
			if labels := labelsOf(m); sameNames(labels, g.labels) {
				g.put(name, s.help, m.GetGauge().GetValue(), labels)
			}
		}
	}
	for _, f := range fields {
		if n, ok := r.Counts[f.name]; ok {
			g.add("run_"+f.metric, f.help, n, f.label, f.value)
		}
	}
	if err := prometheus.WriteToTextfile(name, g.registry); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// gauges are metrics that all have the labels of one run.
type gauges struct {
	labels   prometheus.Labels
	registry *prometheus.Registry
	vectors  map[string]*prometheus.GaugeVec
}

func (g *gauges) set(name, help string, v float64) { g.add(name, help, v, "", "") }

// add sets the metric with a name. If label is not empty, the metric has this label too.
func (g *gauges) add(name, help string, v float64, label, value string) {
	all := maps.Clone(g.labels)
	if label != "" {
		all[label] = value
	}
	g.put(name, help, v, all)
}

// put sets the metric with a name and all its labels.
func (g *gauges) put(name, help string, v float64, all prometheus.Labels) {
	vec := g.vectors[name]
	if vec == nil {
		vec = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, slices.Sorted(maps.Keys(all)))
		g.registry.MustRegister(vec)
		g.vectors[name] = vec
	}
	vec.With(all).Set(v)
}

// families maps names to the metrics of a file.
type families map[string]*dto.MetricFamily

// read reads a file that this package wrote. A missing file has no metrics.
func read(name string) (families, error) {
	f, err := os.Open(name)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := expfmt.NewTextParser(model.UTF8Validation)
	all, err := p.TextToMetricFamilies(f)
	if err != nil {
		return nil, fmt.Errorf("%s %w: name another file: %w", name, ErrForeign, err)
	}
	if fi, err := f.Stat(); err != nil || len(all) == 0 && fi.Size() > 0 { // nothing but comments
		return nil, errors.Join(err, fmt.Errorf("%s %w: name another file", name, ErrForeign))
	}
	for metric := range all {
		if !strings.HasPrefix(metric, prefix) {
			return nil, fmt.Errorf("%s %w, but %s: name another file", name, ErrForeign, metric)
		}
	}
	return all, nil
}

// table returns the table in the file for runs of r's program and command. It prefers a table
// with a successful run.
func (all families) table(r *Run) string {
	for _, name := range []string{success, prefix + "run_status"} {
		for _, m := range all[name].GetMetric() {
			if l := labelsOf(m); l["program"] == r.Program && l["command"] == r.Command {
				return l["table"]
			}
		}
	}
	return ""
}

// labelsOf returns the labels of a metric.
func labelsOf(m *dto.Metric) prometheus.Labels {
	out := prometheus.Labels{}
	for _, l := range m.GetLabel() {
		out[l.GetName()] = l.GetValue()
	}
	return out
}

// sameNames reports whether a and b have labels of the same names.
func sameNames(a, b prometheus.Labels) bool {
	return slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
}
