// Package tryout parses a sample of delivered files with their job. It reports which records a load
// would keep, skip and reject.
//
//	files ── peek: a part of each ──▶ counter of a file ── in order ──▶ Report
//
// A Report counts the records of each behaviour, the reasons of bad and skipped records with the
// first example of each, and judges each file as a load would. It is the same whatever the number
// of workers.
package tryout

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/peek"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
)

// atOnce is the number of files that are read at the same time: reading one is mostly waiting.
const atOnce = 16

// A Config describes how the files are parsed.
type Config struct {
	FS  dfs.FS
	Job *job.Job
	// Fits, if not nil, returns an error for a record that the table's layout cannot hold. Many
	// goroutines call it.
	Fits func(*behaviour.Record) error
	// Dropped, if not nil, is the first date that was not dropped from the table.
	Dropped *behaviour.Date
	Memory  int64 // for the files that are read at the same time, in bytes; 512 MiB. One file is always read
}

// A File is a delivered file, and how much of it is parsed.
type File struct {
	record.File
	Limit peek.Limit
	Part  *manifest.Part // the requested part; nil is all
}

// Run parses a part of each file. A file that cannot be read has an error in its FileResult; Run itself
// returns an error only if ctx has ended.
func Run(ctx context.Context, cfg Config, files []File) (*Report, error) {
	r := &Report{}
	b := newBuilder(cfg.Job, r)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	total := cmp.Or(cfg.Memory, 512<<20)
	memory := semaphore.NewWeighted(total)
	for i, f := range files {
		needs := min(cfg.Job.Format.Memory(f.Path), total)
		g.Go(func() error {
			if err := memory.Acquire(ctx, needs); err != nil {
				return context.Cause(ctx)
			}
			defer memory.Release(needs)
			c := newCounter(cfg, f)
			c.read(ctx)
			b.put(i, c)
			return context.Cause(ctx)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	b.finish()
	return r, nil
}

// A counter counts the records of one file.
type counter struct {
	cfg    Config
	file   File
	result FileResult
	kinds  map[int]*Behaviour // by kind; -1 for records whose behaviour is not known
	others manifest.Unmapped  // records of unknown behaviours
}

func newCounter(cfg Config, f File) *counter {
	return &counter{cfg: cfg, file: f, result: FileResult{Path: f.Path, Kind: f.Kind, Dates: behaviour.NoDays}, kinds: map[int]*Behaviour{}}
}

// read parses the file, and judges it.
func (c *counter) read(ctx context.Context) {
	r := &c.result
	r.Extent, r.Unread = peek.Read(ctx, c.cfg.FS, &c.cfg.Job.Format, c.file.File, c.file.Limit, c)
	if r.Unread == nil {
		c.judge()
	}
	c.others.Shorten(manifest.ListedUnmapped)
}

// kind returns the counts of a behaviour.
func (c *counter) kind(n int) *Behaviour {
	b := c.kinds[n]
	if b == nil {
		b = &Behaviour{}
		c.kinds[n] = b
	}
	return b
}

// Keep implements record.Sink.
func (c *counter) Keep(r *behaviour.Record) error {
	name := c.cfg.Job.Schema.Kinds[r.Kind].Name
	c.result.Dates.AddDay(r.Date)
	if p := c.file.Part; !p.Has(r.Date, name, nil) {
		why := "other types"
		if p.Span != nil && !p.Span.Has(r.Date) {
			why = "outside the dates"
		}
		c.result.NotAsked++
		c.skip(r.Kind, Reason{Reason: why, Example: Example{Path: c.file.Path, Offset: r.ID}})
		return nil
	}
	if r.Date.Before(c.cfg.Dropped) {
		c.result.Dropped++
		c.skip(r.Kind, Reason{Reason: "dropped days", Example: Example{Path: c.file.Path, Offset: r.ID}})
		return nil
	}
	c.kind(r.Kind).keep(r)
	c.result.Good++
	if c.cfg.Fits == nil || c.result.Unfit != nil {
		return nil
	}
	if err := c.cfg.Fits(r); err != nil {
		c.result.Unfit = fmt.Errorf("%w: %s: record at byte %d: %w", bulkload.ErrRequest, c.file.Path, r.ID, err)
	}
	return nil
}

// Skip implements record.Sink.
func (c *counter) Skip(s *record.Skipped) error {
	reason := Reason{Reason: string(s.Why), Example: Example{Path: c.file.Path, Line: s.Line, Offset: s.Offset, Text: beginning(s.Raw)}}
	if s.Why == record.UnknownKind {
		reason.Detail = fmt.Sprintf("%q is no behaviour of the job", beginning(s.Kind))
		c.result.Unknown++
		c.others.Add(s.Kind, 1)
	}
	c.skip(c.file.Kind, reason)
	return nil
}

func (c *counter) skip(kind int, reason Reason) {
	b := c.kind(kind)
	b.Records++
	b.Skipped++
	c.result.Skipped++
	b.note(reason)
}

// Reject implements record.Sink.
func (c *counter) Reject(r *record.Reject) error {
	b := c.kind(r.Kind)
	b.Records++
	b.Bad++
	c.result.Bad++
	if r.Kind >= 0 {
		c.result.BadOfKind++
	}
	b.note(Reason{Reason: string(r.Reason), Bad: true, Example: Example{
		Path: r.Path, Line: r.Line, Offset: r.Offset, Detail: r.Err.Error(), Text: beginning(r.Raw),
	}})
	return nil
}

// judge sets the verdict of the file.
func (c *counter) judge() {
	j, r := c.cfg.Job, &c.result
	if err := delivered.TooFew(j, r.Path, c.file.Kind, r.Read()); r.Whole && err != nil {
		r.Verdict, r.Refused = Refused, err
		return
	}
	if !j.MaxBad.Exceeded(r.Read(), r.Bad) {
		c.judgeOthers()
		return
	}
	if !r.Whole && !j.MaxBad.Exceeded(r.Read(), surely(r.Bad)) {
		r.Verdict = Uncertain
		return
	}
	reasons := badReasons(maps.Values(c.kinds))
	slices.SortStableFunc(reasons, byRecords)
	r.Verdict, r.Key = Refused, Key(reasons[0].Reason)
	r.Refused = fmt.Errorf("%s: %w: %d of %d%s, and max_bad is %s: %s: if the log is written so, change %s in the job, or else have it delivered again",
		r.Path, bulkload.ErrTooBad, r.Bad, r.Read(), r.ofSample(), j.MaxBad, text(reasons), r.Key)
}

// judgeOthers sets the verdict of a file by its records of unknown behaviours.
func (c *counter) judgeOthers() {
	r := &c.result
	counts := manifest.Counts{Read: r.Read(), Skips: manifest.Skips{Unknown: r.Unknown}}
	err := delivered.TooManyOthers(c.cfg.Job, r.Path, &counts, &c.others, delivered.NotLoaded)
	switch {
	case err == nil:
	case r.Whole:
		r.Verdict, r.Refused, r.Key = Refused, err, maxSkipped
	case c.cfg.Job.MaxSkipped.Exceeded(r.Read(), surely(r.Unknown)):
		r.Verdict, r.Refused, r.Key = Refused, fmt.Errorf("in a sample of the file: %w", err), maxSkipped
	default:
		r.Verdict = Uncertain
	}
}

// maxSkipped is the key of the job that decides about records of unknown behaviours.
const maxSkipped = "max_skipped"

// surely returns the number of bad records that a sample with n bad records shows beyond doubt: two
// standard deviations of a Poisson distribution less.
func surely(n int64) int64 { return max(0, n-int64(math.Ceil(2*math.Sqrt(float64(n))))) }

// mostText is the number of bytes that are kept of a text.
const mostText = 160

// beginning returns the beginning of a text.
func beginning(b []byte) string {
	if len(b) <= mostText {
		return string(b)
	}
	return string(b[:mostText]) + "…"
}
