package pieces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/bulkload"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/piece"
)

// looksAtOnce is the number of files that are looked up at the same time.
const looksAtOnce = 16

// collect returns the reports of all pieces. It checks that all of them can be committed.
func (c *commit) collect(ctx context.Context) ([]*manifest.Report, error) {
	plan, err := c.folder.Plan(ctx)
	if err != nil || c.first.gone() {
		if err == nil || errors.Is(err, iofs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s keeps nothing of plan %s: plan again", ErrStale, c.with.Store.Address(), c.first.Plan)
		}
		return nil, err
	}
	if err := c.current(); err != nil {
		return nil, err
	}
	c.stillOut(cmp.Or(plan.NextLoad, c.to.NextLoad()), plan.LeftOut)
	reports, voids := make([]*manifest.Report, len(c.pieces)), make([]string, len(c.pieces))
	err = atOnce(ctx, len(c.pieces), func(ctx context.Context, n int) (err error) {
		reports[n], voids[n], err = c.report(ctx, n, c.void)
		return err
	})
	if err != nil {
		return nil, err
	}
	var missing []int
	for n, r := range reports {
		if r == nil {
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 {
		return nil, c.undone(missing, voids)
	}
	return reports, nil
}

// current returns an error if another load has loaded one of the plan's files, or if other files
// have the plan's numbers now.
func (c *commit) current() error {
	for i := range c.pieces {
		for n := range c.pieces[i].Inputs {
			in := &c.pieces[i].Inputs[n]
			if err := c.to.SameJob(c.known.Begun(in.Rel)); err != nil {
				return err
			}
			if c.known.Reached(in.Rel) != len(in.Covered)+len(in.Partly) {
				return fmt.Errorf("%w: %s was loaded after it was planned: plan again", ErrStale, in.Rel)
			}
			if path := c.known.PathOf(in.Number); path != "" && path != in.Rel {
				return fmt.Errorf("%w: the number of %s has gone to %s, which was loaded after it was planned: plan again", ErrStale, in.Rel, path)
			}
		}
	}
	return nil
}

// undone returns the error of pieces that are not done. voids has, by piece, the reason why its report is no
// longer valid. The files of these pieces count as failed.
func (c *commit) undone(numbers []int, voids []string) error {
	var why error
	for _, n := range numbers {
		if voids[n] == "" {
			continue
		}
		err := fmt.Errorf("piece %d has to be done again: %s", n, voids[n])
		why = cmp.Or(why, err)
		for i := range c.pieces[n].Inputs {
			path := c.pieces[n].Inputs[i].Path
			if !slices.ContainsFunc(c.failures.Files, func(f bulkload.Failed) bool { return f.Path == path }) {
				c.failures.Add(path, err)
			}
		}
	}
	if why == nil {
		return piece.Missing(c.first.Plan, numbers, len(c.pieces))
	}
	return piece.Undone(c.first.Plan, numbers, len(c.pieces), why)
}

// atOnce calls do for each number below count, several at the same time.
func atOnce(ctx context.Context, count int, do func(context.Context, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(looksAtOnce)
	for n := range count {
		g.Go(func() error { return do(ctx, n) })
	}
	return g.Wait()
}
