package replay

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/record"
)

// A record is replayed to the place of its line in the delivered file. So the line must be a line of the
// loaded bytes, and no load may have loaded a record of the line.

// prove returns an error if the records of f are not records of the loaded bytes, or if one record has more
// texts than fit in the memory.
func (f *file) prove(ctx context.Context) error {
	next, stop := iter.Pull2(f.from.part(ctx, f.part))
	defer stop()
	s := &sought{file: f, next: next}
	s.step()
	if f.unproven && s.wrong == nil {
		if err := f.rejects(ctx, s); err != nil {
			return fmt.Errorf("%w: %s: its quarantine file has no digest of the file, and: %w: deliver the corrected records as a file of another name", bulkload.ErrRequest, f.Rel, err)
		}
	}
	s.until(math.MaxInt64)
	return s.wrong
}

// rejects passes the bad records of the delivered file to a sink.
func (f *file) rejects(ctx context.Context, to record.Sink) error {
	path, err := f.delivered(ctx)
	if err != nil {
		return err
	}
	in, r, err := f.open(ctx, path)
	if err != nil {
		return err
	}
	defer in.Close()
	defer r.Close()
	p, err := record.NewParser(&f.job.Format, f.at(path), r.Header())
	if err != nil {
		return err
	}
	for buf := make([]byte, 0, 1<<20); ; {
		c, err := r.Next(buf)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = p.Parse(c, to)
		}
		if err != nil {
			return err
		}
	}
}

// sought is a sink that looks for the records of a quarantine file among the bad records of the
// delivered file. Both come in order of their offsets.
type sought struct {
	file  *file
	next  func() ([]correction, error, bool)
	texts []correction // of the first record that was not looked for yet; nil after the last
	wrong error        // why the file cannot be replayed; nothing is looked for after it
}

// step moves to the next record.
func (s *sought) step() {
	if s.texts, s.wrong, _ = s.next(); s.wrong != nil {
		s.texts = nil
	}
}

// until passes the records before an offset.
func (s *sought) until(offset int64) {
	for s.texts != nil && s.texts[0].offset < offset {
		s.pass(noLine)
	}
}

// noLine is the line of a record that the delivered file does not have.
const noLine = -1

// pass checks the texts of the current record, and moves to the next record. A text must be a text of the
// line, or have the digest.
func (s *sought) pass(line int64) {
	for _, x := range s.texts {
		if !x.proven && (line == noLine || x.line != line) {
			s.wrong = fmt.Errorf("%w: %s: the line has no digest of %s, which has no bad record at line %d and byte %d: deliver the corrected record as a file of another name",
				bulkload.ErrRequest, s.file.from.place(&x), s.file.Rel, x.line, x.offset)
			s.texts = nil
			return
		}
	}
	s.step()
}

// Keep implements record.Sink.
func (s *sought) Keep(*behaviour.Record) error { return nil }

// Skip implements record.Sink.
func (s *sought) Skip(*record.Skipped) error { return nil }

// Reject implements record.Sink.
func (s *sought) Reject(x *record.Reject) error {
	s.until(x.Offset)
	if s.texts != nil && s.texts[0].offset == x.Offset {
		s.pass(x.Line)
	}
	return nil
}
