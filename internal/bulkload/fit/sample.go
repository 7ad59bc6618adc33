package fit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
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

// A Sample has the split keys of good records. A split key is the key of a user, or a whole row if the
// layout does not store a user's rows together.
type Sample struct {
	Keys  []split.Sample
	Unfit error // of the first record that the layout cannot hold; it wraps ErrRequest

	job    *job.Job
	layout layout.Layout
	in     job.Input // the current file
}

// SampleOf collects the split keys of records in some of the files.
func SampleOf(ctx context.Context, fs dfs.FS, j *job.Job, l layout.Layout, files []job.Input) (*Sample, error) {
	s := &Sample{job: j, layout: l}
	step := max(len(files)/sampleFiles, 1)
	for i := 0; i < len(files); i += step {
		if err := s.read(ctx, fs, files[i]); err != nil {
			return nil, fmt.Errorf("sample %s: %w", files[i].Path, err)
		}
	}
	return s, nil
}

// read samples the beginning of a file. It ignores faults of the file itself: the load finds and
// reports them. It returns other read errors at once, because the table's regions would differ
// without the file.
func (s *Sample) read(ctx context.Context, fs dfs.FS, in job.Input) error {
	if err := delivered.Unread(in.Path, s.begin(ctx, fs, in)); err != nil && !delivered.OwnFault(err) {
		return err
	}
	return nil
}

func (s *Sample) begin(ctx context.Context, fs dfs.FS, in job.Input) error {
	f, err := dfs.OpenRegular(ctx, fs, in.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	src := &dfs.Source{R: f}
	r, err := record.Open(src, in.File(), &s.job.Format)
	if err != nil {
		return src.Err
	}
	defer r.Close()
	p, err := record.NewParser(&s.job.Format, in.File(), r.Header())
	if err != nil {
		return nil
	}
	s.in = in
	c, err := r.Next(make([]byte, 0, sampleBytes))
	if err != nil && err != io.EOF {
		return src.Err
	}
	if err := p.Parse(c, s); err != nil && !errors.Is(err, record.ErrLarge) {
		return err
	}
	return src.Err // Next returns the records before a failed read without an error
}

// Keep implements record.Sink.
func (s *Sample) Keep(r *behaviour.Record) error {
	schema := s.job.Schema
	if err := s.layout.Fits(schema, r); err != nil {
		if s.Unfit == nil {
			s.Unfit = fmt.Errorf("%w: %s: record at byte %d: %w", bulkload.ErrRequest, s.in.Path, r.ID, err)
		}
		return nil
	}
	key := layout.AppendSplitKey(nil, s.layout, schema, r)
	s.Keys = append(s.Keys, split.Sample{Key: slices.Clip(key), Weight: 1})
	return nil
}

// Skip implements record.Sink.
func (s *Sample) Skip(*record.Skipped) error { return nil }

// Reject implements record.Sink.
func (s *Sample) Reject(*record.Reject) error { return nil }
