package job

import (
	"fmt"
	"strings"
)

// maxNamed is the number of missing files that an error names.
const maxNamed = 5

// CheckRequired returns an error that wraps ErrNoInput if a behaviour that the
// job requires is among those missing. It names the first few files.
func (j *Job) CheckRequired(missing []Missing) error {
	var names []string
	n := 0
	for _, m := range missing {
		if !j.Behaviours[m.Kind].Required {
			continue
		}
		if n++; n <= maxNamed {
			names = append(names, fmt.Sprintf("%s on %s: %s", j.Schema.Kinds[m.Kind].Name, m.Date, m.Path))
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

// MinRecordsOf returns the minimum number of records of a file of a kind. kind is -1 if the
// path does not have the kind.
func (j *Job) MinRecordsOf(kind int) int64 {
	if kind < 0 {
		return j.MinRecords
	}
	return j.Behaviours[kind].MinRecords
}
