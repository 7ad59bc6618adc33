package delivered

import (
	"fmt"
	"strings"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// SelectionOf returns how j selects and reads records of files in which a column names the behaviour. One goroutine at a
// time may use the result.
func SelectionOf(j *job.Job) manifest.Selection {
	return manifest.Selection{TextsBy: j.TextsBy(), NamesBy: j.NamesBy(), Skip: j.Skip(), CutBy: j.CutBy(), UserBy: remembered(j.UserBy), TimeBy: remembered(j.TimeBy)}
}

// remembered returns a function that calls f once for each list. Loads have few lists of behaviours, and many files.
func remembered(f func([]string) string) func([]string) string {
	known := map[string]string{}
	return func(behaviours []string) string {
		key := strings.Join(behaviours, "\x00")
		out, ok := known[key]
		if !ok {
			out = f(behaviours)
			known[key] = out
		}
		return out
	}
}

// UnclearCopy returns an error if a load of the file at path cannot determine which of its records the copy c added.
func UnclearCopy(path string, c *ledger.Copy) error {
	if c.Unclear == "" {
		return nil
	}
	return fmt.Errorf("%w: %s has the bytes of %s, which was loaded by a job with other settings of %s. A load cannot tell which records the table has: load the file by a job with the earlier settings, or load the logs into a new table",
		bulkload.ErrRequest, path, c.Path, c.Unclear)
}
