package load

import (
	"errors"
	"fmt"

	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
)

// A failed delivery may leave an empty log, or an error page instead of the log. The true file
// is delivered later under the same name.

// A refusedError is the error of a file that does not match the job. The load takes no record
// of the file, as if it had too many bad records.
type refusedError struct{ error }

// Unwrap returns the cause and the kind of e.
func (e refusedError) Unwrap() []error { return []error{e.error, bulkload.ErrTooBad} }

// unfit makes an error about the header of a file a refusal of the file. It returns other
// errors as they are.
func unfit(err error) error {
	if !errors.Is(err, record.ErrHeader) {
		return err
	}
	return refusedError{fmt.Errorf("%w: nothing of it is loaded: have the log delivered again, or correct the job", err)}
}

// fits checks the header of a file. A parser may not have seen any record of the file.
func (b *batch) fits(in *input, header []string) error {
	_, err := record.NewParser(&b.job.Format, in.File(), header)
	return err
}

// tooFew returns an error if a file has fewer records than the job asks for.
func (l *load) tooFew(in job.Input, read int64) error {
	least := l.job.MinRecordsOf(in.Kind)
	if read >= least {
		return nil
	}
	return refusedError{fmt.Errorf("%s: it has %d records, and the job's min_records is %d: nothing of it is loaded: have the log delivered again, or lower min_records", in.Path, read, least)}
}

// tooFewOf is tooFew for a file of a piece.
func (l *load) tooFewOf(in *PieceInput, read int64) error {
	kind, ok := l.job.Schema.Kind(in.Behaviour)
	if !ok {
		kind = -1
	}
	return l.tooFew(job.Input{Path: in.Path, Kind: kind}, read)
}

// superseded reports whether a file replaces an earlier file of the same name that had no
// records. err is the result of sameFile.
func superseded(old *manifest.Input, err error) bool {
	return errors.Is(err, bulkload.ErrChanged) && old.Read == 0
}
