// Package metrics tells Prometheus how the last run went: a file in its text format,
// for the textfile collector of node_exporter. A file holds one run, of one program,
// command and table, and is replaced whole.
//
//	usertrail_last_success_timestamp_seconds   when a run last ended with 0 or 99
//	usertrail_last_change_timestamp_seconds    when a run last ended with 0
//
// are kept from the file that is replaced where the run was no such one, so an alarm
// needs no memory: a night that did not go well lets them grow old, and so does one
// that was killed, which writes nothing.
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
)

// ErrForeign is wrapped where a file holds what this package did not write.
var ErrForeign = errors.New("holds no metrics of usertrail")

const (
	prefix  = "usertrail_last_"
	success = prefix + "success_timestamp_seconds"
	change  = prefix + "change_timestamp_seconds"
)

// A Run is how a run ended.
type Run struct {
	Program string // bulkload or extract
	Command string // load, replay, extract, …
	Table   string // its address; empty where the run did not come so far
	Ended   time.Time
	Seconds float64
	Status  int
	Success bool // it ended as it should, be it with nothing to do
	Changed bool // it did something

	Result map[string]any // the fields of the last line
}

// labels are those of every metric.
func (r *Run) labels() prometheus.Labels {
	return prometheus.Labels{"program": r.Program, "command": r.Command, "table": r.Table}
}

// A field is a number of the last line that is worth a metric.
type field struct {
	name         string // of the field
	metric, help string
	label, value string // a label beside those of the run; none where empty
}

const (
	recordsHelp = "Records of the last run, by what became of them."
	usersHelp   = "Users of the last extract, by how far they came."
	filesHelp   = "Files of the last run: delivered ones of a load, by what became of them, or those that an extract wrote."
)

var fields = []field{
	{"read", "records", recordsHelp, "outcome", "read"},
	{"loaded", "records", recordsHelp, "outcome", "loaded"},
	{"quarantined", "records", recordsHelp, "outcome", "quarantined"},
	{"duplicate", "records", recordsHelp, "outcome", "duplicate"},
	{"skipped", "records", recordsHelp, "outcome", "skipped"},
	{"users", "users", usersHelp, "state", "asked"},
	{"found", "users", usersHelp, "state", "found"},
	{"active", "users", usersHelp, "state", "active"},
	{"kept", "users", usersHelp, "state", "kept"},
	{"files", "files", filesHelp, "state", "done"},
	{"already", "files", filesHelp, "state", "already"},
	{"missing", "files", filesHelp, "state", "missing"},
	{"failed", "files", filesHelp, "state", "failed"},
	{"bytes", "bytes", "Bytes of the delivered files of the last run.", "", ""},
	{"cells", "cells", "Cells that the last run loaded.", "", ""},
	{"events", "behaviours", "Behaviours that the last extract took out.", "", ""},
}

// Check says whether name can be written: its folder is there, and it holds nothing
// else.
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
		at, known := before.value(s.name, g.labels)
		if s.now {
			at, known = ended, true
		}
		if known {
			g.set(strings.TrimPrefix(s.name, prefix), s.help, at)
		}
	}
	for _, f := range fields {
		if n, ok := number(r.Result[f.name]); ok {
			g.add("run_"+f.metric, f.help, n, f.label, f.value)
		}
	}
	if err := prometheus.WriteToTextfile(name, g.registry); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// number is a number of a JSON object, or how long a list is.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case []any:
		return float64(len(v)), true
	}
	return 0, false
}

// gauges are metrics that all have the labels of one run.
type gauges struct {
	labels   prometheus.Labels
	registry *prometheus.Registry
	vectors  map[string]*prometheus.GaugeVec
}

func (g *gauges) set(name, help string, v float64) { g.add(name, help, v, "", "") }

// add sets the metric of a name, or that of it with one more label.
func (g *gauges) add(name, help string, v float64, label, value string) {
	all := maps.Clone(g.labels)
	if label != "" {
		all[label] = value
	}
	vec := g.vectors[name]
	if vec == nil {
		vec = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, slices.Sorted(maps.Keys(all)))
		g.registry.MustRegister(vec)
		g.vectors[name] = vec
	}
	vec.With(all).Set(v)
}

// families are the metrics of a file by name.
type families map[string]*dto.MetricFamily

// read reads a file of ours; one that is not there holds nothing.
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
		return nil, fmt.Errorf("%s %w: %w", name, ErrForeign, err)
	}
	if fi, err := f.Stat(); err != nil || len(all) == 0 && fi.Size() > 0 { // nothing but comments
		return nil, errors.Join(err, fmt.Errorf("%s %w", name, ErrForeign))
	}
	for metric := range all {
		if !strings.HasPrefix(metric, prefix) {
			return nil, fmt.Errorf("%s %w: but %s", name, ErrForeign, metric)
		}
	}
	return all, nil
}

// value is that of the metric with just these labels.
func (all families) value(name string, labels prometheus.Labels) (float64, bool) {
	for _, m := range all[name].GetMetric() {
		same := len(m.GetLabel()) == len(labels)
		for _, l := range m.GetLabel() {
			same = same && labels[l.GetName()] == l.GetValue()
		}
		if same {
			return m.GetGauge().GetValue(), true
		}
	}
	return 0, false
}
