// Package fit cuts a new table into regions, for the users that will have rows in it.
package fit

import (
	"cmp"
	"context"
	"fmt"

	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
)

const (
	// evenRegions is the default number of regions of a table that its layout cuts. The tools of
	// HBase mostly make as many.
	evenRegions = 16
	// regionBytes is the size of the first load for each region, in bytes of delivered files.
	regionBytes = 256 << 20
	maxRegions  = 64
)

// A Fit describes how a table is cut into regions.
type Fit struct {
	Splits split.Points
	KeyLen int // bytes of every sampled key; 0 if they differ, or if rows do not begin with them
	Users  int // sampled keys, repeated ones included
}

// Layout cuts a table with j's layout into n regions, if good split points do not depend on
// the users. If n is 0, it makes as many regions as the job has, or 16. It returns false if the
// split points depend on the users.
func Layout(j *job.Job, n int) (Fit, bool, error) {
	l, err := layout.ByName(j.Layout)
	if err != nil {
		return Fit{}, false, err
	}
	splits := l.Traits().Splits
	if splits == nil {
		return Fit{}, false, nil
	}
	return Fit{Splits: splits(cmp.Or(n, j.Table.Regions, evenRegions))}, true, nil
}

// Logs cuts a table with the layout of a job into n regions, by a sample of the files that search finds.
// If n is 0, it makes as many regions as a first load of the files would make.
func Logs(ctx context.Context, search *delivered.Search, n int) (Fit, error) {
	j := search.Job
	l, err := layout.ByName(j.Layout)
	if err != nil {
		return Fit{}, err
	}
	found, err := search.Find(ctx)
	if err != nil {
		return Fit{}, err
	}
	s, err := SampleOf(ctx, search.FS, j, l, found.Inputs)
	switch {
	case err != nil:
		return Fit{}, err
	case s.Unfit != nil:
		return Fit{}, s.Unfit
	case len(s.Keys) == 0:
		return Fit{}, fmt.Errorf("%w: no good record in the beginnings of %d files below %s to see users of: choose other dates, or --ids FIRST..LAST",
			job.ErrNoInput, len(found.Inputs), j.Pattern.Root)
	}
	if n == 0 {
		n = regionsFor(j, found.Inputs)
	}
	return fit(l, s.Keys, n), nil
}

// Splits returns the split points of a new table with layout l, for a first load of files of a job. If
// the layout has its own split points, Splits returns them. Otherwise the regions have equal weight in
// a sample of the beginnings of some files.
func Splits(ctx context.Context, fs dfs.FS, j *job.Job, l layout.Layout, files []job.Input) (split.Points, error) {
	n := regionsFor(j, files)
	if n == 1 {
		return nil, nil
	}
	if splits := l.Traits().Splits; splits != nil {
		return splits(n), nil
	}
	s, err := SampleOf(ctx, fs, j, l, files)
	if err != nil {
		return nil, err
	}
	return split.Balanced(s.Keys, n), nil
}

// regionsFor returns the number of regions of a table for these files: the job's number, or one
// for every regionBytes, up to maxRegions.
func regionsFor(j *job.Job, files []job.Input) int {
	if n := j.Table.Regions; n != 0 {
		return n
	}
	var total int64
	for _, f := range files {
		total += f.Size
	}
	return int(min(max(total/regionBytes, 1), maxRegions))
}

func fit(l layout.Layout, samples []split.Sample, n int) Fit {
	f := Fit{Splits: split.Balanced(samples, n), Users: len(samples)}
	if l.Traits().Together {
		f.KeyLen = keyLen(samples)
	}
	return f
}

// keyLen returns the length of the keys, or 0 if their lengths differ.
func keyLen(samples []split.Sample) int {
	n := len(samples[0].Key)
	for _, s := range samples {
		if len(s.Key) != n {
			return 0
		}
	}
	return n
}
