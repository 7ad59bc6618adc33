package upkeep

import (
	"context"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize/english"
	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/outcome"
	"usertrail/internal/run/progress"
)

// A Compacted counts the files that Compact merged and wrote, or would merge and write.
type Compacted struct {
	Before  int         `json:"files_before"` // HFiles of the table
	After   int         `json:"files_after"`
	Merged  int         `json:"merged"`  // HFiles that were replaced, including HFiles of earlier passes
	Made    int         `json:"made"`    // HFiles that were written
	Records int64       `json:"records"` // behaviours in them
	Cells   int64       `json:"cells"`
	Read    int64       `json:"bytes_read"` // of HFiles
	Written int64       `json:"bytes_written"`
	Months  []MonthDone `json:"months"`

	Kept   int   `json:"-"` // of Before, HFiles that were not merged
	Merges int64 `json:"-"` // records in the files that the merged HFiles became
}

// Counted implements outcome.Result.
func (c Compacted) Counted() outcome.Counts {
	return outcome.Counts{outcome.Records: float64(c.Records), outcome.Cells: float64(c.Cells)}
}

// A MonthDone counts the files of one month in one pass.
type MonthDone struct {
	Month  string `json:"month"`
	Merged int    `json:"merged"`
	Made   int    `json:"made"`
	Bytes  int64  `json:"bytes"` // of the merged
}

// Compact merges the files of daily loads. It commits each month when the files of the month
// are merged. If Compact fails, the result counts the months that are committed.
func Compact(ctx context.Context, cfg Config) (Compacted, error) {
	r := newRun(cfg)
	var out Compacted
	err := r.locked(ctx, func() error {
		m := r.table.Manifest()
		out.Before, out.After = len(m.Files), len(m.Files)
		if err := whole(m); err != nil {
			return err
		}
		all := r.simulate(m)
		if len(all.Months) == 0 {
			return r.nothingToMerge(m)
		}
		if err := r.room(ctx, all.Read, "drop days that nobody asks for"); err != nil {
			return err
		}
		r.progress.Step("compacting", progress.Bytes, all.Read)
		err := r.compact(ctx, &out)
		out.compare(m, r.table.Manifest())
		return err
	})
	return out, err
}

// nothingToMerge returns the error if no file of a manifest is merged. It has the reasons.
func (r *run) nothingToMerge(m *manifest.Table) error {
	err := fmt.Errorf("%w: %s has %s, and compact merges none of them", ErrNothing, r.cfg.Store.Address(), english.Plural(len(m.Files), "file", ""))
	if why := r.policy().Reasons(m); len(why) > 0 {
		return fmt.Errorf("%w: %s", err, english.WordSeries(why, "and"))
	}
	return err
}

// WouldCompact returns what Compact would do. It reads only the manifest and takes no lock. It
// assumes that a merged file is as large as its inputs together.
func WouldCompact(ctx context.Context, cfg Config) (Compacted, error) {
	r := newRun(cfg)
	if err := r.open(ctx); err != nil {
		return Compacted{}, err
	}
	defer r.table.Close()
	m := r.table.Manifest()
	out := r.simulate(m)
	if len(out.Months) == 0 {
		return out, r.nothingToMerge(m)
	}
	return out, nil
}

func (r *run) policy() Policy { return Policy{FileSize: r.cfg.FileSize, FanIn: r.fanIn()} }

// simulate plans all rounds with assumed file sizes.
func (r *run) simulate(m *manifest.Table) Compacted {
	first, out := m, Compacted{Before: len(m.Files), After: len(m.Files), Months: []MonthDone{}}
	for {
		rounds := r.policy().Plan(m)
		if len(rounds) == 0 {
			out.compare(first, m)
			return out
		}
		for i := range rounds {
			m = rounds[i].Merged(m)
			done := make([]rewritten, len(rounds[i].Steps))
			for n, s := range rounds[i].Steps {
				done[n] = rewritten{inputs: s.Files, file: joined(s.Files)}
				done[n].file.Size = s.Size()
			}
			out.add(rounds[i].Month, done)
			out.After = len(m.Files)
		}
	}
}

// compact runs one round after the other, until no merge is worthwhile.
func (r *run) compact(ctx context.Context, out *Compacted) error {
	for {
		rounds := r.policy().Plan(r.table.Manifest())
		if len(rounds) == 0 {
			return nil
		}
		if err := r.round(ctx, &rounds[0], out); err != nil {
			return err
		}
	}
}

// round merges a month's files and commits them.
func (r *run) round(ctx context.Context, round *Round, out *Compacted) error {
	m := r.next()
	jobs := make([]job, len(round.Steps))
	for i, s := range round.Steps {
		jobs[i] = job{name: name(m, i), files: s.Files, from: behaviour.MinDate, region: s.Region}
	}
	done, err := r.all(ctx, jobs)
	if err != nil {
		return err
	}
	m.Files = replaced(m.Files, done)
	if err := r.table.Replace(ctx, m, r.cfg.KeepFor); err != nil {
		return err
	}
	out.add(round.Month, done)
	out.After = len(m.Files)
	last := out.Months[len(out.Months)-1]
	r.log.Info("compacted", "month", last.Month, "merged", last.Merged, "made", last.Made)
	return nil
}

// all runs the jobs, up to Workers of them at once.
func (r *run) all(ctx context.Context, jobs []job) ([]rewritten, error) {
	done := make([][]rewritten, len(jobs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.cfg.Workers)
	for i, j := range jobs {
		g.Go(func() (err error) {
			done[i], err = r.rewriteAll(ctx, j)
			return err
		})
	}
	err := g.Wait()
	return slices.Concat(done...), err
}

// name returns the name of the n-th file that is written for the manifest m, without its
// ending. Names of files from loads begin with a digit.
func name(m *manifest.Table, n int) string {
	return fmt.Sprintf("%s/r%06d-%04d", m.Family, m.Rewritten, n)
}

// add adds the files of one round.
func (c *Compacted) add(month Month, done []rewritten) {
	d := MonthDone{Month: month.String(), Made: len(done)}
	for i := range done {
		x := &done[i]
		d.Merged += len(x.inputs)
		for j := range x.inputs {
			d.Bytes += x.inputs[j].Size
		}
		c.Records += x.file.Records
		c.Cells += x.file.Tally.Cells
		c.Written += x.file.Size
	}
	c.Merged += d.Merged
	c.Made += d.Made
	c.Read += d.Bytes
	c.Months = append(c.Months, d)
}

// compare counts the files of before that are in after, and the records of the other files of after.
func (c *Compacted) compare(before, after *manifest.Table) {
	old := map[string]bool{}
	for i := range before.Files {
		old[before.Files[i].Name] = true
	}
	for i := range after.Files {
		if f := &after.Files[i]; old[f.Name] {
			c.Kept++
		} else {
			c.Merges += f.Records
		}
	}
}
