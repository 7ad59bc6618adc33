package snapshot

import (
	"context"

	"usertrail/internal/behaviour"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// Users implements table.Table. Only the rows show which users have rows.
func (t *Table) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	return table.RowUsers(ctx, t, r, span), nil
}
