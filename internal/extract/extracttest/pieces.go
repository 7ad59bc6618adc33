package extracttest

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"usertrail/internal/extract"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/test/testworld"
)

// PlanPieces plans an extract. The pieces have been encoded as lines and decoded.
func (h *Fixture) PlanPieces(ctx context.Context, q testworld.Query, u Turn, out string) ([]pieces.Piece, error) {
	c, err := h.Config(ctx, q, u, out)
	if err != nil {
		return nil, err
	}
	list, _, err := pieces.Plan(ctx, c, c.Table.Info().Address, pieces.Access{})
	err = errors.Join(err, c.Table.Close())
	for i := range list {
		line, fail := json.Marshal(list[i])
		var p pieces.Piece
		err = errors.Join(err, fail, piece.Decode(line, &p))
		list[i] = p
	}
	return list, err
}

// Worker returns a worker that does pieces of the table of a turn.
func (h *Fixture) Worker(u Turn) pieces.Worker {
	return pieces.Worker{
		FS: h.FS, Workers: u.Workers, Sizes: h.Sizes, Patience: time.Minute,
		Open: func(ctx context.Context, _ *pieces.Piece) (table.Table, func() error, error) {
			t, err := h.Open(ctx, u)
			if err != nil {
				return nil, nil, err
			}
			return t, t.Close, nil
		},
	}
}

// RunPieces does some pieces, one after the other.
func (h *Fixture) RunPieces(ctx context.Context, u Turn, list []pieces.Piece) (pieces.Result, error) {
	var all pieces.Result
	for i := range list {
		r, err := pieces.Run(ctx, h.Worker(u), &list[i])
		if err != nil {
			return all, err
		}
		all.Add(r)
	}
	return all, nil
}

// RunShared has two workers do pieces in any order, some of them again, and commits them.
func (h *Fixture) RunShared(t *testing.T, q testworld.Query, u Turn, out string, dice *rand.Rand) extract.Result {
	t.Helper()
	list, err := h.PlanPieces(t.Context(), q, u, out)
	if err != nil {
		t.Fatalf("plan %+v: %v", q, err)
	}
	var g sync.WaitGroup
	for range 2 {
		var order []pieces.Piece // most of them, some twice
		for _, p := range list {
			for range dice.IntN(3) {
				order = append(order, p)
			}
		}
		dice.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		g.Go(func() {
			if _, err := h.RunPieces(t.Context(), u, order); err != nil {
				t.Errorf("a worker: %v", err)
			}
		})
	}
	g.Wait()
	if _, err := h.RunPieces(t.Context(), u, list); err != nil { // what both have left, and the others again
		t.Errorf("again: %v", err)
	}
	r, err := pieces.Commit(t.Context(), h.FS, list)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return r
}

// ByPieces plans an extract, does all its pieces and commits them. All of it uses fs.
func (h *Fixture) ByPieces(ctx context.Context, fs dfs.FS, q testworld.Query, u Turn, out string) error {
	faulty := *h
	faulty.FS = fs
	list, err := faulty.PlanPieces(ctx, q, u, out)
	if err != nil {
		return err
	}
	if _, err := faulty.RunPieces(ctx, u, list); err != nil {
		return err
	}
	_, err = pieces.Commit(ctx, fs, list)
	return err
}
