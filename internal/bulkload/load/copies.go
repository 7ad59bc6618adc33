package load

import (
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/ledger"
)

// findCopies says of a file, whose digest is known, which copies it has. If they have all
// that is asked for, nothing of the file is loaded.
func (l *load) findCopies(in *input) {
	in.copies, in.sameAs = l.ledgers.FindCopies(ledger.Content{SHA256: in.sha, Behaviour: l.behaviour(in)}, l.asCopy(in), l.target.Info().Dropped)
}

// asCopy is a file of this load as others see it, which have its bytes.
func (l *load) asCopy(in *input) ledger.Copy {
	return ledger.Copy{Path: in.Rel, Part: in.part, Dates: l.dates(in)}
}

// hasCopies is findCopies where the copies are known.
func (l *load) hasCopies(in *input, copies []ledger.Copy) {
	own := l.asCopy(in)
	in.copies, in.sameAs = copies, own.SameAs(copies, l.behaviour(in), l.target.Info().Dropped)
}

// dates are those that records of a file may have: those near the date of its path. They
// are nil if the path has no date.
func (l *load) dates(in *input) *behaviour.Span {
	if in.Date == nil {
		return nil
	}
	at, slack := int64(*in.Date), int64(l.job.Format.Slack)
	return &behaviour.Span{
		From: behaviour.Date(max(at-slack, int64(behaviour.MinDate))), To: behaviour.Date(min(at+slack, int64(behaviour.MaxDate))),
	}
}

// copied says whether a record of a date and of a table's kind is in the table by a copy
// of its file.
func (b *batch) copied(in *input, date behaviour.Date, kind int) bool {
	return slices.ContainsFunc(in.copies, func(c ledger.Copy) bool { return c.Has(date, b.schema.Kinds[kind].Name) })
}

// plannedCopies are those that a plan found of a file that has a digest.
type plannedCopies struct {
	sha    string
	copies []ledger.Copy
}

// plannedCopies returns the copies of f. Plans of early versions have no Copies. They name at
// most one copy, and that copy has all records of the file.
func (f *PieceInput) plannedCopies() plannedCopies {
	if f.SameAs != "" && len(f.Copies) == 0 {
		return plannedCopies{f.SHA256, []ledger.Copy{{Path: f.SameAs}}}
	}
	return plannedCopies{f.SHA256, f.Copies}
}

// of are the copies of a file that turned out to have the digest sha.
func (p plannedCopies) of(sha string) []ledger.Copy {
	if p.sha != sha {
		return nil
	}
	return p.copies
}
