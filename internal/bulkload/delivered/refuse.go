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

// AsTooBad returns err as an error that wraps ErrTooBad.
func AsTooBad(err error) error { return refusedError{err} }

// Unwrap returns the cause and the kind of e.
func (e refusedError) Unwrap() []error { return []error{e.error, bulkload.ErrTooBad} }

// Unfit adds the next step to err, an error of decoding a delivered file. The storage has reported no
// error. If err is about the header, the returned error wraps ErrTooBad.
func Unfit(err error) error {
	switch {
	case errors.Is(err, record.ErrHeader):
		return refusedError{fmt.Errorf("%w: nothing of it is loaded: have the log delivered again, or correct the job", err)}
	case errors.Is(err, record.ErrCompressed):
		return fmt.Errorf("%w: nothing of it is loaded: have the log delivered again", err)
	}
	return err
}

// TooBad returns an error if the file at path has more bad records than the job allows. quarantine is
// the name of its quarantine file, and reasons lists the commonest reasons.
func TooBad(j *job.Job, path string, c *manifest.Counts, quarantine string, reasons fmt.Stringer) error {
	if !j.MaxBad.Exceeded(c.Read, c.Quarantined) {
		return nil
	}
	return fmt.Errorf("%s: %w: %d of %d, and max_bad is %s: %s; see %s", path, bulkload.ErrTooBad, c.Quarantined, c.Read, j.MaxBad, reasons, quarantine)
}

// TooManyOthers returns an error if more records of the file at path name no behaviour of the job
// than the job allows. others counts these records by their text.
func TooManyOthers(j *job.Job, path string, c *manifest.Counts, others *manifest.Unmapped) error {
	n := c.Skips.Unknown
	if j.SkipOthers || !j.MaxSkipped.Exceeded(c.Read, n) {
		return nil
	}
	return refusedError{fmt.Errorf("%s: %s of %s records name no behaviour of the job, and its max_skipped is %s: %s: nothing of the file is loaded: add these texts to logs.behaviour.texts with their behaviours, or skip such records with others: skip under logs.behaviour; then load again",
		path, humanize.Comma(n), humanize.Comma(c.Read), j.MaxSkipped, others.Describe(n))}
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
