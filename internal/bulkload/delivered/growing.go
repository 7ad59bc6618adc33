package delivered

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs"
)

// A file that is loaded while it is written differs from its ledger in all later loads. A load
// therefore leaves out a file that may still be written, and ends with ErrGrowing:
//
//	on HDFS                     a file that its writer has open
//	the job names a marker      a file whose marker is missing
//	Search.Unsettled is set     a file that it names
//
// The load checks while it holds the table's lock, because it may have waited for the lock.

// askedAtOnce is the number of requests to the NameNode at the same time. Each request is about one
// file.
const askedAtOnce = 8

// FindWhole calls Find, and learns which files may still be written. It looks for the markers
// first: a file that appears after its marker was seen is whole.
func (s *Search) FindWhole(ctx context.Context) (*Found, error) {
	var marked job.Marked
	if s.Job.Marker != nil {
		var err error
		if marked, err = s.Job.Marker.Find(ctx, s.FS, s.Span); err != nil {
			return nil, err
		}
	}
	found, err := s.Find(ctx)
	if err != nil {
		return found, err
	}
	found.unsettled = map[string]error{}
	if s.Unsettled != nil {
		if found.unsettled, err = s.Unsettled(found.Inputs); err != nil {
			return found, err
		}
	}
	if marked != nil {
		for _, in := range found.Inputs {
			if marker := s.lacks(marked, in); marker != "" {
				found.unsettled[in.Path] = fmt.Errorf("%s: %w, or may be: its marker %s does not exist yet: load the file when the marker exists", in.Path, bulkload.ErrGrowing, marker)
			}
		}
	}
	return found, nil
}

// lacks returns the first marker that a file lacks, "" if it lacks none. A file without a
// date or behaviour in its path needs the markers of all requested dates or behaviours.
func (s *Search) lacks(marked job.Marked, in job.Input) string {
	days, kinds := s.Span, s.Kinds
	if in.Date != nil {
		days = behaviour.Span{From: *in.Date, To: *in.Date}
	}
	if in.Kind >= 0 {
		kinds = []int{in.Kind}
	}
	for d := days.From; d <= days.To; d++ {
		for _, k := range kinds {
			if !marked(d, k) {
				return s.Job.Marker.Path(d, k)
			}
		}
	}
	return ""
}

// Growing returns, for each file, why it may still be written; nil if it is whole. FindWhole returned
// f.
func (f *Found) Growing(ctx context.Context, fs dfs.FS, files []*File) ([]error, error) {
	whys := make([]error, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(askedAtOnce)
	for i, in := range files {
		g.Go(func() error {
			if whys[i] = f.unsettled[in.Path]; whys[i] != nil {
				return nil
			}
			open, err := dfs.Written(ctx, fs, in.Path)
			if open {
				whys[i] = fmt.Errorf("%s: %w: load it when its writer has closed it", in.Path, bulkload.ErrGrowing)
			}
			return err
		})
	}
	return whys, g.Wait()
}
