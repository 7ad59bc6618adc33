package extract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/format/manifest"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
)

// checksAtOnce is how many files of pieces a commit reads at once.
const checksAtOnce = 8

// A written file is one of a piece, with its size and digest as the piece reported them.
type written struct {
	piece int
	name  string
	size  int64
	sum   string
}

// check reads all files of pieces, and fails with piece.ErrMissing if some are not as they
// were written: the reports of their pieces are dropped, so that they are done again. there
// are the files that a commit has brought together before.
func (p *place) check(ctx context.Context, have *planned, reports []*report, there map[string]bool) error {
	all, parts := p.writtenBy(reports, there)
	if parts == 0 {
		if err := p.checkNone(ctx, have, there); err != nil {
			return err
		}
	}
	var mu sync.Mutex
	var damaged []int // pieces
	var why []error   // of the files
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(checksAtOnce)
	for _, f := range all {
		g.Go(func() error {
			err := dfs.CheckFile(gctx, p.fs, f.name, f.size, f.sum)
			if !errors.Is(err, dfs.ErrDamaged) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			damaged, why = append(damaged, f.piece), append(why, err)
			return p.fs.Remove(gctx, f.name)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if len(damaged) == 0 {
		return nil
	}
	slices.Sort(damaged)
	damaged = slices.Compact(damaged)
	for _, n := range damaged {
		if err := p.fs.Remove(ctx, p.name(reportName(n))); err != nil {
			return err
		}
	}
	return piece.Undone(have.Plan, damaged, have.Of, why[0])
}

// writtenBy are the files of pieces, where they lie, and how many parts they are.
func (p *place) writtenBy(reports []*report, there map[string]bool) (all []written, parts int) {
	for n, r := range reports {
		dir := p.name(pieceName(n))
		for _, part := range r.Parts {
			for _, f := range part.Files {
				all = append(all, written{n, p.lies(dir, &f, parts, there), f.Size, f.Sum})
			}
			parts++
		}
		if f := r.LostFile; f != nil {
			all = append(all, written{n, dfs.Join(dir, f.Name), f.Size, f.Sum})
		}
	}
	return all, parts
}

// lies is where a file of a part lies: in dir, or as a file of the answer's part with a number.
func (p *place) lies(dir string, f *manifest.TrailPart, number int, there map[string]bool) string {
	if to := dfs.Join(p.name(answerName), renumbered(f.Name, number)); there[to] {
		return to
	}
	return dfs.Join(dir, f.Name)
}

// checkNone is check of the part of an answer of nobody, which no piece has written.
func (p *place) checkNone(ctx context.Context, have *planned, there map[string]bool) error {
	for _, f := range have.None {
		if err := dfs.CheckFile(ctx, p.fs, p.lies(p.name(noneName), &f, 0, there), f.Size, f.Sum); err != nil {
			return fmt.Errorf("%w: remove %s and plan again", err, p.dir)
		}
	}
	return nil
}
