package manifest

import (
	"maps"
	"slices"

	"usertrail/internal/behaviour"
)

// A Part is a span of dates and some behaviours of a file that holds more.
type Part struct {
	Span       *behaviour.Span `json:"span,omitempty"` // nil is every date
	Behaviours []string        `json:"behaviours"`
	// Texts has the behaviour of each text that names one for the load's job, except the own names
	// of Behaviours. It is nil if the path names the behaviour, and in files of older versions.
	Texts map[string]string `json:"texts,omitzero"`
	// TextsAt is the place of Texts in the TextList of a file. Only a file that is written or read has it.
	TextsAt *int `json:"texts_at,omitempty"`
	// Other is the behaviour of the load's job that accepts all other texts.
	Other string `json:"other,omitempty"`
}

// WithOwnTexts returns p with only those texts that decide which records belong to p. Every record belongs to
// the nil Part.
func (p *Part) WithOwnTexts() *Part {
	if p == nil || p.Texts == nil || p.Other != "" {
		return p
	}
	out := *p
	out.Texts = maps.Clone(p.Texts)
	maps.DeleteFunc(out.Texts, func(text, behaviour string) bool {
		return !slices.Contains(p.Behaviours, behaviour) && !slices.Contains(p.Behaviours, text)
	})
	return &out
}

// Has reports whether a record of a date and behaviour belongs to p. Every record belongs to
// the nil Part. text names the behaviour in the file; nil is not known.
func (p *Part) Has(d behaviour.Date, behaviour string, text *string) bool {
	return p.Names(behaviour, text) && (p == nil || p.Span == nil || p.Span.Has(d))
}

// Names reports whether records of a behaviour belong to p on some date. text is as in Has.
func (p *Part) Names(behaviour string, text *string) bool {
	if p == nil {
		return true
	}
	if p.Texts != nil && text != nil {
		behaviour = p.named(*text)
	}
	return slices.Contains(p.Behaviours, behaviour)
}

// named returns the behaviour that a text names for the job of p. If the text names none, named returns the text.
func (p *Part) named(text string) string {
	if behaviour, ok := p.Texts[text]; ok {
		return behaviour
	}
	if p.Other != "" && !slices.Contains(p.Behaviours, text) {
		return p.Other
	}
	return text
}

// All reports whether a condition holds for every behaviour of p, and for each text that names
// it.
func (p *Part) All(holds func(behaviour string, text *string) bool) bool {
	for _, b := range p.Behaviours {
		if p.Texts == nil {
			if !holds(b, nil) {
				return false
			}
			continue
		}
		if other, ok := p.Texts[b]; (!ok || other == b) && !holds(b, &b) {
			return false
		}
	}
	for text, b := range p.Texts {
		if text != b && slices.Contains(p.Behaviours, b) && !holds(b, &text) {
			return false
		}
	}
	return true
}

// Covers reports whether all of o belongs to p.
func (p *Part) Covers(o *Part) bool {
	return p.coversExcept(o, func(*string) bool { return false })
}

// coversExcept is Covers, except for texts of p's behaviours that the file does not have.
func (p *Part) coversExcept(o *Part, absent func(text *string) bool) bool {
	switch {
	case p == nil:
		return true
	case o == nil:
		return false
	case p.Span != nil && (o.Span == nil || o.Span.From < p.Span.From || o.Span.To > p.Span.To):
		return false
	}
	if slices.ContainsFunc(o.Behaviours, func(b string) bool { return !slices.Contains(p.Behaviours, b) }) {
		return false
	}
	return o.All(func(b string, text *string) bool { return p.Names(b, text) || absent(text) })
}

// Shares reports whether a record may belong to p and to o, by their behaviours alone.
func (p *Part) Shares(o *Part) bool {
	return p == nil || o == nil || !p.All(func(b string, text *string) bool { return !o.Names(b, text) })
}

// Extends reports whether p and o have different records of the same behaviour and date, because the job
// of p has more texts for the behaviour.
func (p *Part) Extends(o *Part) bool {
	if p == nil || o == nil || !p.Meets(o) {
		return false
	}
	return !p.All(func(b string, text *string) bool { return o.Names(b, text) || !slices.Contains(o.Behaviours, b) })
}

// Meets reports whether p and o have a date in common.
func (p *Part) Meets(o *Part) bool { return p.Dates().Overlaps(o.Dates()) }

// Dates returns the dates of p: behaviour.AllDays if p has every date.
func (p *Part) Dates() behaviour.Span {
	if p == nil || p.Span == nil {
		return behaviour.AllDays
	}
	return *p.Span
}

// Covered reports whether the parts together contain all of p.
func Covered(parts []*Part, p *Part) bool {
	if slices.ContainsFunc(parts, func(o *Part) bool { return o.Covers(p) }) {
		return true
	}
	if p == nil {
		return false
	}
	return p.All(func(b string, text *string) bool {
		var spans []behaviour.Span
		for _, o := range parts {
			if o.Names(b, text) {
				spans = append(spans, o.Dates())
			}
		}
		return p.Dates().CoveredBy(spans)
	})
}

// Has reports whether in, a file of a load, holds all requested records of a delivered file.
func (in *Input) Has(of *Input) bool { return in.hasSome(of) && in.PartFor(of.TextsBy).Covers(of.Part) }

// PartFor returns the part of in for a comparison with a job whose TextsBy is textsBy. If the load
// read the texts in another way, the part has no texts: only behaviours and dates show what was
// loaded.
func (in *Input) PartFor(textsBy string) *Part {
	if in.TextsBy == textsBy {
		return in.Part
	}
	return in.Part.WithoutTexts()
}

// WithoutTexts returns p without its texts.
func (p *Part) WithoutTexts() *Part {
	if p == nil || p.Texts == nil && p.Other == "" {
		return p
	}
	return &Part{Span: p.Span, Behaviours: p.Behaviours}
}

// HasAll reports whether in, a file of a load, holds all records of a part of the same file. The
// load need not have known texts that the file does not have. It must have requested the behaviours,
// because the ledgers record the days of a behaviour that a table has. by is the selection of the job
// that requests p. Records that the load skipped for another reason do not count.
func (in *Input) HasAll(p *Part, by Selection) bool {
	return in.partFor(p, by).coversExcept(p, func(text *string) bool { return in.SameTexts(by) && in.lacks(text) })
}

// BroughtNone reports whether the table has no record of the file, by the counts of in.
func (in *Input) BroughtNone() bool { return in.Loaded+in.Duplicate == 0 }

// loadedAll reports whether the load of in skipped no record that a job requests. skip is the condition of the
// job. cutBy is its CutBy, because the same condition on other columns holds for other records.
func (in *Input) loadedAll(skip, cutBy string) bool {
	return in.SkippedBy == "" || in.SkippedBy == skip && in.CutBy == cutBy
}

// lacks reports whether the ledger shows that no record of the file has a text that the load's
// job did not know.
func (in *Input) lacks(text *string) bool {
	if text == nil || in.Part == nil || in.Part.Texts == nil || in.Part.Other != "" || in.Skips.Condition > 0 {
		return false // the texts of records that the condition skipped are not listed
	}
	listed := int64(0)
	clipped := string(ClipText([]byte(*text)))
	for _, c := range in.Unmapped {
		if listed += c.Records; c.Text == clipped {
			return false
		}
	}
	return listed == in.Skips.Unknown && !in.knew(*text)
}

// knew reports whether a text named a behaviour for the load, by the ledger.
func (in *Input) knew(text string) bool {
	_, ok := in.Part.Texts[text]
	return ok || slices.Contains(in.Part.Behaviours, text)
}

// hasSome reports whether in, a file of a load, holds all requested records of a part of a delivered file.
func (in *Input) hasSome(of *Input) bool {
	return in.Path == of.Path && in.SHA256 == of.SHA256 && in.SameAs == "" && in.Offsets == nil && in.loadedAll(of.SkippedBy, of.CutBy)
}

// Held reports whether the loads together hold all requested records of a delivered file. If a killed load
// read the file again, Held reports whether one of the loads has all values that were read.
func Held(loads []*Load, of *Input) bool {
	if of.Reread != nil {
		return slices.ContainsFunc(loads, func(l *Load) bool {
			return slices.ContainsFunc(l.Inputs, func(in Input) bool { return in.HasReread(of) })
		})
	}
	var parts []*Part
	for _, l := range loads {
		for i := range l.Inputs {
			if in := &l.Inputs[i]; in.hasSome(of) {
				parts = append(parts, in.PartFor(of.TextsBy))
			}
		}
	}
	return Covered(parts, of.Part)
}
