package load

import (
	"fmt"
	"strings"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// selection returns how j selects and reads records of files in which a column names the behaviour.
func selection(j *job.Job) manifest.Selection {
	known := map[string]string{} // by behaviours: loads have few lists of them, and many files
	return manifest.Selection{TextsBy: j.TextsBy(), Skip: j.Skip(), CutBy: j.CutBy(), ReadBy: func(behaviours []string) string {
		key := strings.Join(behaviours, "\x00")
		out, ok := known[key]
		if !ok {
			out = j.ReadBy(behaviours)
			known[key] = out
		}
		return out
	}}
}

// selection returns how the job selects and reads records of f.
func (l *Load) selection(f *delivered.File) manifest.Selection {
	by := l.by
	if f.Kind >= 0 {
		by.TextsBy = ""
	}
	return by
}

// unknownSkips returns the error for a file that has to be read, and of which a load left out records that the
// job cannot tell apart.
func unknownSkips(f *delivered.File, in *manifest.Input) error {
	return fmt.Errorf("%w: %s: an earlier load left out records of it by logs.skip: %q. The job reads other columns (format, delimiter, header, names, nulls or encoding) and asks for more of the file, and a load cannot tell which records the table has: put the earlier settings back and load the file, or load the logs into a new table",
		bulkload.ErrRequest, f.Path, in.SkippedBy)
}
