package pieces

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/extract/place"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
)

// checksAtOnce is the number of files of pieces that a commit reads at once.
const checksAtOnce = 8

// A written is a file of a piece, with the size and the digest that the piece reported.
type written struct {
	piece int
	name  string
	size  int64
	sum   string
}

// check reads all files of pieces. It fails with piece.ErrMissing if a file is not as it was written,
// and removes the report of its piece, so that the piece is done again. It does not remove a directory
// in the place of a file. there has the files that an
// earlier commit moved.
func (p *plan) check(ctx context.Context, have *planned, reports []*report, there map[string]bool) error {
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
			err := dfs.CheckFile(gctx, p.FS, f.name, f.size, f.sum)
			noFolder := errors.Is(err, dfs.ErrNotDir)
			if noFolder {
				err = fmt.Errorf("%s: %w: it is gone", f.name, dfs.ErrDamaged)
			}
			err = dfs.InPlace(err, "move it away first")
			if !errors.Is(err, dfs.ErrDamaged) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			damaged, why = append(damaged, f.piece), append(why, err)
			if noFolder || errors.Is(err, dfs.ErrDirectory) {
				return nil // there is nothing to remove, or a directory that may hold files of others
			}
			err = p.FS.Remove(gctx, f.name)
			if errors.Is(err, syscall.ELOOP) {
				err = nil // the piece finds the link in the place of its directory
			}
			return err
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
		if err := p.FS.Remove(ctx, p.Name(reportName(n))); err != nil {
			return err
		}
	}
	return piece.Undone(have.Plan, damaged, have.Of, why[0])
}

// writtenBy returns the files of pieces with their current paths, and the number of parts.
func (p *plan) writtenBy(reports []*report, there map[string]bool) (all []written, parts int) {
	for n, r := range reports {
		dir := p.Name(pieceName(n))
		for _, part := range r.Parts {
			for _, f := range part.Files {
				all = append(all, written{n, p.pathOf(dir, &f, parts, there), f.Size, f.Sum})
			}
			parts++
		}
		if f := r.LostFile; f != nil {
			all = append(all, written{n, dfs.Join(dir, f.Name), f.Size, f.Sum})
		}
	}
	return all, parts
}

// pathOf returns the current path of a file of a part: in dir, or in the result as a file of the part
// with the number.
func (p *plan) pathOf(dir string, f *manifest.TrailPart, number int, there map[string]bool) string {
	if to := dfs.Join(p.Name(place.ResultName), renumbered(f.Name, number)); there[to] {
		return to
	}
	return dfs.Join(dir, f.Name)
}

// checkNone checks the part of a result without users, which no piece has written.
func (p *plan) checkNone(ctx context.Context, have *planned, there map[string]bool) error {
	for _, f := range have.None {
		if err := dfs.CheckFile(ctx, p.FS, p.pathOf(p.Name(place.NoneName), &f, 0, there), f.Size, f.Sum); err != nil {
			return fmt.Errorf("%w: remove %s and plan again", err, p.Dir)
		}
	}
	return nil
}
