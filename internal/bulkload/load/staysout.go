package load

import (
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/format/manifest"
)

// staysOut adds to the result that records of f, which the job asks for, are not in the table and are not
// loaded. records is the largest possible number of them; 0 is not known.
func (l *Load) staysOut(f *delivered.File, why string, records int64) {
	dates, dropped := f.Dates(l.cfg.Job.Format.Slack), l.To.Info().Dropped
	if dates != nil && dropped != nil && dates.To < *dropped {
		return // it has no record of a day that was not dropped
	}
	l.Result.StaysOut = bulkload.AddStaysOut(l.Result.StaysOut, bulkload.StaysOut{Why: why, Paths: map[string]int64{f.Path: records}})
}

// unknownRecords counts records of a file that loads left out and that the job may ask for, by reason.
type unknownRecords map[string]int64

// add adds the records that the load of in left out.
func (u unknownRecords) add(left manifest.LeftOutKind, in *manifest.Input) {
	switch left {
	case manifest.UnknownBySkip:
		u[bulkload.BySkip] += in.Skips.Condition
	case manifest.UnknownByTexts:
		u[bulkload.ByTexts] += in.Skips.Unknown
	case manifest.UnknownByRead:
		u[bulkload.ByRead] += in.Skips.WithoutUser
		if in.Dates == nil {
			u[bulkload.ByRead] += in.Skips.OutsideDates
		}
	}
}
