package pieces_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"usertrail/internal/extract"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/table"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// TestPiecesCountForeignCells as one process does.
func TestPiecesCountForeignCells(t *testing.T) {
	w, h := extracttest.Tiny(t)
	h.Load(t, extracttest.Turn{Name: "trails", Workers: 1, Memory: 64 << 20, Regions: 2}, w.Span)
	q := testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"}
	u := extracttest.Turn{Name: "trails", Workers: 1, PieceSize: 5}
	for _, strict := range []bool{false, true} {
		out := filepath.Join(testkit.Scratch(t), "out")
		list, err := h.PlanPieces(t.Context(), q, u, out)
		if err != nil || len(list) < 2 {
			t.Fatalf("%d pieces, %v", len(list), err)
		}
		worker := h.Worker(u)
		open := worker.Open
		worker.Open = func(ctx context.Context, p *pieces.Piece) (table.Table, func() error, error) {
			tab, end, err := open(ctx, p)
			return extracttest.Others{Table: tab}, end, err
		}
		var all pieces.Result
		for i := range list {
			list[i].Strict = strict
			r, err := pieces.Run(t.Context(), worker, &list[i])
			if strict && r.Events > 0 || err != nil && !errors.Is(err, extract.ErrForeign) || err != nil && !strict {
				t.Fatalf("strict %t: %+v, %v", strict, r, err)
			}
			all.Add(r)
		}
		if strict {
			continue
		}
		r, err := pieces.Commit(t.Context(), h.FS, list)
		if err != nil || r.Foreign == 0 || r.Foreign != all.Foreign || len(r.Notes) == 0 {
			t.Errorf("%+v, %v; want %d foreign cells and a note", r, err, all.Foreign)
		}
	}
}
