package ledger

import (
	"maps"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
)

// Files of equal bytes are copies of each other, except files whose paths name different behaviours. A record
// of a file is a duplicate if the load of a copy requested the same record.

// A Copy is a delivered file with the same bytes as another file. It states which records of the
// file a load requested.
type Copy struct {
	Path  string          `json:"path"`
	Part  *manifest.Part  `json:"part,omitempty"`
	Dates *behaviour.Span `json:"dates,omitempty"` // of the records that the load accepts; nil means any
	// TextsBy identifies how the job of the load reads the texts of Part.
	TextsBy string `json:"texts_by,omitempty"`
	// SkippedBy is the skip condition by which the load left records out, or "". CutBy identifies how its
	// job cuts a record into columns.
	SkippedBy string `json:"skipped_by,omitempty"`
	CutBy     string `json:"cut_by,omitempty"`
	// Unclear is the setting because of which another job cannot determine which records the load added or
	// skipped.
	Unclear manifest.Setting `json:"unclear,omitempty"`

	in        *manifest.Input  // in the load; nil if it is no load of the ledgers
	empty     []behaviour.Span // dates outside Part of which the file has no good record
	behaviour string           // of its Content
	foreign   bool             // neither its path nor its behaviour is the job's
}

// CopyOf returns a loaded file as its copies see it.
func CopyOf(in *manifest.Input) Copy {
	return Copy{Path: in.Path, Part: in.Part, Dates: in.Dates, TextsBy: in.TextsBy, SkippedBy: in.SkippedBy, CutBy: in.CutBy, in: in}
}

// seenBy returns the records of own that c added, as the job of own sees them. own is a file of the same bytes, and by is the selection
// of that job. It reports false if c added none. If the job skips the same records, the result has no condition.
func (c Copy) seenBy(own Copy, by manifest.Selection) (Copy, bool) {
	if c.in == nil {
		c.SkippedBy, c.CutBy = "", "" // the same job loads it
		return c, true
	}
	v := c.in.SeenBy(own.Part, by)
	if v.None {
		return Copy{}, false
	}
	c.Part, c.empty, c.SkippedBy, c.Unclear = v.Part, v.Empty, v.Skip, v.Unclear
	if c.SkippedBy == "" {
		c.CutBy = ""
	}
	if len(v.Out) > 0 {
		c.Unclear = slices.Min(slices.Collect(maps.Keys(v.Out)))
	}
	return c, true
}

// broughtAs reports whether the loads of c and o skipped the same records of the file, as far as their counts show.
func (c *Copy) broughtAs(o Copy) bool {
	if c.in == nil || o.in == nil {
		return c.in == o.in
	}
	return c.in.BroughtNone() == o.in.BroughtNone() && c.in.Skips == o.in.Skips &&
		c.in.NamesBy == o.in.NamesBy && c.in.UserBy == o.in.UserBy && c.in.TimeBy == o.in.TimeBy
}

// partFor returns the part of c for a comparison with o.
func (c *Copy) partFor(o *Copy) *manifest.Part {
	if c.TextsBy != o.TextsBy {
		return c.Part.WithoutTexts()
	}
	return c.Part
}

// none reports whether the condition skipped every requested record of the load of c.
func (c *Copy) none() bool { return c.SkippedBy != "" && c.in != nil && c.in.BroughtNone() }

// skipsAs reports whether the jobs of c and own skip the same records: the same condition on the same columns.
func (c Copy) skipsAs(own Copy) bool { return c.SkippedBy == own.SkippedBy && c.CutBy == own.CutBy }

// A Content identifies the records of a delivered file.
type Content struct {
	SHA256    string
	Behaviour string // that the path names, or ""
}

// Meets reports whether files of both contents may have the same records. If both paths name a behaviour, and they name
// different ones, the records are different, even if the bytes are equal.
func (c Content) Meets(o Content) bool {
	return c.SHA256 == o.SHA256 && sameBehaviour(c.Behaviour, o.Behaviour)
}

// sameBehaviour reports whether a file may have records of another file, if their paths name these behaviours. If a path names
// none, a column does.
func sameBehaviour(a, b string) bool { return a == "" || b == "" || a == b }

// ContentOf returns the content of a loaded file. Its behaviour is the one that the path names now: the job may
// have given the path another behaviour since the load.
func (x *Index) ContentOf(in *manifest.Input) Content {
	of, _ := x.identify(in)
	return of
}

// identify returns ContentOf, and whether the file is foreign: neither its path nor the behaviour that the path named is the
// job's. A job whose paths do not match does not know the behaviour better than the ledger, and it may have renamed it.
func (x *Index) identify(in *manifest.Input) (of Content, foreign bool) {
	of = Content{in.SHA256, in.Behaviour}
	if in.Behaviour == "" || x.names == nil {
		return of, false
	}
	if now := x.names.BehaviourOf(in.Path); now != "" {
		of.Behaviour = now
		return of, false
	}
	return of, in.Read > 0 && !x.names.HasBehaviour(in.Behaviour)
}

// Names has the names that the job of an index uses for the behaviours of files.
type Names interface {
	// BehaviourOf returns the behaviour that a path below the logs' root names. It returns "" if a column names the
	// behaviour, or if the path is not the job's.
	BehaviourOf(path string) string
	// HasBehaviour reports whether the job has a behaviour.
	HasBehaviour(name string) bool
}

// Has reports whether the load of c requested records of a date and behaviour. text names the
// behaviour in the file; nil is not known. The load skipped the records for which SkippedBy holds.
func (c *Copy) Has(d behaviour.Date, behaviour string, text *string) bool {
	return (c.Dates == nil || c.Dates.Has(d)) && c.Part.Has(d, behaviour, text)
}

// overlaps reports whether a record may belong to both.
func (c *Copy) overlaps(o *Copy) bool {
	a, b := c.span(), o.span()
	return a.Overlaps(b) && c.partFor(o).Shares(o.partFor(c))
}

// span returns the dates of all requested records of the load of c.
func (c *Copy) span() behaviour.Span {
	if c.Dates == nil {
		return c.Part.Dates()
	}
	return c.Dates.Common(c.Part.Dates())
}

func (c *Copy) equal(o Copy) bool {
	return c.Path == o.Path && c.TextsBy == o.TextsBy && c.SkippedBy == o.SkippedBy && c.CutBy == o.CutBy && c.Unclear == o.Unclear && sameSpan(c.Dates, o.Dates) && c.Part.Covers(o.Part) && o.Part.Covers(c.Part)
}

func sameSpan(a, b *behaviour.Span) bool { return a == b || a != nil && b != nil && *a == *b }

// SameAs returns the path of the first of all, if all together have every record that the load of c
// requests. Otherwise it returns "". kind is the behaviour of c's path. first is the first date that
// the table keeps; nil means every date.
func (c *Copy) SameAs(all []Copy, kind string, first *behaviour.Date) string {
	if len(all) == 0 {
		return ""
	}
	part, dates := c.Part, c.span()
	if part == nil {
		part = &manifest.Part{Behaviours: []string{kind}}
	}
	if first != nil {
		dates.From = max(dates.From, *first)
	}
	if !part.All(func(kind string, text *string) bool { return cover(all, kind, text, dates) }) {
		return ""
	}
	return all[0].Path
}

// cover reports whether copies together have all records of a span and a behaviour, which text names.
func cover(copies []Copy, kind string, text *string, dates behaviour.Span) bool {
	var spans []behaviour.Span
	for i := range copies {
		if c := &copies[i]; c.SkippedBy == "" && c.Unclear == "" && c.Part.Names(kind, text) {
			spans = append(append(spans, c.span()), c.empty...)
		}
	}
	return dates.CoveredBy(spans)
}

// Undropped returns a part of a file without the days before first, which were dropped from the
// table. If first is nil, no day was dropped. kind is the behaviour of the file's path.
func Undropped(p *manifest.Part, kind string, first *behaviour.Date) *manifest.Part {
	if first == nil {
		return p
	}
	span := behaviour.AllDays
	out := &manifest.Part{Behaviours: []string{kind}}
	if p != nil {
		out.Behaviours, out.Texts, out.Other = p.Behaviours, p.Texts, p.Other
		if p.Span != nil {
			span = *p.Span
		}
	}
	span.From = max(span.From, *first)
	out.Span = &span
	return out
}

// In reports whether all contains c. kind is the behaviour of the path. Days that were dropped from
// the table make no difference: first is the first date that the table keeps.
func (c *Copy) In(all []Copy, kind string, first *behaviour.Date) bool {
	one := *c
	one.Part = Undropped(c.Part, kind, first)
	return slices.ContainsFunc(all, func(o Copy) bool {
		o.Part = Undropped(o.Part, kind, first)
		return one.equal(o)
	})
}

// Copies returns the loaded files of a content, the oldest first.
func (x *Index) Copies(of Content) (out []Copy) {
	for _, c := range x.copies[of.SHA256] {
		if sameBehaviour(c.behaviour, of.Behaviour) {
			out = append(out, c)
		}
	}
	return out
}

// Others returns the loaded files of a content that added records of own, as own sees them, except own. The
// oldest is first. by is the selection of the job of own. A file whose path named a behaviour that the job does not have is
// Unclear: the behaviour may be the behaviour of own by another name.
func (x *Index) Others(of Content, own Copy, by manifest.Selection) (out []Copy) {
	for _, c := range x.copies[of.SHA256] {
		same := sameBehaviour(c.behaviour, of.Behaviour)
		if c.Path == own.Path || !same && !c.foreign {
			continue
		}
		seen, ok := c.seenBy(own, by)
		if !same {
			seen.Unclear = manifest.TextSetting
		}
		if ok && !slices.ContainsFunc(out, seen.equal) {
			out = append(out, seen)
		}
	}
	return out
}

// Conditions returns the skip conditions by which loads skipped some records of files that may be copies of own, a file
// of this size whose path names the behaviour or "". Only conditions that the job of own can evaluate are returned.
func (x *Index) Conditions(size int64, behaviour string, own Copy) (out []string) {
	for _, c := range x.partly[size] {
		if sameBehaviour(c.behaviour, behaviour) && c.Path != own.Path && c.CutBy == own.CutBy && !c.skipsAs(own) {
			out = append(out, c.SkippedBy)
		}
	}
	return out
}

// Remember records that a file of a content is in the table, or will be.
func (x *Index) Remember(of Content, c Copy) {
	c.behaviour = of.Behaviour
	if !slices.ContainsFunc(x.copies[of.SHA256], func(o Copy) bool { return c.behaviour == o.behaviour && c.equal(o) && c.broughtAs(o) }) {
		x.copies[of.SHA256] = append(x.copies[of.SHA256], c)
	}
}

// FindCopies returns the copies of a file, and their SameAs. by is the selection of the file's job. If they do not have every
// record of the file, the file itself is a copy for later files.
func (x *Index) FindCopies(of Content, c Copy, by manifest.Selection, first *behaviour.Date) (copies []Copy, sameAs string) {
	copies = x.Others(of, c, by)
	if sameAs = c.SameAs(copies, of.Behaviour, first); sameAs == "" {
		x.Remember(of, c)
	}
	return copies, sameAs
}

// Overlapping returns a copy of a loaded file that added some of the same records as the file.
func (x *Index) Overlapping(in *manifest.Input) (Copy, bool) {
	if in.SameAs != "" || in.Offsets != nil {
		return Copy{}, false
	}
	own := CopyOf(in)
	for _, c := range x.Copies(x.ContentOf(in)) {
		if c.Path != own.Path && !(c.none() && !c.skipsAs(own)) && c.overlaps(&own) {
			return c, true
		}
	}
	return Copy{}, false
}

// Share reports whether two loads of one file may have added the same record. A load without a list of
// its bad records is assumed to have found every replayed record bad.
func Share(a, b *manifest.Input) bool {
	switch {
	case a.SameAs != "" || b.SameAs != "":
		return false
	case a.Offsets == nil && b.Offsets == nil:
		one, other := CopyOf(a), CopyOf(b)
		return one.overlaps(&other)
	case a.Offsets == nil:
		return mayHave(a, b.Offsets)
	case b.Offsets == nil:
		return mayHave(b, a.Offsets)
	}
	return slices.ContainsFunc(a.Offsets, func(at int64) bool { return slices.Contains(b.Offsets, at) })
}

// mayHave reports whether a load that is no replay may have added a record at one of the offsets. It
// added none that it found bad. A later job may find a record good that an earlier load found bad.
func mayHave(in *manifest.Input, offsets []int64) bool {
	bad, known := in.BadOffsets()
	return known && slices.ContainsFunc(offsets, func(at int64) bool {
		_, found := slices.BinarySearch(bad, at)
		return !found
	})
}
