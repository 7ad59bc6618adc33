package bulkload

import (
	"context"
	"fmt"
	"io"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/job"
	"usertrail/internal/record"
	"usertrail/internal/split"
)

// How much is looked at to choose split points.
const (
	sampleFiles = 32
	sampleBytes = 256 << 10 // of each file's text
)

// sampleSplits chooses the regions of a table that is to be made: as many as the
// job says, or one for every regionBytes, and of equal weight in the beginnings
// of some of the files.
func (l *load) sampleSplits(ctx context.Context, inputs []job.Input) (split.Points, error) {
	n := l.regionsFor(inputs)
	if n == 1 {
		return nil, nil
	}
	samples, err := l.sample(ctx, inputs)
	if err != nil {
		return nil, err
	}
	return split.Balanced(samples, n), nil
}

// regionsFor is into how many regions a table for these files is cut.
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

// sample takes the user keys of records in some of the files.
func (l *load) sample(ctx context.Context, inputs []job.Input) ([]split.Sample, error) {
	s := &sampler{load: l}
	step := max(len(inputs)/sampleFiles, 1)
	for i := 0; i < len(inputs); i += step {
		if err := s.read(ctx, inputs[i]); err != nil {
			return nil, fmt.Errorf("sample %s: %w", inputs[i].Path, err)
		}
	}
	return s.samples, nil
}

// A sampler takes the user keys of good records.
type sampler struct {
	load    *load
	samples []split.Sample
}

// read takes the beginning of a file. What is wrong with the file is found, and
// said, when it is loaded; that it could not be read is said at once, since the
// table's regions would be others without it.
func (s *sampler) read(ctx context.Context, in job.Input) error {
	f, err := s.load.cfg.FS.Open(ctx, in.Path)
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
	c, err := r.Next(make([]byte, 0, sampleBytes))
	if err != nil && err != io.EOF {
		return src.err
	}
	return p.Parse(c, s)
}

// Keep implements record.Sink.
func (s *sampler) Keep(r *behaviour.Record) error {
	key := s.load.layout.AppendUserKey(nil, r.User)
	s.samples = append(s.samples, split.Sample{Key: slices.Clip(key), Weight: 1})
	return nil
}

// Skip implements record.Sink.
func (s *sampler) Skip() error { return nil }

// Reject implements record.Sink.
func (s *sampler) Reject(*record.Reject) error { return nil }
