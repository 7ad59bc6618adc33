package table

import (
	"context"
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
)

// SpanOf returns the first and the last day with records of loads. ok is false if there are
// none. For a table of files it uses the manifest. For other tables it reads the ledgers.
func SpanOf(ctx context.Context, t Loader) (s behaviour.Span, ok bool, err error) {
	s = behaviour.NoDays
	if m := Known(t); m != nil && m.Address == "" {
		for _, f := range m.Files {
			s.Add(f.Span)
		}
		return s, s.From <= s.To, nil
	}
	err = t.EachLedger(ctx, func(l *manifest.Load) error {
		for _, d := range l.Days {
			s.AddDay(d.Date)
		}
		return nil
	})
	return s, err == nil && s.From <= s.To, err
}

// WithoutDays returns the reason why a table of files has no dates, and the next step.
func WithoutDays(t Loader) string {
	if first := t.Info().Dropped; first != nil {
		return fmt.Sprintf("the table has no records, so it has no dates: the days before %s were dropped: restore them with bulkload undrop, load later days, or load the logs into a new table", first)
	}
	return "the table has no records, so it has no dates: load some, or write --from YYYY-MM-DD --to YYYY-MM-DD"
}
