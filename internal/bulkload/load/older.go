package load

import (
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/manifest"
)

// tooOld reports whether a record belongs to a day that was dropped from the table, and counts
// it. A file of a later day may have such records within the job's slack. If they were loaded,
// the table would have only a part of that day.
func (p *parser) tooOld(d behaviour.Date) bool {
	if p.first == nil || d >= *p.first {
		return false
	}
	p.older++
	return true
}

// dropUndone reports whether a piece skipped days of a drop that has been undone: the piece began
// at a later day than it would begin now.
func (p *publisher) dropUndone(of *Piece, r *manifest.Report) bool {
	from := behaviour.MinDate
	if first := p.target.Info().Dropped; first != nil {
		from = *first
	}
	for i := range r.Inputs {
		in, asked, begins := &r.Inputs[i], of.Inputs[i].Part, from
		if asked != nil && asked.Span != nil {
			begins = max(begins, asked.Span.From)
		}
		if in.Older > 0 && in.Part != nil && in.Part.Span != nil && in.Part.Span.From > begins {
			return true
		}
	}
	return false
}

// countSkipped adds the number of records of dropped days in the loaded files to the result, and
// logs a warning.
func (l *load) countSkipped(ledger *manifest.Load) {
	var older int64
	for i := range ledger.Inputs {
		older += ledger.Inputs[i].Older
	}
	if older == 0 {
		return
	}
	l.result.Older += older
	l.log.Warn("skipped records of days that were dropped from the table", "records", older, "before", l.target.Info().Dropped)
}

// allOlder returns an error if all good records of a load belong to dropped days.
func (l *load) allOlder() error {
	if r := &l.result; r.Older == 0 || r.Older+r.Quarantined != r.Read {
		return nil
	}
	return l.skippedAll()
}

func (l *load) skippedAll() error {
	return fmt.Errorf("%w: nothing was loaded: all good records of the files of %s are of days before %s, which were dropped from %s: correct --from and --to, or bring the days back by bulkload undrop and load again",
		bulkload.ErrRequest, l.cfg.Span, l.target.Info().Dropped, l.cfg.Store.Address())
}
