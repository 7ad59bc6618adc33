package pieces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// Commit adds the files of all pieces of a plan to the table in one step, as one load. If Commit was
// killed, a second call continues. It returns ErrNothing if the plan is committed already.
func Commit(ctx context.Context, with bulkload.Resources, all []Piece) (bulkload.Result, error) {
	all, err := inOrder(all)
	if err != nil {
		return bulkload.Result{}, err
	}
	with = with.WithDefaults()
	first := &all[0]
	c := &commit{reports: reports{with: with, pieces: all, first: first, folder: first.folder(with.FS, with.Store)}}
	if !first.gone() {
		if c.job, err = first.ParseJob(); err != nil {
			return bulkload.Result{}, err
		}
		c.result.Values = bulkload.NewNoValues(c.job)
	}
	err = c.run(ctx)
	if c.result.Values != nil {
		c.result.SetNoValue(with.Log)
	}
	c.result.Failed = c.failures.Files
	return c.result, err
}

// A commit is one call of Commit.
type commit struct {
	reports
	job      *job.Job // nil if the plan is gone
	result   bulkload.Result
	failures bulkload.Failures
	leftOut  []manifest.LeftOut
}

func (c *commit) run(ctx context.Context) (err error) {
	lock, err := c.with.Store.Lock(ctx)
	if err != nil {
		return err
	}
	defer bulkload.Unlock(lock, &err)
	if c.to, err = openTable(ctx, c.with.Store, c.first, c.job); err != nil {
		return err
	}
	defer c.to.Close()
	finished, err := c.to.Recover(ctx)
	if err != nil {
		return err
	}
	if c.job != nil {
		if err := c.to.Fit(c.job); err != nil {
			return err
		}
	}
	if c.known, err = c.to.Learn(ctx, &c.with); err != nil {
		return err
	}
	if n := c.known.LoadOf(c.first.Plan); n != 0 {
		return errors.Join(c.committed(ctx, n, finished), c.to.EndPlans(ctx, c.known))
	}
	reports, err := c.collect(ctx)
	if err != nil {
		return err
	}
	judged, err := c.judge(ctx, reports)
	if err != nil {
		return err
	}
	if err := c.publish(ctx, judged); err != nil {
		return err
	}
	if err := c.failures.Err(nil); err != nil {
		return err
	}
	c.result.WarnOutside(c.first.Span, c.with.Log)
	return c.to.AllOlder(ctx, &c.result, c.first.Span)
}

// committed returns the result of a commit of a plan that is load n already. If this call has just
// finished the killed load, it succeeds. If files were left out, every commit of the plan fails until
// they are loaded. If all records are of dropped days, every commit fails, too.
func (c *commit) committed(ctx context.Context, n int, finished []*manifest.Load) error {
	var older error
	for _, of := range c.known.Loads() {
		if of.Number == n {
			c.stillOut(n+1, of.LeftOut)
			older = c.to.AllOlderIn(ctx, of, c.first.Span)
		}
	}
	just := slices.IndexFunc(finished, func(of *manifest.Load) bool { return of.Number == n })
	if just >= 0 {
		c.result.AddLoad(finished[just])
		c.result.Finished++
		c.result.Mode = c.first.Mode
	}
	switch err := c.failures.Err(nil); {
	case err != nil:
		return err
	case older != nil || just >= 0:
		return older
	}
	return fmt.Errorf("%w: plan %s is committed: it is load %d of %s", bulkload.ErrNothing, c.first.Plan, n, c.with.Store.Address())
}

// stillOut records those of the files that were left out which no load from load first on has loaded. A file
// of the same name in an earlier load is another file. A folder is loaded if a file in it is.
func (c *commit) stillOut(first int, all []manifest.LeftOut) {
	since := map[string][]*manifest.Part{}
	for _, l := range c.known.Loads() {
		for i := range l.Inputs {
			if in := &l.Inputs[i]; l.Number >= first && in.Offsets == nil {
				since[in.Path] = append(since[in.Path], in.Part)
			}
		}
	}
	paths := slices.Sorted(maps.Keys(since))
	for _, out := range all {
		folder := out.Path + "/"
		i, _ := slices.BinarySearch(paths, folder)
		inside := i < len(paths) && strings.HasPrefix(paths[i], folder)
		if !inside && !manifest.Covered(since[out.Path], out.Part) {
			c.refuse(out)
		}
	}
}

// refuse records a file that is not loaded.
func (c *commit) refuse(out manifest.LeftOut) {
	c.leftOut = append(c.leftOut, out)
	why := &reportedError{text: out.Error}
	switch {
	case out.TooBad:
		why.kind = bulkload.ErrTooBad
	case out.Growing:
		why.kind = bulkload.ErrGrowing
	case out.Refused:
		why.kind = bulkload.ErrRequest
	}
	c.failures.Add(cmp.Or(out.File, out.Path), why)
}

// A reportedError is the reason why the plan or a worker left out a file.
type reportedError struct {
	text string
	kind error // ErrTooBad, ErrGrowing, ErrRequest or nil
}

func (e *reportedError) Error() string { return e.text }

func (e *reportedError) Unwrap() error { return e.kind }
