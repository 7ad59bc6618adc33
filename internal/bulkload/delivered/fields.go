package delivered

import (
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// UnreadFields returns the fields of the job that the given files were loaded without, and that no later load read
// again, in order of the job. A file was also loaded without a field on the days on which no record got a value, if the job reads the
// field by other settings now. Records that a replay added do not count, because the text in the file is the bad one. loads are all loads of the table, the oldest first. The table has no days before
// dropped, which may be nil.
func (s *Search) UnreadFields(loads []*manifest.Load, files []job.Input, dropped *behaviour.Date) ([]bulkload.UnreadField, error) {
	u := &unreadFields{Search: s, dropped: dropped, asked: map[string]*job.Input{}, again: map[string][]again{}, by: s.Job.FieldsBy()}
	for i := range files {
		u.asked[files[i].Rel] = &files[i]
	}
	for _, of := range slices.Backward(loads) { // the later loads first: only they can have read a file again
		if err := u.add(of); err != nil {
			return nil, err
		}
	}
	return u.inOrder(), nil
}

// unreadFields collects the fields that loads did not read.
type unreadFields struct {
	*Search
	dropped *behaviour.Date
	asked   map[string]*job.Input // by Rel
	again   map[string][]again    // by path, of the loads that were added
	found   []bulkload.UnreadField
	by      func(name, field string) string // by which settings the job reads a field; "" if it has no such field
}

// An again is a file of a load that read fields again. On the days of others, it found no value, and the job reads the fields by other
// settings.
type again struct {
	*manifest.Input
	others map[fieldOf][]behaviour.Span
}

// A fieldOf is a field of a behaviour.
type fieldOf struct{ behaviour, field string }

// add adds the fields that a load did not read from the asked files.
func (u *unreadFields) add(of *manifest.Load) error {
	if !slices.ContainsFunc(of.Inputs, func(in manifest.Input) bool { return u.asked[in.Path] != nil }) {
		return nil
	}
	unread, err := of.UnreadOf(u.Job.Schema)
	if err != nil {
		return err
	}
	others := u.readByOthers(of.NoValue) // the files share the days
	var have map[string][]behaviour.Span
	if len(others) > 0 || slices.ContainsFunc(unread, func(fields map[string][]string) bool { return len(fields) > 0 }) {
		have = recordsOf(of.Days)
	}
	for i := len(of.Inputs) - 1; i >= 0; i-- { // an import joins loads into one
		in := &of.Inputs[i]
		file := u.asked[in.Path]
		if file == nil {
			continue
		}
		if in.Reread != nil {
			u.again[in.Path] = append(u.again[in.Path], again{in, u.readByOthers(in.RereadNoValue)})
		}
		if in.Loaded > 0 && in.Offsets == nil && !u.ofDropped(file) { // replayed records get no values
			all := []behaviour.Span{in.Part.Dates()}
			for kind, fields := range unread[i] {
				for _, field := range fields {
					u.addFile(have[kind], all, in, file, fieldOf{kind, field})
				}
			}
			for field, days := range others {
				if in.Asks(field.behaviour) {
					u.addFile(have[field.behaviour], days, in, file, field)
				}
			}
		}
	}
	return nil
}

// recordsOf returns those of the days of a load that have records, by behaviour.
func recordsOf(days []manifest.Day) map[string][]behaviour.Span {
	out := map[string][]behaviour.Span{}
	for i := range days { // in order of their dates
		d := &days[i]
		if d.Records == 0 {
			continue
		}
		of := out[d.Behaviour]
		if n := len(of); n > 0 && of[n-1].To+1 >= d.Date {
			of[n-1].To = d.Date
		} else {
			out[d.Behaviour] = append(of, behaviour.Span{From: d.Date, To: d.Date})
		}
	}
	return out
}

// readByOthers returns those of the fields without a value that the job reads by other settings. Each has the days on which it has no
// value.
func (u *unreadFields) readByOthers(none *manifest.NoValue) map[fieldOf][]behaviour.Span {
	out := map[fieldOf][]behaviour.Span{}
	if none == nil {
		return out
	}
	for i := range none.Days {
		n := &none.Days[i]
		for field := range none.FieldsOf(n) {
			if now := u.by(n.Behaviour, field.Name); now != "" && job.OtherBy(field.By, now) {
				key := fieldOf{n.Behaviour, field.Name}
				out[key] = append(out[key], n.Days...)
			}
		}
	}
	for key, days := range out {
		out[key] = slices.Clone(behaviour.Join(days)) // they have more memory
	}
	return out
}

// addFile adds a field that the records of some days lack, if the file may have some of them. have are the days on which the load has
// records of the behaviour.
func (u *unreadFields) addFile(have, days []behaviour.Span, in *manifest.Input, file *job.Input, of fieldOf) {
	days = without(days, u.given(in.Path, of))
	dates := bounds(have, days, u.possible(in))
	if dates == behaviour.NoDays {
		return
	}
	switch {
	case file.Date == nil:
	case file.Date.Before(u.dropped), !behaviour.HasDay(days, *file.Date): // only records of other days lack the field
		dates.AddDay(*file.Date)
	default:
		dates = behaviour.Span{From: *file.Date, To: *file.Date}
	}
	u.found = bulkload.AddUnread(u.found, bulkload.UnreadField{
		Behaviour: of.behaviour, Field: of.field, Dates: dates, Paths: map[string][]behaviour.Span{in.Path: days},
	})
}

// possible returns the dates that the records of a loaded file may have, without dropped days.
func (u *unreadFields) possible(in *manifest.Input) behaviour.Span {
	out := u.Span
	if in.Dates != nil {
		out = *in.Dates
	}
	if u.dropped != nil {
		out.From = max(out.From, *u.dropped)
	}
	return out
}

// given returns the days for which later loads read a field of a file again.
func (u *unreadFields) given(path string, of fieldOf) (out []behaviour.Span) {
	for _, in := range u.again[path] {
		if in.Missed == 0 && slices.Contains(in.Reread[of.behaviour], of.field) && in.Part.Names(of.behaviour, nil) {
			out = append(out, without([]behaviour.Span{in.Part.Dates()}, in.others[of])...)
		}
	}
	return out
}

// without returns the days of spans that are not in others, in order. It sorts others.
func without(spans, others []behaviour.Span) []behaviour.Span {
	if len(others) == 0 {
		return spans
	}
	var out []behaviour.Span
	for _, s := range spans {
		out = append(out, s.Gaps(others)...)
	}
	return out
}

// bounds returns the smallest span that includes the days of within that are in a and in b. Both lists are in order.
func bounds(a, b []behaviour.Span, within behaviour.Span) behaviour.Span {
	out := behaviour.NoDays
	for len(a) > 0 && len(b) > 0 {
		both := a[0].Common(b[0]).Common(within)
		if both.From <= both.To {
			out.Add(both)
		}
		if a[0].To < b[0].To {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}

// inOrder returns the fields in order of the job.
func (u *unreadFields) inOrder() []bulkload.UnreadField {
	var out []bulkload.UnreadField
	for _, k := range u.Kinds {
		kind := &u.Job.Schema.Kinds[k]
		for _, field := range kind.Fields {
			i := slices.IndexFunc(u.found, func(f bulkload.UnreadField) bool { return f.Behaviour == kind.Name && f.Field == field.Name })
			if i >= 0 {
				out = append(out, u.found[i])
			}
		}
	}
	return out
}

// ofDropped reports whether all days that the records of a file may have, by the date in its path, were dropped.
func (u *unreadFields) ofDropped(in *job.Input) bool {
	f := File{Input: *in}
	dates := f.Dates(u.Job.Format.Slack)
	return dates != nil && dates.To.Before(u.dropped)
}
