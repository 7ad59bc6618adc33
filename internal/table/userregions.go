package table

import (
	"context"

	"usertrail/internal/split"
)

// UserRegions are t's regions as they part users by their keys: one where a user's rows
// lie apart, in many regions.
func UserRegions(ctx context.Context, t Table) ([]split.Region, error) {
	if !t.Info().Layout.Traits().Together {
		return []split.Region{{}}, nil
	}
	return t.Regions(ctx)
}
