package load

import (
	"context"
	"errors"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/fit"
	"usertrail/internal/bulkload/tryout"
	"usertrail/internal/format/job"
	"usertrail/internal/run/outcome"
	"usertrail/internal/split"
)

// A Preview describes a load without running it.
type Preview struct {
	Files   int               `json:"files"`   // that would be read
	Splits  int               `json:"splits"`  // always equal to Files: a load reads a file as a whole
	Bytes   int64             `json:"bytes"`   // size of these files, as delivered
	Already int               `json:"already"` // files that are in the table
	Missing int               `json:"missing"`
	NoFile  []string          `json:"-"` // as in bulkload.Result
	Batches []PreviewBatch    `json:"batches"`
	Regions []PreviewRegion   `json:"regions"`
	New     bool              `json:"new_table"`
	Failed  []bulkload.Failed `json:"failed,omitempty"` // files that a load would leave out, with status 1
	bulkload.NotRead
	// Sample describes the records of the files; nil if nothing was parsed.
	Sample *tryout.Report `json:"sample,omitempty"`
	bulkload.Choice
}

// Counted implements outcome.Result.
func (p Preview) Counted() outcome.Counts {
	c := outcome.Counts{outcome.Files: float64(p.Files), outcome.Already: float64(p.Already), outcome.Missing: float64(p.Missing), outcome.Bytes: float64(p.Bytes)}
	c.SetFailed(len(p.Failed))
	return c
}

// A PreviewBatch has files that a load commits together.
type PreviewBatch struct {
	Span  *behaviour.Span `json:"span"` // dates of the paths; nil if they name none
	Files int             `json:"files"`
	Bytes int64           `json:"bytes"`
}

// A PreviewRegion is a region with the approximate amount that a load would write to it.
type PreviewRegion struct {
	Region string  `json:"region"`
	Rows   string  `json:"-"`     // Region in words
	Share  float64 `json:"share"` // of a sample of the records
	Bytes  int64   `json:"bytes"` // of the delivered files, by that share
}

// DryRun returns what Run would do. It writes nothing and takes no lock.
func DryRun(ctx context.Context, cfg Config) (Preview, error) {
	l, err := New(cfg)
	if err != nil {
		return Preview{}, err
	}
	if err := l.findWhole(ctx); err != nil {
		return Preview{}, err
	}
	if err := l.openTable(ctx); err != nil {
		return Preview{}, err
	}
	if err := l.choose(ctx); err != nil {
		return Preview{}, err
	}
	if err := l.Failures.Err(nil); errors.Is(err, bulkload.ErrGrowing) {
		return Preview{}, err
	}
	r := l.Outcome()
	l.WarnNotRead()
	p := Preview{
		Files: len(l.Files), Splits: len(l.Files), Bytes: r.Bytes, Already: r.Already, Missing: r.Missing, NoFile: r.NoFile,
		NotRead: r.NotRead, New: l.To.NextLoad() == 1, Choice: r.Choice, Failed: r.Failed,
	}
	for _, b := range delivered.Batches(l.Files, l.batchBytes()) {
		p.Batches = append(p.Batches, previewBatch(b))
	}
	if p.Regions, err = l.previewRegions(ctx); err != nil {
		return p, err
	}
	inputs := make([]job.Input, len(l.Files))
	for i, f := range l.Files {
		inputs[i] = f.Input
	}
	p.Sample, err = l.try(ctx, inputs, l.To.Info().Dropped)
	if p.Sample != nil {
		bulkload.WarnAbsentOfSkip(l.cfg.Log, l.cfg.Job, &p.Sample.SkipColumns, false)
	}
	return p, err
}

func previewBatch(b []*delivered.File) PreviewBatch {
	out := PreviewBatch{Files: len(b)}
	for _, in := range b {
		out.Bytes += in.Size
		switch {
		case in.Date == nil:
		case out.Span == nil:
			out.Span = &behaviour.Span{From: *in.Date, To: *in.Date}
		default:
			out.Span.AddDay(*in.Date)
		}
	}
	return out
}

// previewRegions divides the bytes among the regions by a sample of the records.
func (l *Load) previewRegions(ctx context.Context) ([]PreviewRegion, error) {
	regions, err := l.To.Regions(ctx)
	if err != nil {
		return nil, err
	}
	files := make([]job.Input, len(l.Files))
	for i, f := range l.Files {
		files[i] = f.Input
	}
	s, err := fit.SampleOf(ctx, l.cfg.FS, l.cfg.Job, l.To.Layout, files)
	if err == nil {
		err = s.Unfit
	}
	if err != nil {
		return nil, err
	}
	out := make([]PreviewRegion, len(regions))
	for i, r := range regions {
		out[i].Region, out[i].Rows = r.String(), r.Words()
		if n := len(s.Keys); n > 0 {
			out[i].Share = float64(sampledIn(s.Keys, r)) / float64(n)
			out[i].Bytes = int64(out[i].Share * float64(l.Result.Bytes))
		}
	}
	return out, nil
}

func sampledIn(s []split.Sample, r split.Region) int {
	n := 0
	for i := range s {
		if r.Has(s[i].Key) {
			n++
		}
	}
	return n
}
