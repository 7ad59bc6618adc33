package upkeep_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// TestUpkeepChangesNoResult loads worlds in random nights into two tables. It compacts one of
// them and drops days from it at random moments. For the remaining days, extracts from both
// tables must have the same results, byte for byte.
func TestUpkeepChangesNoResult(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 1, 2, 3, 4, 5, 6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 1))
			h := newFixture(t, testworld.World(seed, 8))
			from := behaviour.MinDate
			drops := dice.IntN(2) == 0
			compacted := 0
			h.nights(t, dice, 4+dice.IntN(12), []string{"kept", "control"}, func(night int) {
				cfg := h.upkeep("kept")
				cfg.All = true
				cfg.FileSize = []int64{0, 1, 6000, 12000}[dice.IntN(4)]
				cfg.Memory = []int64{1, 8 << 20}[dice.IntN(2)] // with 1 byte, two files are merged at once
				if dice.IntN(2) == 0 {
					cfg.KeepFor = 0
				}
				if dice.IntN(3) > 0 {
					done, err := upkeep.Compact(t.Context(), cfg)
					if err != nil && !errors.Is(err, upkeep.ErrNothing) {
						t.Fatalf("night %d: %v", night, err)
					}
					compacted += done.Merged
				}
				if drops && dice.IntN(3) == 0 {
					at := h.w.Span.From + behaviour.Date(dice.IntN(h.w.Span.Days()))
					_, err := upkeep.Drop(t.Context(), cfg, at)
					if err != nil && !errors.Is(err, upkeep.ErrNothing) {
						t.Fatalf("night %d: %v", night, err)
					}
					from = max(from, at)
				}
				h.Verified(t, fmt.Sprint("after night ", night), "kept")
			})
			if _, err := upkeep.Compact(t.Context(), h.upkeep("kept")); err != nil && !errors.Is(err, upkeep.ErrNothing) {
				t.Fatal(err)
			}
			h.Verified(t, "in the end", "kept")
			h.sameRolls(t, "in the end", "kept", "control", from)
			h.sameResults(t, "in the end", "kept", "control", from)
			t.Logf("%d files were merged; left are the days from %s on", compacted, from)
		})
	}
}
