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
func (l *Load) unread(files []job.Input, dropped *behaviour.Date) []bulkload.UnreadField {
	asked := map[string]*job.Input{}
	for i := range files {
		asked[files[i].Rel] = &files[i]
	}
	found := map[unreadKey]behaviour.Span{}
	for _, of := range l.Known.Loads() {
		l.addUnread(found, of, asked, dropped)
	}
	type fieldKey struct{ kind, field string }
	byField := map[fieldKey]bulkload.UnreadField{}
	for key, dates := range found {
		at := fieldKey{key.kind, key.field}
		f, ok := byField[at]
		if !ok {
			f = bulkload.UnreadField{Behaviour: key.kind, Field: key.field, Dates: behaviour.NoDays, Paths: map[string]bool{}}
		}
		f.Files++
		f.Paths[key.path] = true
		f.Dates.Add(dates)
		byField[at] = f
	}
	var out []bulkload.UnreadField
	for _, k := range l.Search.Kinds {
		kind := &l.cfg.Job.Schema.Kinds[k]
		for _, field := range kind.Fields {
			if f, ok := byField[fieldKey{kind.Name, field.Name}]; ok {
				out = append(out, f)
			}
		}
	}
	return out
}

// WarnUnread logs the fields that loaded files were loaded without.
func (l *Load) WarnUnread() { bulkload.WarnUnread(l.cfg.Log, l.Result.Unread) }

// An unreadKey is a field of a behaviour that a file was loaded without.
type unreadKey struct{ path, kind, field string }

// addUnread adds the fields that a load did not read from the asked files, and the dates of the records, to
// found.
func (l *Load) addUnread(found map[unreadKey]behaviour.Span, of *manifest.Load, asked map[string]*job.Input, dropped *behaviour.Date) {
	if !slices.ContainsFunc(of.Inputs, func(in manifest.Input) bool { return asked[in.Path] != nil }) {
		return
	}
	unread := of.UnreadOf(l.cfg.Job.Schema)
	for i := range of.Inputs {
		in := &of.Inputs[i]
		file := asked[in.Path]
		if file == nil || in.Loaded == 0 || file.Date != nil && dropped != nil && *file.Date < *dropped {
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
				key, all := unreadKey{in.Path, kind, field}, dates
				if before, ok := found[key]; ok {
					all.Add(before)
				}
				found[key] = all
			}
		}
	}
}

// datesOf returns the dates on which a load brought records of a behaviour, as far as its file in may have
// them. Days that were dropped are not among them.
func (l *Load) datesOf(of *manifest.Load, in *manifest.Input, kind string, dropped *behaviour.Date) behaviour.Span {
	out := behaviour.NoDays
	for _, d := range of.Days {
		if dropped != nil && d.Date < *dropped {
			continue
		}
		possible := in.Dates != nil && in.Dates.Has(d.Date) || in.Dates == nil && l.cfg.Span.Has(d.Date)
		if d.Behaviour == kind && d.Records > 0 && possible {
			out.AddDay(d.Date)
		}
	}
	return out
}
