package extract_test

import (
	"fmt"
	"testing"

	"usertrail/internal/extract/extracttest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// TestAnswersAreTheOracles loads worlds and asks them many questions: lists and
// all users, spans, behaviours, all, any and min:N.
func TestAnswersAreTheOracles(t *testing.T) {
	for _, seed := range testkit.Seeds(t, 1, 2, 3, 4, 5, 6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := testworld.World(seed, 30)
			h := extracttest.Delivered(t, w)
			r := h.Load(t, extracttest.Plain, w.Span)
			testtable.CheckCounts(t, r, w.Counts(true))
			for i, q := range w.Questions(seed, 12) {
				extracttest.Same(t, fmt.Sprintf("question %d, %+v", i, q), h.Answer(t, q, extracttest.Plain), w.Oracle(q))
			}
		})
	}
}
