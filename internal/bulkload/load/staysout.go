package load

import (
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/format/manifest"
)

// staysOut adds a file to Result.StaysOut: the job wants records of f that are not in the table, and the
// load does not load them. records is the largest possible number of such records.
func (l *Load) staysOut(f *delivered.File, why manifest.Setting, records int64) {
	dates, dropped := f.Dates(l.cfg.Job.Format.Slack), l.To.Info().Dropped
	if dates != nil && dates.To.Before(dropped) {
		return // it has no record of a day that was not dropped
	}
	l.Result.StaysOut = bulkload.AddStaysOut(l.Result.StaysOut, bulkload.StaysOut{Why: why, Paths: map[string]int64{f.Path: records}})
}
