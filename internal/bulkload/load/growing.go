package load

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
//	the job names a marker      a file whose marker is not there
//	Config.Unsettled is given   a file that it names
//
// The load checks while it holds the table's lock, because it may have waited for the lock.

// askedAtOnce is how many files the NameNode is asked about at once.
const askedAtOnce = 8

// findWhole calls find, and learns which files may still be written. It looks for the markers
// first: a file that appears after its marker was seen is whole.
func (l *load) findWhole(ctx context.Context) (job.Found, error) {
	var marked job.Marked
	if l.job.Marker != nil {
		var err error
		if marked, err = l.job.Marker.Find(ctx, l.cfg.FS, l.cfg.Span); err != nil {
			return job.Found{}, err
		}
	}
	found, err := l.find(ctx)
	if err != nil {
		return found, err
	}
	l.unsettled = map[string]error{}
	if l.cfg.Unsettled != nil {
		if l.unsettled, err = l.cfg.Unsettled(found.Inputs); err != nil {
			return found, err
		}
	}
	if marked != nil {
		for _, in := range found.Inputs {
			if marker := l.lacks(marked, in); marker != "" {
				l.unsettled[in.Path] = fmt.Errorf("%s: %w, or may be: its marker %s is not there: load it when the marker is", in.Path, bulkload.ErrGrowing, marker)
			}
		}
	}
	return found, nil
}

// lacks returns the first marker that a file lacks, "" if it lacks none. A file without a
// date or behaviour in its path needs the markers of all requested dates or behaviours.
func (l *load) lacks(marked job.Marked, in job.Input) string {
	days, kinds := l.cfg.Span, l.kinds
	if in.Date != nil {
		days = behaviour.Span{From: *in.Date, To: *in.Date}
	}
	if in.Kind >= 0 {
		kinds = []int{in.Kind}
	}
	for d := days.From; d <= days.To; d++ {
		for _, k := range kinds {
			if !marked(d, k) {
				return l.job.Marker.Path(d, k)
			}
		}
	}
	return ""
}

// growing returns, for each file, why it may still be written; nil if it is whole.
func (l *load) growing(ctx context.Context, inputs []*input) ([]error, error) {
	whys := make([]error, len(inputs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(askedAtOnce)
	for i, in := range inputs {
		g.Go(func() error {
			if whys[i] = l.unsettled[in.Path]; whys[i] != nil {
				return nil
			}
			open, err := dfs.Written(ctx, l.cfg.FS, in.Path)
			if open {
				whys[i] = fmt.Errorf("%s: %w: load it when its writer has closed it", in.Path, bulkload.ErrGrowing)
			}
			return err
		})
	}
	return whys, g.Wait()
}

// leaveGrowing leaves out the files that may still be written. It returns the others.
func (l *load) leaveGrowing(ctx context.Context, inputs []*input) ([]*input, error) {
	whys, err := l.growing(ctx, inputs)
	if err != nil {
		return nil, err
	}
	var out []*input
	for i, in := range inputs {
		if whys[i] != nil {
			l.leave(in.Input, whys[i])
		} else {
			out = append(out, in)
		}
	}
	return out, nil
}
