package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/bulkload"
)

// RunAll replays the quarantine files of a folder, one after the other, and adds their results. A file in which no
// record was corrected is only counted, and so is a file whose records are all of files of other jobs. A file that fails does not
// stop the others, unless every file would fail.
func RunAll(ctx context.Context, cfg Config, folder string, files []string) (bulkload.Result, error) {
	var sum bulkload.Result
	var all left
	var failed []error
	done := 0
	for _, name := range files {
		r, left, err := run(ctx, cfg, name)
		var foreign *foreignError
		var gone *goneError
		switch {
		case errors.As(err, &foreign) && foreign.otherJob:
			if sum.OtherJobs++; foreign.corrected {
				sum.OtherJobsCorrected++
			}
			continue
		case errors.Is(err, ErrUnchanged), errors.As(err, &gone), foreign != nil && !foreign.corrected:
			sum.Unchanged++
			continue
		case errors.Is(err, bulkload.ErrNothing):
			continue
		case foreign != nil: // the command is right for the other files
			err = fmt.Errorf("%w: %s: %s", bulkload.ErrLeft, name, foreign.why)
		}
		sum.Add(r)
		all.add(&left)
		done++
		if err != nil {
			failed = append(failed, err)
		}
		if bulkload.StopsAll(err) {
			break
		}
	}
	switch {
	case done > 0:
		return sum, bulkload.Joined(append([]error{all.err(&sum)}, failed...))
	case sum.Unchanged > 0:
		return sum, fmt.Errorf("%w: %s: %w in the %d %s bad records: correct the text in \"raw\", or the job, and replay them again",
			bulkload.ErrLeft, folder, ErrUnchanged, sum.Unchanged, english.PluralWord(sum.Unchanged, "file that has", "files that have"))
	case sum.OtherJobs > 0:
		return sum, fmt.Errorf("%w: %s holds no bad records of the job's files; it has %s", bulkload.ErrNothing, folder, sum.OfOtherJobs())
	}
	return sum, fmt.Errorf("%w: %s holds no bad records", bulkload.ErrNothing, folder)
}

// A goneError is the error for records whose delivered file is gone, and of which none was corrected. The delivered files are often
// removed after some days.
type goneError struct{ error }

// Unwrap returns the cause.
func (e *goneError) Unwrap() error { return e.error }

// A foreignError is the error for records of a delivered file that the table or the job does not have. A folder may have such a
// quarantine file next to others: a load refused the delivered file, or another job loaded it.
type foreignError struct {
	why       string
	corrected bool // a line of the quarantine file may be corrected
	otherJob  bool // no line is of a file of the job
}

// Error implements error.
func (e *foreignError) Error() string { return fmt.Sprintf("%v: %s", bulkload.ErrRequest, e.why) }

// Unwrap returns the kind of e.
func (e *foreignError) Unwrap() error { return bulkload.ErrRequest }

// foreign returns a foreignError for the records of the delivered file at path.
func (c *corrected) foreign(path, why string) error {
	return &foreignError{why: path + " " + why, corrected: c.edited}
}

// ofOtherJob returns a foreignError for the records of the delivered file at path, which is none of the job's files. all means
// that no other line is of a file of the job either.
func (c *corrected) ofOtherJob(path string, all bool) error {
	return &foreignError{
		why:       path + " is none of the job's files: use the job that loaded it, or replay the quarantine file of a copy that is a file of the job",
		corrected: c.edited, otherJob: all,
	}
}
