package table

import (
	"context"

	"usertrail/internal/split"
)

// UserRegions returns the regions of t as ranges of user keys. If the rows of a user are in
// many regions, it returns one range for all users.
func UserRegions(ctx context.Context, t Table) ([]split.Region, error) {
	if !t.Info().Layout.Traits().Together {
		return []split.Region{{}}, nil
	}
	return t.Regions(ctx)
}
