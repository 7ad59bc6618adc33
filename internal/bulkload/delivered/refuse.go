package delivered

import (
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
)

// A failed delivery may leave an empty log, or an error page instead of the log. The true file
// is delivered later under the same name.

// A refusedError is the error of a file that does not match the job. The load loads no record
// of the file, as if it had too many bad records.
type refusedError struct{ error }

// Unwrap returns the cause and the kind of e.
func (e refusedError) Unwrap() []error { return []error{e.error, bulkload.ErrTooBad} }

// Unfit adds the next step to err, an error of decoding a delivered file. The storage has reported no
// error. If err is about the header, the encoding or the line ends, the returned error wraps ErrTooBad.
func Unfit(err error) error {
	switch {
	case errors.Is(err, record.ErrHeader), errors.Is(err, record.ErrEncoding), errors.Is(err, record.ErrReturns):
		return refusedError{fmt.Errorf("%w: nothing of it is loaded: have the log delivered again, or correct the job", err)}
	case errors.Is(err, record.ErrEnding):
		return refusedError{fmt.Errorf("%w: nothing of it is loaded until then", err)}
	case errors.Is(err, record.ErrCompressed):
		return fmt.Errorf("%w: nothing of it is loaded: have the log delivered again", err)
	case errors.Is(err, record.ErrWindow):
		return fmt.Errorf("%w: %w: nothing of the file is loaded: raise --memory to %d times the window, or have the log compressed with a smaller window, such as by zstd -19",
			bulkload.ErrRequest, err, bulkload.WindowShare)
	case errors.Is(err, record.ErrLargeHeader):
		return fmt.Errorf("%w: %w: nothing of the file is loaded: raise --memory, or lower --workers", bulkload.ErrRequest, err)
	case errors.Is(err, record.ErrLarge):
		return fmt.Errorf("%w: %w: nothing of the file is loaded: raise --memory, lower --workers, or lower max_line in the job: the record is then bad", bulkload.ErrRequest, err)
	}
	return err
}

// UnfitCorrected adds the next step to err, an error of reading the corrected records of a loaded file.
func UnfitCorrected(err error) error {
	if errors.Is(err, record.ErrHeader) {
		return refusedError{fmt.Errorf("%w: none of its corrected records is loaded: if the log is older than a column of the job, replay with a copy of the job that does not have the column; otherwise correct the job", err)}
	}
	return Unfit(err)
}

// TooBad returns an error if bad of read records of the file at path are more than the job allows. reasons lists the
// commonest reasons, and step says what becomes of the file and what to do.
func TooBad(j *job.Job, path string, read, bad int64, reasons fmt.Stringer, step string) error {
	if !j.MaxBad.Exceeded(read, bad) {
		return nil
	}
	return fmt.Errorf("%s: %w: %d of %d, and max_bad is %s: %s%s", path, bulkload.ErrTooBad, bad, read, j.MaxBad, reasons, step)
}

// NotLoaded is the step of TooManyOthers for a load.
const NotLoaded = ": nothing of the file is loaded: add these texts to logs.behaviour.texts with their behaviours, or skip such records with others: skip under logs.behaviour; then load again"

// noneNamed is NotLoaded for a file in which no record names a behaviour.
const noneNamed = ": nothing of the file is loaded: logs.behaviour may name the wrong column, or the log has other columns than before: correct the job, or add these texts to logs.behaviour.texts with their behaviours; then load again"

// TooManyOthers returns an error if more records of the file at path name no behaviour of the job
// than the job allows. others counts these records by their text. step is as for TooBad.
func TooManyOthers(j *job.Job, path string, c *manifest.Counts, others *manifest.Unmapped, step string) error {
	n := c.Skips.Unknown
	if j.SkipOthers || !j.MaxSkipped.Exceeded(c.Read, n) {
		return nil
	}
	if n == c.Read && step == NotLoaded {
		step = noneNamed // to skip all records would hide the cause
	}
	return refusedError{fmt.Errorf("%s: %s of %s records name no behaviour of the job, and its max_skipped is %s: %s%s",
		path, humanize.Comma(n), humanize.Comma(c.Read), j.MaxSkipped, others.Describe(n), step)}
}

// TooFew returns an error if the file at path has fewer records than the job requires. kind is the
// behaviour of the path, or -1.
func TooFew(j *job.Job, path string, kind int, read int64) error {
	least := j.MinRecordsOf(kind)
	if read >= least {
		return nil
	}
	return refusedError{fmt.Errorf("%s: it has %d %s, and the job's min_records is %d: nothing of it is loaded: have the log delivered again, or lower min_records",
		path, read, english.PluralWord(int(read), "record", ""), least)}
}
