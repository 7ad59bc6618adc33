package target

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/quantity"
	"usertrail/internal/table"
)

// A file may have records, within the job's slack, of days that were dropped from the table. A load
// skips these records. If it loaded them, the table would have only a part of such a day.

// CountOlder adds the number of records of dropped days in a load to r, and logs a warning.
func (t *Table) CountOlder(of *manifest.Load, r *bulkload.Result, log *slog.Logger) {
	older := olderIn(of)
	if older == 0 {
		return
	}
	r.Older += older
	log.Warn("skipped records of days that were dropped from the table", "records", older, "before", t.Info().Dropped)
}

// olderIn returns the number of records of dropped days in a load.
func olderIn(of *manifest.Load) (n int64) {
	for i := range of.Inputs {
		n += of.Inputs[i].Older
	}
	return n
}

// WarnOfCopies warns of delivered files of a load that are only copies of files of other days.
func WarnOfCopies(of *manifest.Load, log *slog.Logger) {
	var copies []*manifest.Input
	for i := range of.Inputs {
		if of.Inputs[i].CopyOf != "" {
			copies = append(copies, &of.Inputs[i])
		}
	}
	if len(copies) > 0 {
		log.Warn("logs have the bytes of logs of other days, and no record of their own days: deliver the logs of these days as files of other names",
			"files", len(copies), "first", copies[0].Path, "copy_of", copies[0].CopyOf)
	}
}

// AllOlder returns an error if all good records of a load of a span belong to dropped days.
func (t *Table) AllOlder(ctx context.Context, r *bulkload.Result, span behaviour.Span) error {
	if r.Older == 0 || r.Older+r.Quarantined != r.Read {
		return nil
	}
	return t.SkippedAll(ctx, r.Files, span)
}

// AllOlderIn is AllOlder for a load that is in the table. It returns nil if the days are no longer dropped.
func (t *Table) AllOlderIn(ctx context.Context, of *manifest.Load, span behaviour.Span) error {
	if t.Info().Dropped == nil {
		return nil
	}
	var r bulkload.Result
	r.AddLoad(of)
	r.Older = olderIn(of)
	return t.AllOlder(ctx, &r, span)
}

// SkippedAll returns the error of a load of a span if all good records belong to dropped days. files is the number of
// new files. If it is 0, all files of the span were loaded before.
func (t *Table) SkippedAll(ctx context.Context, files int, span behaviour.Span) error {
	return &SkippedAllError{Files: files, Span: span, Dropped: *t.Info().Dropped, Final: t.droppedForGood(ctx), Address: t.Address}
}

// A SkippedAllError is the error of a load of a span whose good records all belong to dropped days.
type SkippedAllError struct {
	Files   int            // new ones; 0 if all files were loaded before
	Span    behaviour.Span // zero if it is not known: the plan of the load is gone
	Dropped behaviour.Date // the days before it were dropped
	Final   bool           // the drop can no longer be undone
	Address string         // of the table
}

// Error implements error.
func (e *SkippedAllError) Error() string {
	files := "files"
	if e.Files > 0 {
		files = english.Plural(e.Files, "new file", "")
	}
	if e.Span != (behaviour.Span{}) {
		files += " of " + e.Span.String()
	}
	step := "restore the days with bulkload undrop and load again"
	if e.Final {
		step = "load the logs into a new table"
	}
	return fmt.Sprintf("%v: nothing was loaded: all good records of the %s are of days before %s, which were dropped from %s: correct --from and --to, or %s",
		bulkload.ErrRequest, files, e.Dropped, e.Address, step)
}

// Unwrap returns the kind of e.
func (e *SkippedAllError) Unwrap() error { return bulkload.ErrRequest }

// LoadedBefore returns e with the dropped days of t.
func (t *Table) LoadedBefore(ctx context.Context, e LoadedBeforeError) error {
	if e.Dropped = t.Info().Dropped; e.Dropped != nil {
		e.Final = t.droppedForGood(ctx)
	}
	return &e
}

// droppedForGood reports whether the last drop can no longer be undone: the table does not keep its files, or no longer has a file that
// the drop wrote. It returns false if it cannot know.
func (t *Table) droppedForGood(ctx context.Context) bool {
	files, ok := table.As[table.OfFiles](t.Loader)
	if !ok {
		return false
	}
	u, err := files.Undrop(ctx)
	return err == nil && (u == nil || u.Lacks(files.Manifest()) != "")
}

// A LoadedBeforeError is the error of a load of a span in which no file has records to load. It names the dropped days of
// the span, because the table does not have them.
type LoadedBeforeError struct {
	Files     int // loaded before
	Older     int // not loaded before; all their records are of dropped days
	Elsewhere int // read before, by loads of other dates; no record is of the span
	Span      behaviour.Span
	Dropped   *behaviour.Date // the days before it were dropped; nil if no day was
	Final     bool            // the drop can no longer be undone
}

// Error implements error.
func (e *LoadedBeforeError) Error() string {
	dropped := table.Dropped(e.Dropped, e.Span)
	switch {
	case dropped != "" && e.Final:
		dropped = "; " + dropped + ": to have them again, load their logs into a new table"
	case dropped != "":
		dropped = "; " + dropped + ": bulkload undrop restores them"
	}
	return fmt.Sprintf("%v: %s%s", bulkload.ErrNothing, e.loaded(), dropped)
}

// loaded describes the files that were loaded before.
func (e *LoadedBeforeError) loaded() string {
	switch {
	case e.Older+e.Files == 0:
		return fmt.Sprintf("no record of %s is of %s", quantity.Of(e.Elsewhere, "file"), e.Span)
	case e.Older+e.Elsewhere > 0:
		out := fmt.Sprintf("%s of %s: %d loaded before", quantity.Of(e.Files+e.Older+e.Elsewhere, "file"), e.Span, e.Files)
		if e.Older > 0 {
			out += fmt.Sprintf(", %d with records of dropped days only", e.Older)
		}
		if e.Elsewhere > 0 {
			out += fmt.Sprintf(", %d with records of other dates only", e.Elsewhere)
		}
		return out
	case e.Files == 1:
		return fmt.Sprintf("the file of %s was loaded before", e.Span)
	}
	return fmt.Sprintf("all %s of %s were loaded before", quantity.Of(e.Files, "file"), e.Span)
}

// Unwrap returns the kind of e.
func (e *LoadedBeforeError) Unwrap() error { return bulkload.ErrNothing }
