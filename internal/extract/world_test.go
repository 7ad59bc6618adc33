package extract_test

import (
	"fmt"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// TestResultsAreTheOracles loads worlds and runs many queries: lists and all users, spans,
// behaviours, all, any and min:N.
func TestResultsAreTheOracles(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 1, 2, 3, 4, 5, 6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := testworld.World(seed, 30)
			h := extracttest.Delivered(t, w)
			r := h.Load(t, extracttest.Plain, w.Span)
			testtable.CheckCounts(t, r, w.Counts(true))
			for i, q := range w.Queries(seed, 12) {
				extracttest.Same(t, fmt.Sprintf("query %d, %+v", i, q), h.Result(t, q, extracttest.Plain), w.Oracle(q))
			}
		})
	}
}
