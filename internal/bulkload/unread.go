package bulkload

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
)

// NotRead lists what a load does not read: files that the job does not map, and parts of files that are loaded.
type NotRead struct {
	// Unread lists fields of the job that the files were loaded without.
	Unread []UnreadField `json:"unread_fields,omitempty"`
	// StaysOut lists why records of the files are not loaded, although the job requests them now.
	StaysOut []StaysOut `json:"stays_out,omitempty"`
	// UnmappedFiles counts the logs that match a path of the job except for the text of {behaviour}.
	UnmappedFiles job.UnmappedFiles `json:"unmapped_files,omitzero"`
}

// Add adds the lists of another load.
func (n *NotRead) Add(o NotRead) {
	for _, f := range o.Unread {
		n.Unread = AddUnread(n.Unread, f)
	}
	for _, s := range o.StaysOut {
		n.StaysOut = AddStaysOut(n.StaysOut, s)
	}
	n.UnmappedFiles.Merge(&o.UnmappedFiles)
}

// Warn logs the lists of loaded files.
func (n *NotRead) Warn(log *slog.Logger) {
	warnUnread(log, n.Unread)
	warnStaysOut(log, n.StaysOut)
}

// An UnreadField is a field of the job that a behaviour did not have when files were loaded, or that the job of the load read by other
// settings, without a value. The records of these files have no value for the field.
type UnreadField struct {
	Behaviour string `json:"behaviour"`
	Field     string `json:"field"`
	Files     int    `json:"files"` // at most; if a column names the behaviour, a ledger does not count the records of each file
	// Dates are of the files, or of the records if the paths have no date. They are of both if the day in a path was dropped, or has values.
	Dates behaviour.Span `json:"dates"`

	Paths map[string][]behaviour.Span `json:"-"` // of the files, with the days on which the records lack the field, in order
}

// AddUnread adds f to a list, which has one entry for each field of a behaviour. Files follows from Paths. The list and f share days.
func AddUnread(list []UnreadField, f UnreadField) []UnreadField {
	i := slices.IndexFunc(list, func(o UnreadField) bool { return o.Behaviour == f.Behaviour && o.Field == f.Field })
	if i < 0 {
		f.Files, f.Paths = len(f.Paths), maps.Clone(f.Paths)
		return append(list, f)
	}
	for path, days := range f.Paths {
		if had := list[i].Paths[path]; had != nil && !slices.Equal(had, days) {
			days = behaviour.Join(slices.Concat(had, days))
		}
		list[i].Paths[path] = days
	}
	list[i].Files = len(list[i].Paths)
	list[i].Dates.Add(f.Dates)
	return list
}

// UnreadAdvice is the next step for an UnreadField.
const UnreadAdvice = "a load does not read these records again: if the values are wanted, read the files again with --reread; if the table cannot have them, load the logs into a new table; files that are loaded from now on have the field"

// DescribeUnread describes the first field of a list, and counts the others.
func DescribeUnread(list []UnreadField) string {
	f := list[0]
	text := fmt.Sprintf("up to %s of %s with records of %s: loaded without a value of the field %s: their job did not have it, or read it by other settings", english.Plural(f.Files, "file", ""), f.Dates, f.Behaviour, f.Field)
	if more := len(list) - 1; more > 0 {
		text += fmt.Sprintf("; and so for %s", english.Plural(more, "more field", ""))
	}
	return text
}

// warnUnread logs the fields that loaded files were loaded without.
func warnUnread(log *slog.Logger, list []UnreadField) {
	for i, f := range list {
		if i == Shown {
			log.Warn("loaded files have no values for more fields of the job", "fields", len(list)-i, "see", "unread_fields of the last line")
			return
		}
		log.Warn("loaded files have no values for a field of the job", "behaviour", f.Behaviour, "field", f.Field, "files", f.Files, "dates", f.Dates.String(), "advice", UnreadAdvice)
	}
}
