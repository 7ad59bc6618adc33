package table

import (
	"context"

	"usertrail/internal/behaviour"
)

// Records are how many records of each kind of the table's schema its loads brought
// for the days of a span, as their ledgers say. What others put into the table is
// not among them.
func Records(ctx context.Context, l Loader, span behaviour.Span) ([]int64, error) {
	ledgers, err := l.Ledgers(ctx)
	if err != nil {
		return nil, err
	}
	s := l.Info().Schema
	out := make([]int64, len(s.Kinds))
	for _, load := range ledgers {
		for _, d := range load.Days {
			if k, ok := s.Kind(d.Behaviour); ok && span.Has(d.Date) {
				out[k] += d.Records
			}
		}
	}
	return out, nil
}
