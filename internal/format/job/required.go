package job

import (
	"fmt"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
)

// maxNamed is the number of missing files that an error names.
const maxNamed = 5

// CheckRequired returns an error that wraps ErrNoInput if one of missing is required for the requested
// kinds. It names the first few files.
func (j *Job) CheckRequired(missing []Missing, kinds []int) error {
	var names []string
	n := 0
	for _, m := range missing {
		required := j.RequiredOf(m, kinds)
		if len(required) == 0 {
			continue
		}
		if n++; n <= maxNamed {
			names = append(names, fmt.Sprintf("%s on %s: %s", behaviour.List(required), m.Date, m.Path))
		}
	}
	switch {
	case n == 0:
		return nil
	case n > maxNamed:
		names = append(names, fmt.Sprintf("and %d more", n-maxNamed))
	}
	return fmt.Errorf("job: %w: the job requires %s", ErrNoInput, strings.Join(names, "; "))
}

// FirstMissing describes the first n missing files.
func (j *Job) FirstMissing(missing []Missing, n int) []string {
	var out []string
	for _, m := range missing[:min(len(missing), n)] {
		text := fmt.Sprintf("%s: %s", m.Date, m.Path)
		if m.Kind >= 0 {
			text = j.Schema.Kinds[m.Kind].Name + " on " + text
		}
		out = append(out, text)
	}
	return out
}

// RequiredOf returns the names of the requested kinds that the job requires and that the file m would
// have. If kinds is empty, all kinds are requested.
func (j *Job) RequiredOf(m Missing, kinds []int) []string {
	var names []string
	for k := range j.Behaviours {
		if j.Behaviours[k].Required && (m.Kind < 0 || m.Kind == k) && (len(kinds) == 0 || slices.Contains(kinds, k)) {
			names = append(names, j.Schema.Kinds[k].Name)
		}
	}
	return names
}

// MinRecordsOf returns the minimum number of records of a file of a kind. kind is -1 if the
// path does not have the kind.
func (j *Job) MinRecordsOf(kind int) int64 {
	if kind < 0 {
		return j.MinRecords
	}
	return j.Behaviours[kind].MinRecords
}
