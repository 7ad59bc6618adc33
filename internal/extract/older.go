package extract

import (
	"context"
	"fmt"
	"time"

	"usertrail/internal/table"
)

// older says which of the days that are asked for are gone: those that were dropped, or
// that are older than the table keeps.
func (q *question) older(ctx context.Context, t table.Table, now time.Time) ([]string, error) {
	if first := q.info.Dropped; first != nil && q.span.From < *first {
		return []string{fmt.Sprintf("the days before %s were dropped from the table", first)}, nil
	}
	a, ok := table.As[table.Expiring](t)
	if !ok {
		return nil, nil
	}
	ttl, err := a.TTL(ctx)
	if err != nil || ttl == 0 {
		return nil, err
	}
	zone, err := time.LoadLocation(q.info.Schema.Zone)
	if err != nil {
		return nil, fmt.Errorf("the table's zone: %w", err)
	}
	since := now.Add(-ttl)
	if !q.span.From.Start(zone).Before(since) {
		return nil, nil
	}
	return []string{fmt.Sprintf("the table keeps behaviours for %s: what happened before %s is gone, or goes", keptFor(ttl), since.In(zone).Format("2006-01-02 15:04"))}, nil
}

// keptFor is a TTL as a job says it.
func keptFor(ttl time.Duration) string {
	if ttl%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", ttl/(24*time.Hour))
	}
	return ttl.String()
}
