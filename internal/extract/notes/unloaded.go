package notes

import (
	"context"

	"usertrail/internal/extract/query"
	"usertrail/internal/table"
)

// notLoaded returns a note if days of q are not loaded. It says nothing of days that were dropped, and
// of a table into which other programs write.
func notLoaded(ctx context.Context, q *query.Query, t table.Loader) ([]string, error) {
	m := table.Known(t)
	if !table.DaysKnown(t) || len(m.Loads) == 0 {
		return nil, nil
	}
	span := q.Span
	if q.Info.Dropped != nil {
		span.From = max(span.From, *q.Info.Dropped)
	}
	if span.From > span.To {
		return nil, nil
	}
	missing, err := table.NotLoaded(ctx, t, span)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	return []string{"days that are not loaded: " + table.Spans(missing)}, nil
}
