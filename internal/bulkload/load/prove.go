package load

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/column"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/table"
)

// A record is replayed to where its line is in the delivered file, so the line must be of the
// bytes that were loaded, and must not have brought a record yet.

// prove refuses bad records of other bytes than those that were loaded of in, and more texts
// of one record than can be held.
func (l *load) prove(ctx context.Context, in *input) error {
	next, stop := iter.Pull2(in.replay.records(ctx))
	defer stop()
	s := &sought{in: in, next: next}
	s.step()
	if in.replay.unproven && s.wrong == nil {
		if err := l.rejects(ctx, in, s); err != nil {
			return fmt.Errorf("%w: %s: its quarantine file does not tell of which bytes it is, and: %w: deliver the corrected records as a file of another name", bulkload.ErrRequest, in.Rel, err)
		}
	}
	s.until(math.MaxInt64)
	return s.wrong
}

// rejects gives the bad records of a delivered file to a sink.
func (l *load) rejects(ctx context.Context, in *input, to record.Sink) error {
	path, err := l.delivered(ctx, in)
	if err != nil {
		return err
	}
	f, err := l.cfg.FS.Open(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	file := in.File()
	file.Path = path
	r, err := record.Open(f, file, &l.job.Format)
	if err != nil {
		return err
	}
	defer r.Close()
	p, err := record.NewParser(&l.job.Format, file, r.Header())
	if err != nil {
		return err
	}
	for buf := make([]byte, 0, chunkBytes); ; {
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

// sought is a sink that looks for the records of a quarantine file among the bad ones of the
// delivered file. Both come by offset.
type sought struct {
	in    *input
	next  func() ([]correction, error, bool)
	texts []correction // of the first record that was not looked for yet; nil after the last
	wrong error        // why the file cannot be replayed; nothing is looked for after it
}

// step takes the next record.
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

// noLine is of a record that the delivered file does not have.
const noLine = -1

// pass takes the next record, and refuses the texts at hand that are not of the line and do
// not tell the digest.
func (s *sought) pass(line int64) {
	for _, x := range s.texts {
		if !x.proven && (line == noLine || x.line != line) {
			s.wrong = fmt.Errorf("%w: %s, line %d: its quarantine file does not tell of which bytes it is, and no record of the file is bad at byte %d: deliver the corrected record as a file of another name",
				bulkload.ErrRequest, s.in.Rel, x.line, x.offset)
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

// An earlierRead is one load's reading of a replayed file or of a copy.
type earlierRead struct {
	ledger.Copy
	bad   map[int64]bool // offsets of the records that it quarantined
	known bool           // bad has all of them
}

// earlierReads returns the reads by which loads brought records of a content, in order.
func (l *load) earlierReads(holds ledger.Content) []earlierRead {
	var out []earlierRead
	for _, of := range l.ledgers.Loads() {
		for i := range of.Inputs {
			in := &of.Inputs[i]
			if in.SameAs != "" || in.Offsets != nil || ledger.ContentOf(in) != holds {
				continue
			}
			r := earlierRead{Copy: ledger.CopyOf(in), bad: map[int64]bool{}}
			var list []int64
			list, r.known = in.BadOffsets()
			for _, o := range list {
				r.bad[o] = true
			}
			out = append(out, r)
		}
	}
	return out
}

// brought reports whether a load brought the record at an offset, of a date and behaviour, or
// found it a duplicate. Only the first load that was asked for the record can have: it is a
// duplicate, or skipped, for the loads after it.
func (in *input) brought(offset int64, d behaviour.Date, kind string) bool {
	for i := range in.reads {
		if r := &in.reads[i]; r.Has(d, kind) {
			return r.known && !r.bad[offset]
		}
	}
	return false
}

// hasUnledgered reports whether a killed replay may have left records in the table. A load
// records the numbers of its delivered files in advance. A replay has no such numbers.
func (l *load) hasUnledgered(ctx context.Context) (bool, error) {
	from, ok := table.As[table.LeftBehind](l.target)
	if !ok {
		return false, nil
	}
	left, err := from.Left(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(left.Rolls, func(r manifest.Rolled) bool { return len(r.Inputs) == 0 }), nil
}

// present finds the replayed records that are in the table.
type present struct {
	*batch
	ctx  context.Context
	user []byte
	ids  map[dayKey]map[int64]bool // of user: column IDs
}

func newPresent(ctx context.Context, b *batch) *present {
	return &present{batch: b, ctx: ctx, ids: map[dayKey]map[int64]bool{}}
}

// has reports whether the replayed record r of in is in the table, in row. If a replay was
// killed, has returns false: the replay puts all records again.
func (p *present) has(in *input, row []byte, r *behaviour.Record) (bool, error) {
	if p.unledgered {
		return false, nil
	}
	if user := p.layout.UserKey(row); string(user) != string(p.user) {
		p.user = append(p.user[:0], user...)
		clear(p.ids)
	}
	day := dayKey{r.Date, r.Kind}
	ids := p.ids[day]
	if ids == nil {
		events, err := p.eventsOf(p.ctx, p.user, day, nil)
		if err != nil {
			return false, err
		}
		ids = map[int64]bool{}
		for i := range events.Events {
			ids[events.Events[i].ID] = true
		}
		p.ids[day] = ids
	}
	_, offset := column.Place(r.ID)
	return slices.ContainsFunc(in.numbers, func(n uint32) bool { return ids[column.ID(n, offset)] }), nil
}
