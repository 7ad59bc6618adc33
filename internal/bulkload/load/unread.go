package load

import (
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// unread returns the fields of the job that the given files were loaded without, in order of the job. Known
// is set. The table has no days before dropped, which may be nil.
func (l *Load) unread(files []job.Input, dropped *behaviour.Date) ([]bulkload.UnreadField, error) {
	asked := map[string]*job.Input{}
	for i := range files {
		asked[files[i].Rel] = &files[i]
	}
	var found, out []bulkload.UnreadField
	for _, of := range l.Known.Loads() {
		var err error
		if found, err = l.addUnread(found, of, asked, dropped); err != nil {
			return nil, err
		}
	}
	for _, k := range l.Search.Kinds {
		kind := &l.cfg.Job.Schema.Kinds[k]
		for _, field := range kind.Fields {
			i := slices.IndexFunc(found, func(f bulkload.UnreadField) bool { return f.Behaviour == kind.Name && f.Field == field.Name })
			if i >= 0 {
				out = append(out, found[i])
			}
		}
	}
	return out, nil
}

// WarnNotRead logs the fields and the records of loaded files that a load does not read again.
func (l *Load) WarnNotRead() { l.Result.NotRead.Warn(l.cfg.Log) }

// addUnread adds the fields that a load did not read from the asked files to found.
func (l *Load) addUnread(found []bulkload.UnreadField, of *manifest.Load, asked map[string]*job.Input, dropped *behaviour.Date) ([]bulkload.UnreadField, error) {
	if !slices.ContainsFunc(of.Inputs, func(in manifest.Input) bool { return asked[in.Path] != nil }) {
		return found, nil
	}
	unread, err := of.UnreadOf(l.cfg.Job.Schema)
	if err != nil {
		return nil, err
	}
	for i := range of.Inputs {
		in := &of.Inputs[i]
		file := asked[in.Path]
		if file == nil || in.Loaded == 0 || ofDropped(file, dropped) {
			continue
		}
		for kind, fields := range unread[i] {
			dates := l.datesOf(of, in, kind, dropped)
			if dates == behaviour.NoDays {
				continue
			}
			if file.Date != nil {
				dates = behaviour.Span{From: *file.Date, To: *file.Date}
			}
			for _, field := range fields {
				found = bulkload.AddUnread(found, bulkload.UnreadField{Behaviour: kind, Field: field, Dates: dates, Paths: map[string]bool{in.Path: true}})
			}
		}
	}
	return found, nil
}

// datesOf returns the dates on which a load added records of a behaviour, as far as its file in may have
// them. Days that were dropped are not among them.
func (l *Load) datesOf(of *manifest.Load, in *manifest.Input, kind string, dropped *behaviour.Date) behaviour.Span {
	out := behaviour.NoDays
	for _, d := range of.Days {
		if d.Date.Before(dropped) {
			continue
		}
		possible := in.Dates != nil && in.Dates.Has(d.Date) || in.Dates == nil && l.cfg.Span.Has(d.Date)
		if d.Behaviour == kind && d.Records > 0 && possible {
			out.AddDay(d.Date)
		}
	}
	return out
}

// ofDropped reports whether the path of a file has a day before dropped, which may be nil.
func ofDropped(in *job.Input, dropped *behaviour.Date) bool {
	return in.Date != nil && in.Date.Before(dropped)
}
