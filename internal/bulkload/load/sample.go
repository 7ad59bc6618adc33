package load

import (
	"context"
	"fmt"
	"io"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/record"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
)

// Limits of the sample from which split points are chosen.
const (
	sampleFiles = 32
	sampleBytes = 256 << 10 // of each file's text
)

// sampleSplits returns the split points of a new table. regionsFor gives the number of regions.
// If the layout has its own split points, sampleSplits returns them. Otherwise the regions have
// equal weight in a sample of the beginnings of some files.
func (l *load) sampleSplits(ctx context.Context, inputs []job.Input) (split.Points, error) {
	n := l.regionsFor(inputs)
	if n == 1 {
		return nil, nil
	}
	if splits := l.layout.Traits().Splits; splits != nil {
		return splits(n), nil
	}
	s, err := l.sample(ctx, inputs)
	if err != nil {
		return nil, err
	}
	return split.Balanced(s.samples, n), nil
}

// regionsFor returns the number of regions of a table for these files: the job's number, or one
// for every regionBytes, up to maxRegions.
func (l *load) regionsFor(inputs []job.Input) int {
	if n := l.job.Table.Regions; n != 0 {
		return n
	}
	var total int64
	for _, in := range inputs {
		total += in.Size
	}
	return int(min(max(total/regionBytes, 1), maxRegions))
}

// sample collects the split keys of records in some of the files.
func (l *load) sample(ctx context.Context, inputs []job.Input) (*sampler, error) {
	s := &sampler{load: l}
	step := max(len(inputs)/sampleFiles, 1)
	for i := 0; i < len(inputs); i += step {
		if err := s.read(ctx, inputs[i]); err != nil {
			return nil, fmt.Errorf("sample %s: %w", inputs[i].Path, err)
		}
	}
	return s, nil
}

// A sampler collects the split keys of good records. A split key is the key of a user, or a
// whole row if the layout does not store a user's rows together.
type sampler struct {
	load    *load
	in      job.Input
	samples []split.Sample
	good    int   // records of a behaviour of the job
	foreign int   // records whose text names no behaviour of the job
	unfit   error // of the first record that the layout cannot hold; it wraps ErrRequest
}

// read samples the beginning of a file. It ignores faults of the file itself: the load finds and
// reports them. It returns other read errors at once, because the table's regions would differ
// without the file.
func (s *sampler) read(ctx context.Context, in job.Input) error {
	if err := unread(in.Path, s.begin(ctx, in)); err != nil && !ownFault(err) {
		return err
	}
	return nil
}

func (s *sampler) begin(ctx context.Context, in job.Input) error {
	s.in = in
	f, err := dfs.OpenRegular(ctx, s.load.cfg.FS, in.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	src := &source{r: f}
	r, err := record.Open(src, in.File(), &s.load.job.Format)
	if err != nil {
		return src.err
	}
	defer r.Close()
	p, err := record.NewParser(&s.load.job.Format, in.File(), r.Header())
	if err != nil {
		return nil
	}
	return s.take(src, r, p)
}

// take samples the beginning of an open file.
func (s *sampler) take(src *source, r *record.Reader, p *record.Parser) error {
	c, err := r.Next(make([]byte, 0, sampleBytes))
	if err != nil && err != io.EOF {
		return src.err
	}
	return p.Parse(c, s)
}

// Keep implements record.Sink.
func (s *sampler) Keep(r *behaviour.Record) error {
	s.good++
	l, schema := s.load.layout, s.load.job.Schema
	if err := l.Fits(schema, r); err != nil {
		if s.unfit == nil {
			s.unfit = fmt.Errorf("%w: %s: record at byte %d: %w", bulkload.ErrRequest, s.in.Path, r.ID, err)
		}
		return nil
	}
	key := layout.AppendSplitKey(nil, l, schema, r)
	s.samples = append(s.samples, split.Sample{Key: slices.Clip(key), Weight: 1})
	return nil
}

// Skip implements record.Sink.
func (s *sampler) Skip(*record.Skipped) error {
	s.foreign++
	return nil
}

// Reject implements record.Sink.
func (s *sampler) Reject(*record.Reject) error { return nil }
