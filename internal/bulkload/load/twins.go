package load

import (
	"path"
	"slices"
	"strings"

	"usertrail/internal/format/record"
)

// warnOfTwins warns of files to load whose name differs only in the ending of the compression from the name of a loaded file, or of
// another file of the dates. A program may have compressed a log after it was loaded. Their bytes differ, so a load cannot tell that they
// have the same records.
func (l *Load) warnOfTwins() {
	if len(l.Files) == 0 {
		return // the table may not be open
	}
	names := map[string][]string{} // of the files to load, by the name without the ending
	for _, f := range l.Files {
		names[plainName(f.Rel)] = nil
	}
	add := func(name string) {
		plain := plainName(name)
		if all, ok := names[plain]; ok && !slices.Contains(all, name) {
			names[plain] = append(all, name)
		}
	}
	for i := range l.found.Inputs {
		add(l.found.Inputs[i].Rel)
	}
	for _, of := range l.Known.Loads() {
		for i := range of.Inputs {
			add(of.Inputs[i].Path)
		}
	}
	files, example, other := 0, "", ""
	for _, f := range l.Files {
		for _, name := range names[plainName(f.Rel)] {
			if name == f.Rel {
				continue
			}
			if files++; files == 1 {
				example, other = f.Rel, name
			}
			break
		}
	}
	if files > 0 {
		l.cfg.Log.Warn("logs have the name of another log and another compression: if both have the same records, the table has each record twice",
			"files", files, "example", example, "other", other,
			"advice", "deliver one of the two; if the records are in the table twice, load the logs into a new table")
	}
}

// plainName returns the name of a file without the ending of its compression.
func plainName(name string) string {
	if record.IsCompressed(name) {
		return strings.TrimSuffix(name, path.Ext(name))
	}
	return name
}
