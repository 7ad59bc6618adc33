package extract_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/extract"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/table"
	"usertrail/internal/table/fetch"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// TestForeignCellsAreSkippedAndCounted by each plan alike; a strict extract fails.
func TestForeignCellsAreSkippedAndCounted(t *testing.T) {
	day := behaviour.DateOf(2014, 9, 1)
	h := extracttest.New(t, `logs: logs/{date}/{behaviour}.csv
table: trails
behaviours:
  play: {id: 1, fields: {title: string}}
`)
	h.Deliver(t, testworld.File{Name: day.String() + "/play.csv", Text: []byte("user_id,time,title\nu1,2014-09-01 10:00:00,a\nu1,2014-09-01 10:00:01,b\nu2,2014-09-01 10:00:00,c\n")})
	q := testworld.Query{Span: behaviour.Span{From: day, To: day}, Kinds: []string{"play"}}
	h.Load(t, extracttest.Turn{Name: "trails", Workers: 1, Memory: 64 << 20, Regions: 1}, q.Span)
	for _, plan := range []fetch.Plan{fetch.Get, fetch.Scan, fetch.Auto} {
		for _, strict := range []bool{false, true} {
			c := h.Query(t, q, extracttest.Others{Table: h.Opened(t, "trails")})
			c.Out, c.Plan, c.Strict = filepath.Join(testkit.Scratch(t), "out"), plan, strict
			r, err := extract.Run(t.Context(), c)
			if strict {
				if !errors.Is(err, extract.ErrForeign) || !strings.Contains(err.Error(), "title2") {
					t.Errorf("plan %q, strict: %+v, %v; want ErrForeign, and the cell", plan, r, err)
				}
				continue
			}
			if err != nil || r.Kept != 2 || r.Events != 3 || r.Foreign != 6 {
				t.Errorf("plan %q: %+v, %v; want 2 users with 3 events, and 6 foreign cells", plan, r, err)
			}
		}
	}
}

// firstForeign is a table whose rows begin with a column of another program, between rows of
// that program. A scan that requests only which rows exist sees only that column.
type firstForeign struct{ table.Table }

func (f firstForeign) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	if !q.Exist {
		return extracttest.Others(f).Read(ctx, q, emit)
	}
	return f.Table.Read(ctx, q, func(c *cell.Cell) error {
		column, row := c.Clone(), c.Clone()
		column.Qualifier, column.Time = []byte("a"), column.Time+1e9
		row.Row = append(row.Row, "-x"...)
		return errors.Join(emit(column), emit(row))
	})
}

// TestForeignRowsHideNoUser finds out from the rows which users exist, and who did what.
func TestForeignRowsHideNoUser(t *testing.T) {
	day := behaviour.DateOf(2014, 9, 1)
	for _, layout := range []string{"reversed", "game", "fixed/4"} {
		h := extracttest.New(t, `logs: logs/{date}/{behaviour}.csv
table: trails
layout: `+layout+`
behaviours:
  play: {id: 1, fields: {title: string}}
  order: {id: 2, fields: {price: int64}}
`)
		h.Deliver(t, testworld.File{Name: day.String() + "/play.csv", Text: []byte("user_id,time,title\n1,2014-09-01 10:00:00,a\n1,2014-09-01 10:00:01,b\n2,2014-09-01 10:00:00,c\n")})
		h.Deliver(t, testworld.File{Name: day.String() + "/order.csv", Text: []byte("user_id,time,price\n1,2014-09-01 10:00:00,5\n")})
		q := testworld.Query{Span: behaviour.Span{From: day, To: day}, Kinds: []string{"play", "order"}}
		h.Load(t, extracttest.Turn{Name: "trails", Workers: 1, Memory: 64 << 20, Regions: 1}, q.Span)
		for _, listed := range []bool{false, true} {
			c := h.Query(t, q, table.Unrolled(firstForeign{h.Opened(t, "trails")}))
			c.Out = filepath.Join(testkit.Scratch(t), "out")
			if listed {
				u, err := userlist.Read(strings.NewReader("1\n2\n"), "list", c.Table.Info().Layout, 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				c.Users = u
			}
			if r, err := extract.Run(t.Context(), c); err != nil || r.Found != 2 || r.Kept != 1 || r.Events != 3 {
				t.Errorf("layout %s, a list of users %t: %+v, %v; want 2 users, 1 active", layout, listed, r, err)
			}
		}
	}
}
