package target

import (
	"fmt"
	"log/slog"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
)

// A file may have records, within the job's slack, of days that were dropped from the table. A load
// skips these records. If it loaded them, the table would have only a part of such a day.

// CountOlder adds the number of records of dropped days in a load to r, and logs a warning.
func (t *Table) CountOlder(of *manifest.Load, r *bulkload.Result, log *slog.Logger) {
	var older int64
	for i := range of.Inputs {
		older += of.Inputs[i].Older
	}
	if older == 0 {
		return
	}
	r.Older += older
	log.Warn("skipped records of days that were dropped from the table", "records", older, "before", t.Info().Dropped)
}

// AllOlder returns an error if all good records of a load of a span belong to dropped days.
func (t *Table) AllOlder(r *bulkload.Result, span behaviour.Span) error {
	if r.Older == 0 || r.Older+r.Quarantined != r.Read {
		return nil
	}
	return t.SkippedAll(span)
}

// SkippedAll returns the error of a load of a span whose good records all belong to dropped days.
func (t *Table) SkippedAll(span behaviour.Span) error {
	return AllDropped(span, *t.Info().Dropped, t.Address)
}

// AllDropped is SkippedAll for a table at an address from which the days before a date were dropped.
func AllDropped(span behaviour.Span, before behaviour.Date, address string) error {
	return fmt.Errorf("%w: nothing was loaded: all good records of the files of %s are of days before %s, which were dropped from %s: correct --from and --to, or bring the days back by bulkload undrop and load again",
		bulkload.ErrRequest, span, before, address)
}

// LoadedBefore returns the error of a load of a span whose n files were all loaded before. It names the dropped days of the span,
// because the table does not have them.
func (t *Table) LoadedBefore(n int, span behaviour.Span) error {
	dropped := table.Dropped(t, span)
	if dropped != "" {
		dropped = "; " + dropped + ": bulkload undrop brings them back"
	}
	return fmt.Errorf("%w: all %d %s of %s were loaded before%s", bulkload.ErrNothing, n, english.PluralWord(n, "file", ""), span, dropped)
}
