package delivered

import (
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// UnreadFields returns the fields of the job that the given files were loaded without, and that no later load read
// again, in order of the job. A file was also loaded without a field if no record of its days got a value, and the job reads the
// field by other settings now. loads are all loads of the table, the oldest first. The table has no days before
// dropped, which may be nil.
func (s *Search) UnreadFields(loads []*manifest.Load, files []job.Input, dropped *behaviour.Date) ([]bulkload.UnreadField, error) {
	u := &unreadFields{Search: s, dropped: dropped, asked: map[string]*job.Input{}, again: map[string][]*manifest.Input{}, by: s.Job.FieldsBy()}
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
	asked   map[string]*job.Input        // by Rel
	again   map[string][]*manifest.Input // by path, of the loads that were added: those that read fields again
	found   []bulkload.UnreadField
	by      func(name, field string) string // by which settings the job reads a field; "" if it has no such field
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
	others := u.readByOthers(of)
	for i := len(of.Inputs) - 1; i >= 0; i-- { // an import joins loads into one
		in := &of.Inputs[i]
		file := u.asked[in.Path]
		if file == nil {
			continue
		}
		if in.Reread != nil {
			u.again[in.Path] = append(u.again[in.Path], in)
		}
		if in.Loaded > 0 && !u.ofDropped(file) {
			for kind, fields := range unread[i] {
				for _, field := range fields {
					u.addFile(of.Days, in, file, fieldOf{kind, field})
				}
			}
			for field, groups := range others {
				for _, days := range groups {
					if in.Asks(field.behaviour) {
						u.addFile(days, in, file, field)
					}
				}
			}
		}
	}
	return nil
}

// readByOthers returns the fields that a load read without a value, and that the job reads by other settings. Each has groups of the
// days of the load on which it has no value. Fields share the groups.
func (u *unreadFields) readByOthers(of *manifest.Load) map[fieldOf][][]manifest.Day {
	out := map[fieldOf][][]manifest.Day{}
	if of.NoValue == nil {
		return out
	}
	for i := range of.NoValue.Days {
		n := &of.NoValue.Days[i]
		var days []manifest.Day // of n
		for field := range of.NoValue.FieldsOf(n) {
			now := u.by(n.Behaviour, field.Name)
			if now == "" || now == field.By {
				continue
			}
			if days == nil {
				days = daysIn(of.Days, n)
			}
			key := fieldOf{n.Behaviour, field.Name}
			out[key] = append(out[key], days)
		}
	}
	return out
}

// daysIn returns those of the days of a load that are days of n.
func daysIn(days []manifest.Day, n *manifest.NoValueDays) (out []manifest.Day) {
	for _, d := range days {
		if d.Behaviour == n.Behaviour && n.Has(d.Date) {
			out = append(out, d)
		}
	}
	return out
}

// addFile adds a field that the records of some days of a load lack, if the file may have some of them.
func (u *unreadFields) addFile(days []manifest.Day, in *manifest.Input, file *job.Input, of fieldOf) {
	dates := u.datesOf(days, in, of)
	if dates == behaviour.NoDays {
		return
	}
	switch {
	case file.Date == nil:
	case file.Date.Before(u.dropped): // the table has records of later days only
		dates.AddDay(*file.Date)
	default:
		dates = behaviour.Span{From: *file.Date, To: *file.Date}
	}
	u.found = bulkload.AddUnread(u.found, bulkload.UnreadField{Behaviour: of.behaviour, Field: of.field, Dates: dates, Paths: map[string]bool{in.Path: true}})
}

// datesOf returns those of the days of a load that have records of a behaviour, as far as its file in may have
// them without a field. Days that were dropped are not among them.
func (u *unreadFields) datesOf(days []manifest.Day, in *manifest.Input, of fieldOf) behaviour.Span {
	out := behaviour.NoDays
	for _, d := range days {
		if d.Date.Before(u.dropped) {
			continue
		}
		possible := in.Dates != nil && in.Dates.Has(d.Date) || in.Dates == nil && u.Span.Has(d.Date)
		if d.Behaviour == of.behaviour && d.Records > 0 && possible && !u.gave(in.Path, of.field, d.Date, d.Behaviour) {
			out.AddDay(d.Date)
		}
	}
	return out
}

// gave reports whether a later load read the field of a file again, for the records of a date and behaviour.
func (u *unreadFields) gave(path, field string, d behaviour.Date, kind string) bool {
	return slices.ContainsFunc(u.again[path], func(in *manifest.Input) bool { return in.Missed == 0 && in.Gave(field, d, kind) })
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
