package snapshot

import (
	"context"

	"usertrail/internal/behaviour"
	"usertrail/internal/split"
	"usertrail/internal/table"
)

// Users implements table.Table. Who has rows is known only to the rows.
func (t *Table) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	return table.RowUsers(ctx, t, r, span), nil
}
