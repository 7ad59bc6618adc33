package manifest

import (
	"maps"
	"slices"

	"usertrail/internal/behaviour"
)

// A Selection describes how a job selects and reads the records of a file.
type Selection struct {
	Behaviour string // the behaviour that the path names, or ""
	TextsBy   string // see Input.TextsBy
	NamesBy   string // see Input.NamesBy
	Skip      string // the skip condition, or ""
	CutBy     string // see Input.CutBy
	// UserBy and TimeBy return the values of Input.UserBy and Input.TimeBy for these behaviours, see job.Job.
	UserBy, TimeBy func(behaviours []string) string
}

// Of returns the Selection for files whose path names a behaviour. If the behaviour is "", a column names it.
func (s Selection) Of(behaviour string) Selection {
	if s.Behaviour = behaviour; behaviour != "" {
		s.TextsBy, s.NamesBy = "", ""
	}
	return s
}

// An Except is a part of a file without the records for which a skip condition holds.
type Except struct {
	Part *Part  `json:"part,omitempty"`
	Skip string `json:"skip"`
}

// A Setting is a part of the job that decides which records of a file a load adds to the table.
type Setting string

// The settings.
const (
	SkipSetting Setting = "logs.skip"
	TextSetting Setting = "logs.behaviour"
	UserSetting Setting = "user"
	TimeSetting Setting = "time"
)

// A View is a file of a load as another job sees it.
type View struct {
	Part *Part  // the table has the records of this part
	Skip string // except those for which this condition holds; "" excepts none
	None bool   // the table has no record of the file
	// Whole reports whether the load was for all records of the part that the job wants. It skipped the records of
	// Skip and Out.
	Whole bool
	// Out counts the records that the load skipped and that the job cannot find again, because it has another
	// setting.
	Out map[Setting]int64
	// Empty are dates outside Part of which the file has no good record. They are known if the job reads the file as the
	// job of the load did.
	Empty []behaviour.Span
	// Unclear is "" if no record outside Part is in the table. Otherwise it is the setting that hides from the job which
	// of these records are in the table.
	Unclear Setting
}

// SetSelection sets the fields with which a later job finds out how the job of in selected and read its records. It
// sets only the fields that a later job needs. The counts of in show which fields these are.
func (in *Input) SetSelection(by Selection) {
	if in.Skips.Condition > 0 {
		in.SkippedBy, in.CutBy = by.Skip, by.CutBy
	}
	if in.Offsets != nil {
		return
	}
	if in.Behaviour == "" {
		in.NamesBy = by.NamesBy
	}
	if in.Skips.WithoutUser > 0 {
		in.UserBy = by.UserBy(in.behaviours())
	}
	if in.Dates == nil {
		in.TimeBy = by.TimeBy(in.behaviours())
	}
}

// SeenBy returns which records of in, a file of a load, are in the table. It is for a job that wants a part of the same
// file.
func (in *Input) SeenBy(asked *Part, by Selection) View {
	v := View{Part: in.partFor(asked, by), Whole: in.HasAll(asked, by), Out: map[Setting]int64{}}
	otherTimes := in.Dates == nil && in.differs(in.TimeBy, by.TimeBy)
	if !otherTimes {
		in.seenByDates(&v, asked, by)
	}
	if in.Read == 0 {
		return v
	}
	if otherTimes || in.Part.Meets(asked) {
		in.seenByTexts(&v, asked, by)
		in.seenBySkip(&v, by)
		if in.differs(in.UserBy, by.UserBy) {
			v.leaves(UserSetting, in.Skips.WithoutUser)
		}
	} else if !in.loadedAll(by.Skip, by.CutBy) {
		v.Skip = in.SkippedBy
	}
	if otherTimes {
		in.seenByTime(&v, asked)
	}
	if in.BroughtNone() && (v.Skip != "" || len(v.Out) > 0 || v.Unclear != "") {
		return View{None: true}
	}
	return v
}

// seenByDates updates v if the ledger shows of which dates outside the part of in the file has no good record, and if the job
// reads the file as the job of in did.
func (in *Input) seenByDates(v *View, asked *Part, by Selection) {
	empty := in.emptyDates()
	if len(empty) == 0 || asked == nil || !in.readAs(asked, by) {
		return
	}
	v.Empty = empty
	v.Whole = v.Whole || v.covers(asked.Dates()) && in.HasAll(asked.on(in.Part.Span), by)
}

// readAs reports whether the job that wants a part finds the behaviours and users of records as the job of in did, and has its
// skip condition. in has a part.
func (in *Input) readAs(asked *Part, by Selection) bool {
	return in.Behaviour == by.Behaviour && in.TextsBy == by.TextsBy && in.namesAs(asked) && in.loadedAll(by.Skip, by.CutBy) &&
		(in.Skips.WithoutUser == 0 || in.UserBy != "" && !in.differs(in.UserBy, by.UserBy))
}

// namesAs reports whether each text of a record names the same behaviour for the jobs of in and of asked. Behaviours may have
// columns of their own for the user and the time.
func (in *Input) namesAs(asked *Part) bool {
	texts := slices.Concat(slices.Collect(maps.Keys(in.Part.Texts)), slices.Collect(maps.Keys(asked.Texts)), in.Part.Behaviours, asked.Behaviours)
	return in.Part.Other == asked.Other && !slices.ContainsFunc(texts, func(text string) bool {
		return in.Part.named(text) != asked.named(text) && !in.lacks(&text)
	})
}

// emptyDates returns the dates outside the part of in of which the file has no good record. It returns nil if the path of in has a date,
// and if the ledger does not show these dates.
func (in *Input) emptyDates() []behaviour.Span {
	skips := &in.Skips
	if in.Dates != nil || in.Part == nil || in.Part.Span == nil || in.TimeBy == "" || in.SameAs != "" || in.Older != skips.DroppedDays || skips.Sum() != in.Skipped {
		return nil
	}
	held, none := []behaviour.Span{*in.Part.Span}, behaviour.Span{}
	if in.Older > 0 { // the part begins after these days
		held = append(held, behaviour.Span{From: behaviour.MinDate, To: in.Part.Span.From - 1})
	}
	switch {
	case skips.OutsideDates == 0:
	case in.Outside != nil:
		held = append(held, in.Outside...)
	case skips.OutsideDays == none:
		return nil // the ledger is of an older version, or all these records are of 1970-01-01
	default:
		held = append(held, skips.OutsideDays, none) // OutsideDays does not have 1970-01-01
	}
	return behaviour.AllDays.Gaps(held)
}

// covers reports whether v shows what the table has of all dates of a span. An empty span has no such dates.
func (v *View) covers(dates behaviour.Span) bool {
	return dates.From <= dates.To && dates.CoveredBy(append([]behaviour.Span{v.Part.Dates()}, v.Empty...))
}

// on returns p for another span of dates.
func (p *Part) on(span *behaviour.Span) *Part {
	out := *p
	out.Span = span
	return &out
}

// tookAll reports whether the load added all records of the file except left records.
func (in *Input) tookAll(left int64) bool { return left == 0 && len(in.StaysOut) == 0 }

// leaves adds to v that the load skipped some records because of a setting.
func (v *View) leaves(why Setting, records int64) {
	if records > 0 {
		v.Out[why] = records
	}
}

// partFor returns the part of in for a comparison with the part of the same file that a job wants. If the path of a file
// names the behaviour, all its records are of this behaviour, which may have had another name. If the path names the
// behaviour in only one of the two jobs, all behaviours of the dates count as loaded.
func (in *Input) partFor(asked *Part, by Selection) *Part {
	switch {
	case in.Behaviour == by.Behaviour:
		if in.SameTexts(by) {
			return in.Part
		}
		return in.Part.WithoutTexts()
	case in.Behaviour != "" && by.Behaviour == "" && !in.tookAll(0):
		return (&Part{Behaviours: []string{in.Behaviour}}).within(in.Part)
	case in.Part == nil || in.Part.Span == nil:
		return nil
	case by.Behaviour != "":
		return &Part{Span: in.Part.Span, Behaviours: []string{by.Behaviour}}
	}
	return (&Part{Span: in.Part.Span}).with(asked)
}

// SameTexts reports whether the job of in finds the same text in a record.
func (in *Input) SameTexts(by Selection) bool {
	return in.TextsBy == by.TextsBy || in.NamesBy != "" && in.NamesBy == by.NamesBy
}

// seenByTexts updates v if the two jobs find the behaviour of a record in different ways.
func (in *Input) seenByTexts(v *View, asked *Part, by Selection) {
	others := in.Skips.Unknown + in.Skips.OtherTypes + in.Skipped - in.Skips.Sum()
	switch {
	case in.Behaviour != "":
		if v.Part.lacksBehaviour(asked) {
			v.Unclear = TextSetting
		}
	case by.Behaviour == "" && in.SameTexts(by):
	case in.tookAll(others + in.Skips.WithoutUser):
		v.Part = v.Part.with(asked) // the load added the records of all texts
	case in.Behaviour == by.Behaviour && in.TextsBy == "": // the ledger is of an older version
		v.leaves(TextSetting, in.Skips.Unknown)
	default:
		v.leaves(TextSetting, others)
		if v.Part.lacksBehaviour(asked) {
			v.Unclear = TextSetting
		}
	}
}

// seenBySkip updates v for the skip conditions of the two jobs.
func (in *Input) seenBySkip(v *View, by Selection) {
	switch {
	case in.loadedAll(by.Skip, by.CutBy):
	case in.CutBy == by.CutBy:
		v.Skip = in.SkippedBy
	default:
		v.leaves(SkipSetting, in.Skips.Condition)
		v.Unclear = SkipSetting
	}
}

// seenByTime updates v if the two jobs read times in different ways. The path of in has no date.
func (in *Input) seenByTime(v *View, asked *Part) {
	outside := in.Skips.OutsideDates + in.Skips.DroppedDays
	if in.tookAll(outside) {
		v.Part = v.Part.always() // the load added the records of all dates
		return
	}
	v.leaves(TimeSetting, outside)
	if !asked.Dates().CoveredBy([]behaviour.Span{in.Part.Dates()}) {
		v.Unclear = TimeSetting
	}
}

// differs reports whether a job reads users or times in another way than the job of in. was is the digest of in, or ""
// if the ledger is of an older version.
func (in *Input) differs(was string, by func(behaviours []string) string) bool {
	return was != "" && by(in.behaviours()) != was
}

// behaviours returns the behaviours that the load was for.
func (in *Input) behaviours() []string {
	if in.Behaviour != "" || in.Part == nil {
		return []string{in.Behaviour}
	}
	return in.Part.Behaviours
}

// lacksBehaviour reports whether o has a behaviour that p does not have.
func (p *Part) lacksBehaviour(o *Part) bool {
	return p != nil && o != nil && slices.ContainsFunc(o.Behaviours, func(b string) bool { return !slices.Contains(p.Behaviours, b) })
}

// with returns p with the behaviours of o, too. p has no texts.
func (p *Part) with(o *Part) *Part {
	if p == nil || o == nil {
		return p
	}
	out := *p
	out.Behaviours = slices.Clone(p.Behaviours)
	for _, b := range o.Behaviours {
		if !slices.Contains(out.Behaviours, b) {
			out.Behaviours = append(out.Behaviours, b)
		}
	}
	return &out
}

// within returns p with the span of o.
func (p *Part) within(o *Part) *Part {
	if o != nil {
		p.Span = o.Span
	}
	return p
}

// always returns p for every date.
func (p *Part) always() *Part {
	if p == nil || p.Span == nil {
		return p
	}
	out := *p
	out.Span = nil
	return &out
}
