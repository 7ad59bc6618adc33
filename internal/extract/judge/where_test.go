package judge_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// A tested table leaves out all rows that it may by a query's Where, as HBase does, or
// none.
type tested struct {
	table.Table
	none  bool
	left  atomic.Int64 // rows
	asked atomic.Int64 // queries with a Where
}

func (f *tested) Info() table.Info {
	info := f.Table.Info()
	info.Narrow, info.Sealed = true, false
	return info
}

// Read emits the cells of a row when all of them have arrived.
func (f *tested) Read(ctx context.Context, q table.Query, emit func(*cell.Cell) error) error {
	if q.Where == nil || q.Exist || f.none {
		return f.Table.Read(ctx, q, emit)
	}
	f.asked.Add(1)
	var row []*cell.Cell
	flush := func() error {
		if len(row) == 0 {
			return nil
		}
		if !passes(row, q.Where) {
			f.left.Add(1)
			row = row[:0]
			return nil
		}
		for _, c := range row {
			if err := emit(c); err != nil {
				return err
			}
		}
		row = row[:0]
		return nil
	}
	err := f.Table.Read(ctx, q, func(c *cell.Cell) error {
		if len(row) > 0 && !bytes.Equal(row[0].Row, c.Row) {
			if err := flush(); err != nil {
				return err
			}
		}
		row = append(row, c.Clone())
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

func passes(row []*cell.Cell, where [][]table.ColumnTest) bool {
	return slices.ContainsFunc(where, func(tests []table.ColumnTest) bool {
		for _, test := range tests {
			has := func(c *cell.Cell) bool {
				in := func(r behaviour.Range) bool { return r.Has(c.Value) }
				return bytes.Equal(c.Qualifier, test.Qualifier) && slices.ContainsFunc(test.In, in)
			}
			if !slices.ContainsFunc(row, has) {
				return false
			}
		}
		return true
	})
}

// TestConditionsWhereTheTableLies queries tables of all layouts: tables that skip the rows they
// may skip, tables that do not, and tables without rolls. Results equal the oracle's. Rows are
// skipped if a row is one record.
func TestConditionsWhereTheTableLies(t *testing.T) {
	rich := []uint64{1, 2} // worlds whose queries let servers skip rows; the queries of a new world may have no condition that a server can evaluate
	for _, seed := range testkit.Seeds(t, rich...) {
		w := testworld.Numbered(seed, 25)
		h := extracttest.Delivered(t, w)
		r := rand.New(rand.NewPCG(seed, 9))
		var queries []testworld.Query
		for _, q := range w.Queries(seed, 30) {
			if w.Narrow(r, &q); q.Conditions.Where.Text != "" {
				queries = append(queries, q)
			}
		}
		extracttest.Laid(t, w, h, func(name string, u extracttest.Turn) {
			l, err := layout.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			left, asked := int64(0), int64(0)
			for i, q := range queries {
				var outcomes []manifest.Amount
				for turn := range 3 {
					u.Unrolled = turn == 2
					opened, err := h.Open(t.Context(), u)
					if err != nil {
						t.Fatal(err)
					}
					in := &tested{Table: opened, none: turn == 1}
					c := h.Query(t, q, in)
					r, took := extracttest.Cost(t, c)
					what := fmt.Sprintf("world %d, layout %s, query %d, turn %d, %+v", seed, name, i, turn, q)
					extracttest.Same(t, what, h.Read(t, r, c.Out), w.Oracle(q))
					if err := opened.Close(); err != nil {
						t.Fatal(err)
					}
					outcomes = append(outcomes, took.Outcome)
					left, asked = left+in.left.Load(), asked+in.asked.Load()
				}
				if outcomes[0] != outcomes[1] {
					t.Errorf("world %d, layout %s, query %d: made from %+v, and where no row is left out from %+v", seed, name, i, outcomes[0], outcomes[1])
				}
			}
			takes, pushed := l.Traits().OneRecord, left > 0 && asked > 0
			if asked > 0 && !takes || takes && !pushed && slices.Contains(rich, seed) {
				t.Errorf("world %d, layout %s: %d queries tested values, %d rows were left out", seed, name, asked, left)
			}
		})
	}
}
