package bulkload

import (
	"log/slog"

	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
)

// The words for columns of logs.skip that no line of JSON has.
const (
	AbsentText   = "no record has a column of logs.skip"
	AbsentAdvice = "if the name of the column is wrong, correct logs.skip in the job before the load, because loaded records stay in the table"
)

// absentAfter is the next step after a load.
const absentAfter = "if the name of the column is wrong, correct logs.skip in the job, and load the logs into a new table, because loaded records stay in the table"

// AbsentOfSkip returns the columns of the job's logs.skip that no record has. It returns none if the records are fewer than ToWarn.
func AbsentOfSkip(j *job.Job, c *record.SkipColumns) []string {
	if c.Records < ToWarn {
		return nil
	}
	return c.Absent(j.Format.Skip)
}

// WarnAbsentOfSkip logs these columns. loaded means that the records are loaded.
func WarnAbsentOfSkip(log *slog.Logger, j *job.Job, c *record.SkipColumns, loaded bool) {
	advice := AbsentAdvice
	if loaded {
		advice = absentAfter
	}
	if absent := AbsentOfSkip(j, c); len(absent) > 0 {
		log.Warn(AbsentText, "columns", Few(absent), "records", c.Records, "advice", advice)
	}
}
