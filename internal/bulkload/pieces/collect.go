package pieces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
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
	for _, out := range plan.LeftOut {
		c.refuse(out)
	}
	reports, voids := make([]*manifest.Report, len(c.pieces)), make([]string, len(c.pieces))
	err = atOnce(ctx, len(c.pieces), func(ctx context.Context, n int) (err error) {
		reports[n], voids[n], err = c.report(ctx, n)
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

// report returns the report of piece n, or nil if there is none. It drops a report that is no longer valid, so
// that the piece is done again. void is the reason.
func (c *commit) report(ctx context.Context, n int) (r *manifest.Report, void string, err error) {
	r, err = c.folder.Report(ctx, n)
	switch {
	case errors.Is(err, manifest.ErrDamaged) && !errors.Is(err, dfs.ErrDirectory):
		void = err.Error()
	case r == nil || err != nil:
		return nil, "", err
	case !fits(&c.pieces[n], r):
		void = "its report is of other files"
	default:
		if void, err = c.void(ctx, &c.pieces[n], r); err != nil || void == "" {
			return r, "", err
		}
	}
	c.with.Log.Warn("a piece has to be done again", "plan", c.first.Plan, "piece", n, "why", void)
	return nil, void, c.folder.DropReport(ctx, n)
}

// fits reports whether the report has the files of the piece.
func fits(of *Piece, r *manifest.Report) bool {
	return slices.EqualFunc(of.Inputs, r.Inputs, func(in Input, o manifest.Outcome) bool {
		return in.Rel == o.Path && in.Number == o.Number && in.Size == o.Size && sameRange(in.Range, o.Range)
	})
}

func sameRange(a, b *manifest.Range) bool { return a == b || a != nil && b != nil && *a == *b }

// void returns the reason why a report is no longer valid, or "" if it is valid.
func (c *commit) void(ctx context.Context, of *Piece, r *manifest.Report) (string, error) {
	first := c.to.Info().Dropped
	for _, f := range r.Files {
		if f.Span.From.Before(first) {
			return fmt.Sprintf("days before %s were dropped", first), nil
		}
	}
	if c.dropUndone(of, r) {
		return "days that it skipped, because they were dropped, are in the table again", nil
	}
	if r.Schema != nil {
		if k, f := target.Misplaced(r.Schema, c.to.Schema); k >= 0 {
			return fmt.Sprintf("field %s of %s has another place in the table, by a load that came meanwhile", r.Schema.Kinds[k].Fields[f].Name, r.Schema.Kinds[k].Name), nil
		}
	}
	if n := c.overtaken(r); n != 0 && c.first.Mode == bulkload.HFile {
		return fmt.Sprintf("load %d added records that the piece may repeat", n), nil
	}
	for i := range r.Files {
		f := &r.Files[i]
		err := c.checkStaged(ctx, f.Roll, -1, f.RollSum)
		if err == nil && f.Name != "" {
			err = c.checkStaged(ctx, f.Name, f.Size, f.Sum)
		}
		if errors.Is(err, dfs.ErrDamaged) {
			return err.Error(), nil
		}
		if err != nil {
			return "", dfs.InPlace(err, commitAgain)
		}
	}
	return c.voidBad(ctx, r)
}

// commitAgain is the next step after the error of a directory in the place of a file of a piece. The next
// commit says that the piece has to be done again.
const commitAgain = "remove it, and commit again"

// voidBad returns the reason why the files of a report's bad records are not as they were written,
// or "".
func (c *commit) voidBad(ctx context.Context, r *manifest.Report) (string, error) {
	for i := range r.Inputs {
		in := &r.Inputs[i]
		if in.BadSum == "" {
			continue
		}
		err := dfs.CheckFile(ctx, c.with.FS, dfs.Join(c.folder.Plans, in.Bad), in.BadSize, in.BadSum)
		if errors.Is(err, dfs.ErrDamaged) {
			return err.Error(), nil
		}
		if err != nil {
			return "", dfs.InPlace(err, commitAgain)
		}
	}
	return "", nil
}

// dropUndone reports whether a piece skipped days of a drop that has been undone: the piece began
// at a later day than it would begin now.
func (c *commit) dropUndone(of *Piece, r *manifest.Report) bool {
	from := behaviour.MinDate
	if first := c.to.Info().Dropped; first != nil {
		from = *first
	}
	for i := range r.Inputs {
		in, asked, begins := &r.Inputs[i], of.Inputs[i].Part, from
		if asked != nil && asked.Span != nil {
			begins = max(begins, asked.Span.From)
		}
		if in.Older > 0 && in.Part != nil && in.Part.Span != nil && in.Part.Span.From > begins {
			return true
		}
	}
	return false
}

// overtaken returns the number of a load that was committed after a piece had searched for repeated
// records, and that added records of the same behaviour and date; 0 if there is none.
func (c *commit) overtaken(r *manifest.Report) int {
	if r.Seen == 0 {
		return 0
	}
	for _, d := range r.Days {
		k, ok := c.to.Schema.Kind(d.Behaviour)
		if !ok || !c.to.Unique[k].Asked() {
			continue
		}
		for _, l := range c.known.Loads() {
			if l.Number >= r.Seen && slices.ContainsFunc(l.Days, func(o manifest.Day) bool { return o.Date == d.Date && o.Behaviour == d.Behaviour }) {
				return l.Number
			}
		}
	}
	return 0
}

// checkStaged reads a file of a piece whole. It returns dfs.ErrDamaged if the size or the xxh64 differs
// from the piece's report. It skips values that the report does not have.
func (c *commit) checkStaged(ctx context.Context, name string, size int64, sum string) error {
	from, ok := table.As[table.StagedReader](c.to.Loader)
	if !ok || name == "" {
		return nil
	}
	f, err := from.Staged(ctx, name)
	if errors.Is(err, iofs.ErrNotExist) {
		return fmt.Errorf("%s: %w: it is gone", name, dfs.ErrDamaged)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := dfs.CheckBytes(ctx, f, size, sum); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
