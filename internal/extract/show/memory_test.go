package show_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/extract/show"
	"usertrail/internal/table"
)

// heavy is a table that records the largest number of value bytes of a read.
type heavy struct {
	table.Loader
	most int
}

func (h *heavy) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	n := 0
	return h.Loader.Read(ctx, q, func(c *cell.Cell) error {
		n += len(c.Value)
		h.most = max(h.most, n)
		return emit(c)
	})
}

// TestLargeValuesAreReadInSmallSteps shows a user with days of large values. Days must be
// read together only while they are small.
func TestLargeValuesAreReadInSmallSteps(t *testing.T) {
	const days, each, size = 10, 20, 400 << 10 // 8 MiB per day
	const limit = 32 << 20
	first := behaviour.DateOf(2014, 1, 1)
	h := newFixture(t, fmt.Sprintf(sortedJob, "UTC", "reversed"))
	for i := range behaviour.Date(days) {
		text := "user_id,time,programme,seconds\n"
		for k := range int64(each) {
			text += fmt.Sprintf("u,%d,%s,%d\n", int64(first+i)*day+k*hour/4, strings.Repeat("largetxt", size/8), k)
		}
		h.deliver(t, (first+i).String()+"/play.csv", []byte(text))
	}
	at := &heavy{Loader: h.load(t, behaviour.Span{From: first, To: first + days - 1})}
	for _, c := range []show.Config{{}, {Latest: days*each - 1}} {
		at.most, c.Table, c.User = 0, at, "u"
		var g gatherer
		if _, _, err := show.Page(t.Context(), c, &g); err != nil || len(g.rows) < days*each-1 {
			t.Fatalf("latest %d: %d events, %v", c.Latest, len(g.rows), err)
		}
		if at.most > limit+2*size {
			t.Errorf("latest %d: one read gave %d bytes, want at most %d and one value", c.Latest, at.most, limit)
		}
	}
}
