package notes

import (
	"context"
	"fmt"
	"time"

	"usertrail/internal/extract/query"
	"usertrail/internal/table"
)

// older returns a note if requested days are gone: they were dropped, or they are older than
// the TTL of the table.
func older(ctx context.Context, q *query.Query, t table.Table, now time.Time) ([]string, error) {
	if dropped := table.Dropped(t.Info().Dropped, q.Span); dropped != "" {
		return []string{dropped}, nil
	}
	a, ok := table.As[table.Expiring](t)
	if !ok {
		return nil, nil
	}
	ttl, err := a.TTL(ctx)
	if err != nil || ttl == 0 {
		return nil, err
	}
	zone, err := time.LoadLocation(q.Info.Schema.Zone)
	if err != nil {
		return nil, fmt.Errorf("the table's zone: %w", err)
	}
	since := now.Add(-ttl)
	if !q.Span.From.Start(zone).Before(since) {
		return nil, nil
	}
	return []string{fmt.Sprintf("the table keeps events for %s: events before %s have expired, or expire soon", keptFor(ttl), since.In(zone).Format("2006-01-02 15:04"))}, nil
}

// keptFor returns a TTL in the form of a job.
func keptFor(ttl time.Duration) string {
	if ttl%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", ttl/(24*time.Hour))
	}
	return ttl.String()
}
