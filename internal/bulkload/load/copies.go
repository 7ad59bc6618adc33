package load

import (
	"cmp"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
)

// Files of equal bytes are copies of each other. A record of one is a duplicate if a load
// was asked for it when it took another one in.

// A Copy is a delivered file with the same bytes as another file. It states which part of the
// file a load was asked for.
type Copy struct {
	Path  string          `json:"path"` // below the logs' root
	Part  *manifest.Part  `json:"part,omitempty"`
	Dates *behaviour.Span `json:"dates,omitempty"` // that its records may have; nil is any
}

// content is what a delivered file holds. Two behaviours' files of the same bytes
// are not the same: who was new on a day may be just who played.
type content struct {
	sha       string
	behaviour string // of its path
}

func copyOf(in *manifest.Input) Copy { return Copy{in.Path, in.Part, in.Dates} }

// has says whether the load of c was asked for records of a date and behaviour.
func (c *Copy) has(d behaviour.Date, behaviour string) bool {
	return (c.Dates == nil || c.Dates.Has(d)) && c.Part.Has(d, behaviour)
}

// overlaps says whether a record may belong to both.
func (c *Copy) overlaps(o *Copy) bool {
	a, b := c.span(), o.span()
	if !a.Overlaps(b) {
		return false
	}
	return c.Part == nil || o.Part == nil || slices.ContainsFunc(c.Part.Behaviours, func(kind string) bool { return slices.Contains(o.Part.Behaviours, kind) })
}

// span holds the dates of all records that c has.
func (c *Copy) span() behaviour.Span {
	s := everyDate
	if c.Dates != nil {
		s = *c.Dates
	}
	if c.Part != nil && c.Part.Span != nil {
		s.From, s.To = max(s.From, c.Part.Span.From), min(s.To, c.Part.Span.To)
	}
	return s
}

func (c *Copy) equal(o Copy) bool {
	return c.Path == o.Path && sameSpan(c.Dates, o.Dates) && c.Part.Covers(o.Part) && o.Part.Covers(c.Part)
}

func sameSpan(a, b *behaviour.Span) bool { return a == b || a != nil && b != nil && *a == *b }

// remember notes that a file is in the table, or will be.
func (k *ledgers) remember(holds content, c Copy) {
	if !slices.ContainsFunc(k.copies[holds], c.equal) {
		k.copies[holds] = append(k.copies[holds], c)
	}
}

// others are the copies of the file called path, the oldest first.
func (k *ledgers) others(holds content, path string) []Copy {
	return slices.DeleteFunc(slices.Clone(k.copies[holds]), func(c Copy) bool { return c.Path == path })
}

// copied finds a copy of a file that brought some of the same records as the file.
func (k *ledgers) copied(in *manifest.Input) (Copy, bool) {
	if in.SameAs != "" || in.Offsets != nil {
		return Copy{}, false
	}
	own := copyOf(in)
	for _, c := range k.others(content{in.SHA256, in.Behaviour}, in.Path) {
		if c.overlaps(&own) {
			return c, true
		}
	}
	return Copy{}, false
}

// findCopies says of a file, whose digest is known, which copies it has. If they have all
// that is asked for, nothing of the file is loaded.
func (l *load) findCopies(in *input) {
	holds := content{in.sha, l.behaviour(in)}
	l.hasCopies(in, l.ledgers.others(holds, in.Rel))
	if in.sameAs == "" {
		l.ledgers.remember(holds, l.asCopy(in))
	}
}

// asCopy is a file of this load as others see it, which have its bytes.
func (l *load) asCopy(in *input) Copy { return Copy{in.Rel, in.part, l.dates(in)} }

// hasCopies is findCopies where the copies are known.
func (l *load) hasCopies(in *input, copies []Copy) {
	in.copies, in.sameAs = copies, ""
	if len(copies) > 0 && l.coveredBy(copies, in) {
		in.sameAs = copies[0].Path
	}
}

// coveredBy says whether the copies together have all that is asked for of a file.
func (l *load) coveredBy(copies []Copy, in *input) bool {
	own, kinds := l.asCopy(in), []string{l.behaviour(in)}
	if in.part != nil {
		kinds = in.part.Behaviours
	}
	dates := own.span()
	if first := l.target.Info().Dropped; first != nil {
		dates.From = max(dates.From, *first)
	}
	return !slices.ContainsFunc(kinds, func(kind string) bool { return !covers(copies, kind, dates) })
}

// everyDate is the span of all dates.
var everyDate = behaviour.Span{From: behaviour.MinDate, To: behaviour.MaxDate}

// covers says whether the copies together have all records of a kind and span.
func covers(copies []Copy, kind string, dates behaviour.Span) bool {
	var spans []behaviour.Span
	for i := range copies {
		c := &copies[i]
		if c.Part != nil && !slices.Contains(c.Part.Behaviours, kind) {
			continue
		}
		spans = append(spans, c.span())
	}
	slices.SortFunc(spans, func(a, b behaviour.Span) int { return cmp.Compare(a.From, b.From) })
	next := dates.From
	for _, s := range spans {
		if s.From <= next && s.To >= next {
			next = s.To + 1
		}
	}
	return next > dates.To
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
	return slices.ContainsFunc(in.copies, func(c Copy) bool { return c.has(date, b.schema.Kinds[kind].Name) })
}

// plannedCopies are those that a plan found of a file that has a digest.
type plannedCopies struct {
	sha    string
	copies []Copy
}

// plannedCopies returns the copies of f. Plans of early versions have no Copies. They name at
// most one copy, and that copy has all records of the file.
func (f *PieceInput) plannedCopies() plannedCopies {
	if f.SameAs != "" && len(f.Copies) == 0 {
		return plannedCopies{f.SHA256, []Copy{{Path: f.SameAs}}}
	}
	return plannedCopies{f.SHA256, f.Copies}
}

// of are the copies of a file that turned out to have the digest sha.
func (p plannedCopies) of(sha string) []Copy {
	if p.sha != sha {
		return nil
	}
	return p.copies
}
