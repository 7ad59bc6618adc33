package extract

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"strings"

	"usertrail/internal/extract/estimate"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
)

// Commit makes the result of a plan whose pieces are all done, and gives it its name. If Commit is killed
// at any moment, a second call continues. It does not read the table: the result shows the table as it
// was when it was planned, and each piece has checked that the table had not changed.
//
// Its error wraps
//
//	piece.ErrPiece     if the lines are not the lines of one plan
//	ErrStale           if Out has another plan, or none
//	piece.ErrMissing   if pieces have not reported
//	ErrNothing         if the plan is committed already
//	fs.ErrExist        if Out exists and must not be replaced
func Commit(ctx context.Context, fs dfs.FS, pieces []Piece) (Result, error) {
	if err := onePlan(pieces); err != nil {
		return Result{}, err
	}
	first := &pieces[0]
	p := placeOf(fs, first.Out)
	l, err := p.lock(ctx)
	if err != nil {
		return Result{Out: first.Out}, err
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

func (p *place) commit(ctx context.Context, first *Piece) (Result, error) {
	have, err := p.planned(ctx)
	if err != nil {
		return Result{}, err
	}
	ours := have != nil && have.Plan == first.Plan
	if done, err := p.committed(ctx, first.Plan); err != nil {
		return Result{}, err
	} else if done {
		err = p.tidyOf(ctx, first.Plan)
		return Result{}, errors.Join(fmt.Errorf("%w: --out %s is the answer of plan %s", ErrNothing, first.Out, first.Plan), err)
	}
	if !ours {
		return Result{}, fmt.Errorf("%w: --out %s has no plan %s: plan again", ErrStale, first.Out, first.Plan)
	}
	if err := CheckOut(ctx, &Config{FS: p.fs, Out: first.Out, Overwrite: first.Overwrite, Homes: first.homes()}); err != nil {
		return Result{}, err
	}
	reports, err := p.reports(ctx, have)
	if err != nil {
		return Result{}, err
	}
	there, err := p.gathered(ctx)
	if err == nil {
		err = p.check(ctx, have, reports, there)
	}
	skipped := skippedBy(reports)
	if err == nil {
		err = strictly(first.Strict, skipped)
	}
	if err != nil {
		return Result{}, fmt.Errorf("commit --out %s: %w", first.Out, err)
	}
	m, calls, err := p.gather(ctx, have, reports, there)
	if err != nil {
		return Result{}, fmt.Errorf("commit --out %s: %w", first.Out, err)
	}
	lost, err := p.lost(ctx, reports)
	if err != nil {
		return Result{}, fmt.Errorf("commit --out %s: %w", first.Out, err)
	}
	m.NotFound, m.NotFoundFile = lost.Users, lost.file
	s := &staging{fs: p.fs, dir: p.name(answerName), to: p.out}
	if err := s.finish(ctx, m); err != nil {
		return Result{}, err
	}
	if err := s.rename(ctx, first.Overwrite); err != nil {
		return Result{}, err
	}
	r := result(m, first.Out, calls)
	r.skipped(skipped)
	r.Notes = append(lost.notes(m.Users, first.Out), skipped.Notes()...)
	return r, p.tidy(ctx)
}

// skippedBy returns the foreign cells that the pieces read.
func skippedBy(reports []*report) (f layout.Foreign) {
	for _, r := range reports {
		f.Add(r.Counts.Foreign)
	}
	return f
}

// lost collects the names of the users that the pieces did not find.
func (p *place) lost(ctx context.Context, reports []*report) (all missed, err error) {
	for _, r := range reports {
		all.add(&r.Lost)
	}
	if all.Users == 0 {
		return all, nil
	}
	all.file, err = writeIDs(ctx, p.fs, p.name(answerName), func(yield func(id []byte) error) error {
		for n, r := range reports {
			if r.Lost.Users == 0 {
				continue
			}
			if err := p.eachLine(ctx, dfs.Join(p.name(pieceName(n)), NotFoundName), yield); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// eachLine passes the lines of a file to yield.
func (p *place) eachLine(ctx context.Context, name string, yield func(line []byte) error) error {
	f, err := p.fs.Open(ctx, name)
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

// tidy removes the files that are left when OUT has its name: a result that was replaced, the files of the
// pieces, and at last the plan.
func (p *place) tidy(ctx context.Context) error {
	old := beside(p.out, oldEnding)
	err := replaceable(ctx, p.fs, old)
	if err == nil {
		err = removeBut(ctx, p.fs, old, ManifestName)
	} else if errors.Is(err, iofs.ErrExist) {
		err = nil // it is not of an extract
	}
	return errors.Join(err, removeBut(ctx, p.fs, p.dir, questionName))
}

// tidyOf removes the files that a commit left when it was killed at its end. The caller holds the lock.
func (p *place) tidyOf(ctx context.Context, plan string) error {
	have, err := p.planned(ctx)
	if err != nil {
		return err
	}
	if have != nil && have.Plan == plan {
		return p.tidy(ctx)
	}
	_, err = p.fs.Stat(ctx, p.name(questionName))
	if !errors.Is(err, iofs.ErrNotExist) { // somebody asks something else
		return err
	}
	if link, err := isLink(ctx, p.fs, p.dir); err != nil || link {
		return err
	}
	foreign, err := notStaged(ctx, p.fs, p.dir)
	if foreign != "" || errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrNotDir) {
		return nil
	}
	if err != nil {
		return err
	}
	return p.tidy(ctx)
}

// reports returns the reports of all pieces. It returns piece.ErrMissing if some are missing.
func (p *place) reports(ctx context.Context, have *planned) ([]*report, error) {
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
// numbers. It skips parts that are there already. calls is the number of calls of all pieces.
func (p *place) gather(ctx context.Context, have *planned, reports []*report, there map[string]bool) (m *manifest.Extract, calls int64, err error) {
	var counted counts
	var people estimate.People
	var daily bool
	var parts []partRecord
	for n, r := range reports {
		counted.add(&r.Counts)
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
		parts = []partRecord{{Files: have.None}}
		if err := p.move(ctx, noneName, have.None, 0, there); err != nil {
			return nil, 0, err
		}
	}
	have.Facts.settle(people, daily)
	fill(have.Answer, &counted, parts)
	have.Answer.Cost = have.Facts.cost(&counted)
	return have.Answer, calls, nil
}

// gathered returns the files that an earlier commit has moved.
func (p *place) gathered(ctx context.Context) (map[string]bool, error) {
	dir := p.name(answerName)
	if err := p.fs.Mkdir(ctx, dir); err != nil {
		return nil, err
	}
	list, err := p.fs.List(ctx, dir)
	if err != nil {
		return nil, err
	}
	if list, err = deeper(ctx, p.fs, list); err != nil {
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
func (p *place) move(ctx context.Context, from string, files []manifest.TrailPart, number int, there map[string]bool) error {
	for i := range files {
		f := &files[i]
		was := dfs.Join(p.name(from), f.Name)
		f.Name = renumbered(f.Name, number)
		to := dfs.Join(p.name(answerName), f.Name)
		if there[to] {
			continue
		}
		if err := p.fs.Mkdir(ctx, dfs.Dir(to)); err != nil {
			return err
		}
		if err := p.fs.Publish(ctx, was, to); err != nil {
			return err
		}
	}
	return nil
}

// renumbered returns a part's name with another number.
func renumbered(name string, number int) string {
	at := strings.LastIndexByte(name, '/') + 1
	_, format, _ := strings.Cut(name[at:], ".")
	return name[:at] + (&Output{Format: Format(format)}).partName(number)
}
