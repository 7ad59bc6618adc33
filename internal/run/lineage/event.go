// Package lineage sends OpenLineage events. They record which run made which dataset from
// which other datasets. It appends each event as one line to a file, or posts it to an
// address.
//
// A run has an event START and one of COMPLETE, FAIL or ABORT, both with the same run ID.
// Datasets are named as the specification names files: by the service that holds them and
// their path there.
package lineage

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	specs  = "https://openlineage.io/spec/"
	spec   = specs + "2-0-2/OpenLineage.json#/$defs/RunEvent"
	facets = specs + "facets/"
)

// A Type is the state of a run at an event.
type Type string

// The types.
const (
	Start    Type = "START"
	Complete Type = "COMPLETE"
	Fail     Type = "FAIL"
	Abort    Type = "ABORT" // the user stopped the run
)

// A Run holds the data that all its events share.
type Run struct {
	ID        string // a UUID, such as NewID returns
	Namespace string // namespace of the job
	Job       string
	Producer  string // URI of the program that sends the events

	From, To time.Time // the days that the run covers, To not included; zero if there are none
	Parent   *Parent
}

// A Parent is the run that started this one.
type Parent struct{ Namespace, Job, RunID string }

// A Dataset is a dataset that the run read or wrote.
type Dataset struct {
	Namespace, Name string
	Fields          []Field // nil if unknown
	Written         *Written
}

// A Field is a column.
type Field struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
}

// Written is the amount of data that a run wrote.
type Written struct {
	Rows, Files int64
	Size        int64 // bytes; 0 if unknown
}

// NewID returns a new ID of a run.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// IsID reports whether id can be the ID of a run.
func IsID(id string) bool { return uuid.Validate(id) == nil }

// ParseParent reads a parent in the form that Airflow's integration sets in
// $OPENLINEAGE_PARENT_ID: namespace/job/run ID.
func ParseParent(text string) (*Parent, bool) {
	front, id, ok := cutLast(text)
	if !ok || uuid.Validate(id) != nil {
		return nil, false
	}
	namespace, job, ok := cutLast(front)
	if !ok || namespace == "" || job == "" {
		return nil, false
	}
	return &Parent{namespace, job, id}, true
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// Place returns the dataset of an address, which is a path, local or with a scheme.
func Place(address string) Dataset {
	if i := strings.Index(address, "://"); i >= 0 {
		rest := address[i+len("://"):]
		host, path, _ := strings.Cut(rest, "/")
		if strings.HasPrefix(address, "hdfs://") {
			path = "/" + path
		}
		return Dataset{Namespace: address[:i] + "://" + host, Name: path}
	}
	if abs, err := filepath.Abs(address); err == nil {
		address = abs
	}
	return Dataset{Namespace: "file", Name: filepath.ToSlash(address)}
}

// Event returns the event of a type, in the form that is sent. why is the error of a failed
// run.
func (r *Run) Event(t Type, at time.Time, inputs, outputs []Dataset, why string) map[string]any {
	run := map[string]any{}
	if !r.From.IsZero() {
		run["nominalTime"] = r.facet("1-0-1/NominalTimeRunFacet", map[string]any{
			"nominalStartTime": r.From.Format(time.RFC3339), "nominalEndTime": r.To.Format(time.RFC3339),
		})
	}
	if r.Parent != nil {
		run["parent"] = r.facet("1-2-0/ParentRunFacet", map[string]any{
			"run": map[string]any{"runId": r.Parent.RunID},
			"job": map[string]any{"namespace": r.Parent.Namespace, "name": r.Parent.Job},
		})
	}
	if why != "" {
		run["errorMessage"] = r.facet("1-0-1/ErrorMessageRunFacet", map[string]any{"message": why, "programmingLanguage": "Go"})
	}
	return map[string]any{
		"eventType": t,
		"eventTime": at.UTC().Format("2006-01-02T15:04:05.000Z07:00"),
		"producer":  r.Producer,
		"schemaURL": spec,
		"run":       map[string]any{"runId": r.ID, "facets": run},
		"job": map[string]any{"namespace": r.Namespace, "name": r.Job, "facets": map[string]any{
			"jobType": r.facet("2-0-4/JobTypeJobFacet", map[string]any{"processingType": "BATCH", "integration": "USERTRAIL", "jobType": "COMMAND"}),
		}},
		"inputs":  r.datasets(inputs),
		"outputs": r.datasets(outputs),
	}
}

// datasets returns the datasets of an event, never nil.
func (r *Run) datasets(all []Dataset) []map[string]any {
	out := []map[string]any{}
	for _, d := range all {
		set := map[string]any{"namespace": d.Namespace, "name": d.Name}
		if len(d.Fields) > 0 {
			set["facets"] = map[string]any{"schema": r.facet("1-2-0/SchemaDatasetFacet", map[string]any{"fields": d.Fields})}
		}
		if w := d.Written; w != nil {
			written := map[string]any{"rowCount": w.Rows, "fileCount": w.Files}
			if w.Size > 0 {
				written["size"] = w.Size
			}
			set["outputFacets"] = map[string]any{"outputStatistics": r.facet("1-0-2/OutputStatisticsOutputDatasetFacet", written)}
		}
		out = append(out, set)
	}
	return out
}

// facet returns a facet with its version and name.
func (r *Run) facet(name string, fields map[string]any) map[string]any {
	_, kind, _ := strings.Cut(name, "/")
	fields["_producer"] = r.Producer
	fields["_schemaURL"] = facets + name + ".json#/$defs/" + kind
	return fields
}
