package load

import (
	"context"
	"errors"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/run/outcome"
	"usertrail/internal/split"
)

// A Preview describes a load without running it.
type Preview struct {
	Files   int               `json:"files"`   // that would be read
	Splits  int               `json:"splits"`  // in which they are read: a file is one, since IDs are offsets in it
	Bytes   int64             `json:"bytes"`   // of them, as delivered
	Already int               `json:"already"` // files that are in the table
	Missing int               `json:"missing"`
	Batches []PreviewBatch    `json:"batches"`
	Regions []PreviewRegion   `json:"regions"`
	New     bool              `json:"new_table"`
	Failed  []bulkload.Failed `json:"failed,omitempty"` // that a load would leave out, with status 1
	bulkload.Choice
}

// Counted implements outcome.Result.
func (p Preview) Counted() outcome.Counts {
	c := outcome.Counts{outcome.Files: float64(p.Files), outcome.Already: float64(p.Already), outcome.Missing: float64(p.Missing), outcome.Bytes: float64(p.Bytes)}
	c.SetFailed(len(p.Failed))
	return c
}

// A PreviewBatch is what is committed together.
type PreviewBatch struct {
	Span  *behaviour.Span `json:"span"` // dates of the paths; nil if they name none
	Files int             `json:"files"`
	Bytes int64           `json:"bytes"`
}

// A PreviewRegion is a region and about how much would go into it.
type PreviewRegion struct {
	Region string  `json:"region"`
	Share  float64 `json:"share"` // of a sample of the records
	Bytes  int64   `json:"bytes"` // of the delivered files, by that share
}

// DryRun says what Run would do. It writes nothing and takes no lock.
func DryRun(ctx context.Context, cfg Config) (Preview, error) {
	l, err := newLoad(cfg)
	if err != nil {
		return Preview{}, err
	}
	found, err := l.findWhole(ctx)
	if err != nil {
		return Preview{}, err
	}
	if err := l.open(ctx, found); err != nil {
		return Preview{}, err
	}
	inputs, err := l.prepare(ctx, found)
	if err != nil {
		return Preview{}, err
	}
	if err := bulkload.Joined(l.failed); errors.Is(err, bulkload.ErrGrowing) {
		return Preview{}, err
	}
	p := Preview{
		Files: len(inputs), Splits: len(inputs), Bytes: l.result.Bytes,
		Already: l.result.Already, Missing: l.result.Missing, New: l.target.NextLoad() == 1, Choice: l.result.Choice,
		Failed: l.result.Failed,
	}
	for _, b := range batches(inputs, l.batchBytes()) {
		p.Batches = append(p.Batches, previewBatch(b))
	}
	p.Regions, err = l.previewRegions(ctx, inputs)
	return p, err
}

func previewBatch(b []*input) PreviewBatch {
	out := PreviewBatch{Files: len(b)}
	for _, in := range b {
		out.Bytes += in.Size
		switch {
		case in.Date == nil:
		case out.Span == nil:
			out.Span = &behaviour.Span{From: *in.Date, To: *in.Date}
		default:
			out.Span.From, out.Span.To = min(out.Span.From, *in.Date), max(out.Span.To, *in.Date)
		}
	}
	return out
}

// previewRegions shares the bytes out by a sample of the records.
func (l *load) previewRegions(ctx context.Context, inputs []*input) ([]PreviewRegion, error) {
	regions, err := l.target.Regions(ctx)
	if err != nil {
		return nil, err
	}
	files := make([]job.Input, len(inputs))
	for i, in := range inputs {
		files[i] = in.Input
	}
	s, err := l.sample(ctx, files)
	if err == nil {
		err = s.unfit
	}
	if err != nil {
		return nil, err
	}
	out := make([]PreviewRegion, len(regions))
	for i, r := range regions {
		out[i].Region = r.String()
		if n := len(s.samples); n > 0 {
			out[i].Share = float64(sampledIn(s.samples, r)) / float64(n)
			out[i].Bytes = int64(out[i].Share * float64(l.result.Bytes))
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
