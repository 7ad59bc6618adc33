package pieces

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"usertrail/internal/extract"
	"usertrail/internal/extract/estimate"
	"usertrail/internal/extract/judge"
	"usertrail/internal/extract/memory"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/output"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
)

// Commit makes the result of a plan whose pieces are all done, and renames it to OUT or appends it. If
// Commit is killed at any moment, a second call continues. It does not read the table: the result shows
// the table as it was when it was planned, and each piece has checked that the table had not changed.
//
// Its error wraps
//
//	piece.ErrPiece        if the lines are not the lines of one plan
//	ErrStale              if Out has another plan, or none
//	piece.ErrMissing      if pieces have no result yet
//	ErrNothing            if the plan is committed already
//	manifest.ErrAppended  if the plan appends, and Out has its dates
//	fs.ErrExist           if Out exists and must not be replaced
func Commit(ctx context.Context, fs dfs.FS, pieces []Piece) (extract.Result, error) {
	if err := onePlan(pieces); err != nil {
		return extract.Result{}, err
	}
	first := &pieces[0]
	p := planAt(fs, first.Out)
	l, err := p.Lock(ctx)
	if err != nil {
		return extract.Result{Out: first.Out}, err
	}
	defer l.Drop()
	r, err := p.commit(ctx, first)
	r.Out = first.Out
	return r, err
}

// onePlan returns an error unless pieces are all pieces of one plan for one OUT.
func onePlan(pieces []Piece) error {
	var all []piece.Header
	for _, p := range pieces {
		if p.Out != pieces[0].Out {
			return fmt.Errorf("%w: one is for --out %s, another for --out %s", piece.ErrPiece, pieces[0].Out, p.Out)
		}
		all = append(all, p.Header)
	}
	return piece.Check(all)
}

func (p *plan) commit(ctx context.Context, first *Piece) (extract.Result, error) {
	if first.Append {
		if added, err := p.finishAppend(ctx, first); err != nil {
			return extract.Result{}, err
		} else if added != nil && added.Plan == first.Plan {
			r, err := extract.FinishedAppend(ctx, p.Place, added.Span)
			r.Notes = r.Lost.Notes(r.Users, p.Out)
			return r, err
		}
	}
	have, err := p.committable(ctx, first)
	if err != nil {
		return extract.Result{}, err
	}
	var base *manifest.Extract
	if first.Append {
		if base, err = p.base(ctx, first.Plan, have.Result); err != nil {
			return extract.Result{}, err
		}
	}
	reports, err := p.reports(ctx, have)
	if err != nil {
		return extract.Result{}, err
	}
	there, err := p.gathered(ctx)
	if err == nil {
		err = p.check(ctx, have, reports, there)
	}
	skipped := skippedBy(reports)
	if err == nil {
		err = extract.CheckForeign(first.Strict, skipped)
	}
	if err != nil {
		return extract.Result{}, fmt.Errorf("commit --out %s: %w", first.Out, err)
	}
	m, calls, err := p.gather(ctx, have, reports, there)
	if err != nil {
		return extract.Result{}, fmt.Errorf("commit --out %s: %w", first.Out, err)
	}
	lost, err := p.lost(ctx, reports)
	if err != nil {
		return extract.Result{}, fmt.Errorf("commit --out %s: %w", first.Out, err)
	}
	m.NotFound, m.NotFoundFile = lost.Users, lost.File
	if err := p.publish(ctx, base, m, first.Overwrite); err != nil {
		return extract.Result{}, err
	}
	r := extract.ResultOf(m, first.Out, calls)
	r.Skip(skipped)
	r.Notes = append(lost.Notes(m.Users, first.Out), skipped.Notes()...)
	return r, p.Tidy(ctx)
}

// finishAppend finishes an append that was killed, and returns the extract that it added to OUT. It returns nil if no
// append was killed. It fails if the place or OUT has files that are not of the result.
func (p *plan) finishAppend(ctx context.Context, first *Piece) (*manifest.Appended, error) {
	if begun, err := p.Appends(ctx); err != nil || !begun {
		return nil, err
	}
	if err := first.target(p.FS).Check(ctx); err != nil {
		return nil, err
	}
	added, err := p.FinishAppend(ctx)
	if err != nil {
		return nil, fmt.Errorf("commit --out %s: %w", first.Out, err)
	}
	return added, first.target(p.FS).Check(ctx)
}

// committable returns the plan of first. It fails if the result of the plan is in OUT, if OUT has another
// plan, or if OUT may not be written.
func (p *plan) committable(ctx context.Context, first *Piece) (*planned, error) {
	have, err := p.planned(ctx)
	if err != nil {
		return nil, err
	}
	ours := have != nil && have.Plan == first.Plan
	if done, err := p.Committed(ctx, first.Plan, first.Append); err != nil {
		return nil, err
	} else if done {
		err = p.tidyOf(ctx, first.Plan)
		return nil, errors.Join(fmt.Errorf("%w: --out %s has the result of plan %s", ErrNothing, first.Out, first.Plan), err)
	}
	if !ours {
		return nil, fmt.Errorf("%w: --out %s has no plan %s: plan again", ErrStale, first.Out, first.Plan)
	}
	return have, first.target(p.FS).Check(ctx)
}

// target returns the OUT of a piece.
func (p *Piece) target(fs dfs.FS) *place.Target {
	return &place.Target{FS: fs, Out: p.Out, Overwrite: p.Overwrite, Append: p.Append, Homes: p.homes()}
}

// base returns the result in OUT to which the extract next of a plan is appended. It returns nil if
// there is none. If OUT has the dates, base removes the files of the plan, which cannot be committed.
// The caller holds the lock.
func (p *plan) base(ctx context.Context, plan string, next *manifest.Extract) (*manifest.Extract, error) {
	base, err := p.Base(ctx, next)
	if errors.Is(err, manifest.ErrAppended) {
		err = errors.Join(err, p.tidyOf(ctx, plan))
	}
	return base, err
}

// publish renames the directory of the collected files to OUT, or appends the files to base.
func (p *plan) publish(ctx context.Context, base, m *manifest.Extract, overwrite bool) error {
	s := p.Staging(place.ResultName)
	if base != nil {
		return s.Append(ctx, base, m)
	}
	if err := s.Finish(ctx, m); err != nil {
		return err
	}
	return s.Rename(ctx, overwrite)
}

// skippedBy returns the foreign cells that the pieces read.
func skippedBy(reports []*report) (f layout.Foreign) {
	for _, r := range reports {
		f.Add(r.Counts.Foreign)
	}
	return f
}

// lost collects the names of the users that the pieces did not find.
func (p *plan) lost(ctx context.Context, reports []*report) (all notfound.Count, err error) {
	for _, r := range reports {
		all.Add(&r.Lost)
	}
	if all.Users == 0 {
		return all, nil
	}
	all.File, err = p.Staging(place.ResultName).NotFound(memory.Sizes{}.Full().SortBytes).Write(ctx, func(yield func(id []byte) error) error {
		for n, r := range reports {
			if r.Lost.Users == 0 {
				continue
			}
			if err := p.eachLine(ctx, dfs.Join(p.Name(pieceName(n)), notfound.FileName), yield); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// eachLine passes the lines of a file to yield.
func (p *plan) eachLine(ctx context.Context, name string, yield func(line []byte) error) error {
	f, err := dfs.OpenRegular(ctx, p.FS, name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Split(lines)
	for in.Scan() {
		if err := yield(in.Bytes()); err != nil {
			return err
		}
	}
	return in.Err()
}

// lines is a bufio.SplitFunc for lines that end with a line feed only.
func lines(b []byte, end bool) (int, []byte, error) {
	if n := bytes.IndexByte(b, '\n'); n >= 0 {
		return n + 1, b[:n], nil
	}
	if end && len(b) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}

// tidyOf removes the files that a commit left when it was killed at its end. The caller holds the lock.
func (p *plan) tidyOf(ctx context.Context, name string) error {
	have, err := p.planned(ctx)
	if err != nil {
		return err
	}
	ours := have != nil && have.Plan == name
	if !ours {
		if ours, err = p.Abandoned(ctx); err != nil {
			return err
		}
	}
	if !ours {
		return nil
	}
	return p.Tidy(ctx)
}

// reports returns the reports of all pieces. It returns piece.ErrMissing if some are missing.
func (p *plan) reports(ctx context.Context, have *planned) ([]*report, error) {
	all := make([]*report, have.Of)
	var missing []int
	for n := range all {
		r, err := p.report(ctx, have.Plan, n)
		if err != nil {
			return nil, err
		}
		if all[n] = r; r == nil {
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 {
		return nil, piece.Missing(have.Plan, missing, have.Of)
	}
	return all, nil
}

// gather adds up the reports of the pieces, and moves their parts to one directory with consecutive
// numbers. It skips parts that were moved before. calls is the number of calls of all pieces.
func (p *plan) gather(ctx context.Context, have *planned, reports []*report, there map[string]bool) (m *manifest.Extract, calls int64, err error) {
	var counted judge.Counts
	var people estimate.People
	var daily bool
	var parts []output.Record
	for n, r := range reports {
		counted.Add(&r.Counts)
		people.Add(r.People)
		daily = daily || r.Daily
		calls += r.Calls
		for _, part := range r.Parts {
			part.Number = len(parts)
			if err := p.move(ctx, pieceName(n), part.Files, len(parts), there); err != nil {
				return nil, 0, err
			}
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		parts = []output.Record{{Files: have.None}}
		if err := p.move(ctx, place.NoneName, have.None, 0, there); err != nil {
			return nil, 0, err
		}
	}
	have.Facts.Settle(people, daily)
	output.Fill(have.Result, &counted, parts)
	have.Result.Cost = have.Facts.Cost(&counted)
	return have.Result, calls, nil
}

// gathered returns the files that an earlier commit has moved. It removes files that a killed commit had
// not finished.
func (p *plan) gathered(ctx context.Context) (map[string]bool, error) {
	dir := p.Name(place.ResultName)
	if err := p.FS.Mkdir(ctx, dir); errors.Is(err, dfs.ErrNotDir) || errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%w: move it away, and commit again", err)
	} else if err != nil {
		return nil, err
	}
	if err := p.FS.Sweep(ctx, dir); err != nil {
		return nil, err
	}
	list, err := p.FS.List(ctx, dir)
	if err != nil {
		return nil, err
	}
	if list, err = place.Deeper(ctx, p.FS, list); err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, f := range list {
		there[f.Name] = true
	}
	return there, nil
}

// move moves the files of a part from a directory of the place to the result, and renumbers them. It skips
// files that are there already.
func (p *plan) move(ctx context.Context, from string, files []manifest.TrailPart, number int, there map[string]bool) error {
	for i := range files {
		f := &files[i]
		was := dfs.Join(p.Name(from), f.Name)
		f.Name = renumbered(f.Name, number)
		to := dfs.Join(p.Name(place.ResultName), f.Name)
		if there[to] {
			continue
		}
		if err := p.FS.Mkdir(ctx, dfs.Dir(to)); err != nil {
			return err
		}
		if err := p.FS.Publish(ctx, was, to); err != nil {
			return err
		}
	}
	return nil
}

// renumbered returns the name of a file of a part with another number.
func renumbered(name string, number int) string {
	at := strings.LastIndexByte(name, '/') + 1
	_, format, _ := strings.Cut(name[at:], ".")
	return name[:at] + (&query.Output{Format: query.Format(format)}).PartName(number)
}
