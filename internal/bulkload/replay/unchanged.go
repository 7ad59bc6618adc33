package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/format/record"
)

// ErrUnchanged is wrapped if no record of a quarantine file was corrected. Run then writes nothing. The error
// also wraps bulkload.ErrLeft.
var ErrUnchanged = errors.New("no record is corrected")

// faultOf returns a digest of the reason why a record is bad.
func faultOf(reason record.Reason, detail string) uint64 {
	return xxhash.Sum64String(string(reason) + "\x00" + detail)
}

// checkChanged returns ErrUnchanged if every record is bad for the reason that its line has, and no earlier
// replay added one of them.
func (p *replay) checkChanged(ctx context.Context, files []*file) error {
	for _, f := range files {
		changed, err := f.changed(ctx)
		if err != nil || changed {
			return err
		}
	}
	p.result.Read, p.result.Quarantined = p.from.records, p.from.records
	return fmt.Errorf("%w: %d of %d records are still bad: %s: %w: correct the text in \"raw\", or the job, and replay it again",
		bulkload.ErrLeft, p.from.records, p.from.records, p.from.name, ErrUnchanged)
}

// changed reports whether a record of the file may not be bad in the same way as before. Cut texts count as
// changed: a job with a larger max_line loads their records.
func (f *file) changed(ctx context.Context) (bool, error) {
	header, err := f.Header(ctx)
	if err != nil {
		return true, nil //nolint:nilerr // the replay itself reports the error
	}
	parser, err := record.NewParser(&f.job.Format, f.Input.File(), header)
	if err != nil {
		return true, nil //nolint:nilerr // the same
	}
	for texts, err := range f.from.part(ctx, f.part) {
		if err != nil {
			return false, err
		}
		for _, x := range texts {
			if x.clip != entire || f.replayedBefore(x.offset) {
				return true, nil
			}
			var now faults
			if err := parser.Parse(record.Chunk{Data: append(x.raw, '\n'), Offset: x.offset, Line: x.line}, &now); err != nil {
				return false, err
			}
			if len(now) != 1 || now[0] != x.fault {
				return true, nil
			}
		}
	}
	return false, nil
}

// faults collects faultOf each bad record. A record that is not bad has the fault 0.
type faults []uint64

// Keep implements record.Sink.
func (f *faults) Keep(*behaviour.Record) error {
	*f = append(*f, 0)
	return nil
}

// Skip implements record.Sink.
func (f *faults) Skip(*record.Skipped) error {
	*f = append(*f, 0)
	return nil
}

// Reject implements record.Sink.
func (f *faults) Reject(r *record.Reject) error {
	*f = append(*f, faultOf(r.Reason, r.Err.Error()))
	return nil
}

// fault returns faultOf the reason that a line has.
func fault(r *quarantine.Record) uint64 { return faultOf(r.Reason, r.Detail) }
