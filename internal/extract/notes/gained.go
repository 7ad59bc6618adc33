package notes

import (
	"context"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract"
	"usertrail/internal/extract/place"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
)

// Appended returns notes on a result to which c appends: days between its dates that it does not have, days that
// were extracted before the table l was made again, and days that gained records in l after they were extracted.
func Appended(ctx context.Context, l table.Loader, c extract.Config) ([]string, error) {
	m, err := place.At(c.FS, c.Out).Result(ctx)
	if err != nil || m == nil {
		return nil, err
	}
	notes, err := gainedBy(ctx, l, c, m)
	notes = append(replaced(l, m), notes...)
	if missing := manifest.MissingDays(&m.Query, m.Appended); len(missing) > 0 {
		notes = append([]string{fmt.Sprintf("the result has %s without %s: use --append for these days, too", m.Query.Span, table.Spans(missing))}, notes...)
	}
	return notes, err
}

// replaced returns a note if days in the result m were extracted from a table that had the name of l before l was made.
func replaced(l table.Loader, m *manifest.Extract) []string {
	known := table.Known(l)
	if known == nil {
		return nil
	}
	var spans []behaviour.Span
	for _, a := range m.Extracts() {
		if _, ok := known.LoadsAt(a.TableVersion); !ok && manifest.IsState(a.TableVersion) {
			spans = append(spans, a.Span)
		}
	}
	if len(spans) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("days of the result that were extracted before the table was made again: %s: to have the records of the new table, extract all days again into another directory", table.Spans(spans))}
}

// gainedBy returns a note if days in the result m of c gained records in the table l after they were extracted.
// It does not name days that the table has dropped. It returns none for the days of a table that has no versions, or that was made again since.
func gainedBy(ctx context.Context, l table.Loader, c extract.Config, m *manifest.Extract) ([]string, error) {
	known := table.Known(l)
	if known == nil {
		return nil, nil
	}
	var old []extracted
	for _, a := range m.Extracts() {
		if n, ok := known.LoadsAt(a.TableVersion); ok && n < len(known.Loads) {
			old = append(old, extracted{a.Span, n})
		}
	}
	if len(old) == 0 {
		return nil, nil
	}
	q, err := c.NewQuery()
	if err != nil {
		return nil, err
	}
	ledgers, err := l.Ledgers(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for days that gained records: %w", err)
	}
	dropped := l.Info().Dropped
	days := slices.DeleteFunc(gained(ledgers, old, q.NamedAll()), func(d behaviour.Date) bool { return d.Before(dropped) })
	if len(days) == 0 {
		return nil, nil
	}
	step := "extract all days again into another directory"
	if m.Query.Span.From.Before(dropped) {
		step = fmt.Sprintf("extract the days from %s on into another directory, and keep this result for the days before, which were dropped from the table", dropped)
	}
	return []string{fmt.Sprintf("days of the result that gained records in the table after they were extracted: %s: --append does not add these records: to have them, %s",
		table.Spans(behaviour.SpansOf(days)), step)}, nil
}

// An extracted is an extract of a result.
type extracted struct {
	span  behaviour.Span
	loads int // that the table had
}

// gained returns the days of extracts that gained records of some behaviours after their extract.
func gained(ledgers []*manifest.Load, extracts []extracted, names []string) (days []behaviour.Date) {
	for _, e := range extracts {
		for _, l := range ledgers[e.loads:] {
			for _, d := range l.Days {
				if d.Records > 0 && e.span.Has(d.Date) && slices.Contains(names, d.Behaviour) {
					days = append(days, d.Date)
				}
			}
		}
	}
	return days
}
