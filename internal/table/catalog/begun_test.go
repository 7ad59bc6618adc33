package catalog_test

import (
	"errors"
	"fmt"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// TestPiecesOfTwoJobs begins the pieces of two plans. Their jobs may differ in the type of a field, or in the layout.
func TestPiecesOfTwoJobs(t *testing.T) {
	type job struct {
		of     behaviour.Type
		layout string
	}
	for second, want := range map[job]error{
		{behaviour.Int64, "tall"}: nil, {behaviour.Int64, ""}: nil, {behaviour.String, "tall"}: table.ErrUnfit, {behaviour.Int64, "wide"}: table.ErrUnfit,
	} {
		dir := t.TempDir()
		c := newCatalog(t, dir)
		for plan, j := range []job{{behaviour.Int64, "tall"}, second} {
			b := &manifest.Begun{
				Layout:  j.layout,
				Version: manifest.Version, Inputs: []manifest.Input{{Path: fmt.Sprintf("%d.csv", plan), Number: uint32(plan)}},
				Schema: &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "seconds", Type: j.of}}}}},
			}
			if err := c.LeavePiece(t.Context(), fmt.Sprintf("%020d", plan), 0, b); err != nil {
				t.Fatal(err)
			}
		}
		if left, err := catalog.Left(t.Context(), local.New(), dir); !errors.Is(err, want) || err == nil && len(left.Inputs) != 2 {
			t.Errorf("%+v: %+v, %v; want %v", second, left, err, want)
		}
	}
}
