package files

import (
	"context"

	"usertrail/internal/behaviour"
	"usertrail/internal/split"
	"usertrail/internal/table"
	"usertrail/internal/table/rolls"
)

// Users implements table.Table. The rolls name exactly the users that have rows.
func (t *Table) Users(ctx context.Context, r split.Region, span behaviour.Span) (table.Users, error) {
	m := t.Manifest()
	users, err := t.rolls.Users(ctx, rolls.Query{Layout: t.Layout(), Schema: m.Schema, Region: r, Span: span, Files: m.Files})
	return users, gone(err)
}
