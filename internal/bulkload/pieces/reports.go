package pieces

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"sync/atomic"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/target"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// reports are the reports of a plan's pieces. A report that does not fit the table any more is dropped, so that the
// piece is done again.
type reports struct {
	with   bulkload.Resources
	pieces []Piece
	first  *Piece
	folder catalog.Folder
	to     *target.Table
	known  *ledger.Index
}

// done returns the number of pieces that are done. It does not read the files of the pieces.
func (c *reports) done(ctx context.Context) (int, error) {
	reported, err := c.folder.Reported(ctx)
	if err != nil {
		return 0, err
	}
	reported = slices.DeleteFunc(reported, func(n int) bool { return n >= len(c.pieces) })
	var done atomic.Int64
	err = atOnce(ctx, len(reported), func(ctx context.Context, i int) error {
		r, _, err := c.report(ctx, reported[i], c.outdated)
		if r != nil {
			done.Add(1)
		}
		return err
	})
	return int(done.Load()), err
}

// A voidFunc returns the reason why the report of a piece is no longer valid, or "" if it is valid.
type voidFunc func(ctx context.Context, of *Piece, r *manifest.Report) (string, error)

// report returns the report of piece n, or nil if there is none. It drops a report that is no longer valid by
// check. void is the reason.
func (c *reports) report(ctx context.Context, n int, check voidFunc) (r *manifest.Report, void string, err error) {
	r, err = c.folder.Report(ctx, n)
	switch {
	case errors.Is(err, manifest.ErrDamaged) && !errors.Is(err, dfs.ErrDirectory):
		void = err.Error()
	case r == nil || err != nil:
		return nil, "", err
	case !fits(&c.pieces[n], r):
		void = "its report is of other files"
	default:
		if void, err = check(ctx, &c.pieces[n], r); err != nil || void == "" {
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

// outdated is the voidFunc of reports that do not fit the table any more.
func (c *reports) outdated(_ context.Context, of *Piece, r *manifest.Report) (string, error) {
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
	return "", nil
}

// void is the voidFunc of reports that do not fit the table any more, or whose files are not as they were written.
func (c *reports) void(ctx context.Context, of *Piece, r *manifest.Report) (string, error) {
	if why, err := c.outdated(ctx, of, r); why != "" || err != nil {
		return why, err
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
// commit reports that the piece has to be done again.
const commitAgain = "remove it, and commit again"

// voidBad returns the reason why the files of a report's bad records are not as they were written,
// or "".
func (c *reports) voidBad(ctx context.Context, r *manifest.Report) (string, error) {
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
func (c *reports) dropUndone(of *Piece, r *manifest.Report) bool {
	from := behaviour.MinDate
	if first := c.to.Info().Dropped; first != nil {
		from = *first
	}
	for i := range r.Inputs {
		begins := max(from, of.Inputs[i].Part.Dates().From)
		if in := &r.Inputs[i]; in.Older > 0 && in.Part.Dates().From > begins {
			return true
		}
	}
	return false
}

// overtaken returns the number of a load that was committed after a piece had searched for repeated
// records, and that added records of the same behaviour and date; 0 if there is none.
func (c *reports) overtaken(r *manifest.Report) int {
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
func (c *reports) checkStaged(ctx context.Context, name string, size int64, sum string) error {
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
