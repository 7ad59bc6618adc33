package bulkload

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/dfs"
	"usertrail/internal/job"
)

// ErrGrowing is wrapped where a delivered file is still being written. Loaded now, it would
// be a file that has changed ever after.
var ErrGrowing = errors.New("it is still being written")

// askedAtOnce is how many files the NameNode is asked about at once.
const askedAtOnce = 8

// checkClosed reports the first delivered file on HDFS that a writer has open. Elsewhere
// nothing tells.
func checkClosed(ctx context.Context, fs dfs.FS, inputs []*input) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(askedAtOnce)
	for _, in := range inputs {
		g.Go(func() error { return closed(ctx, fs, in.Input) })
	}
	return g.Wait()
}

func closed(ctx context.Context, fs dfs.FS, in job.Input) error {
	open, err := dfs.Written(ctx, fs, in.Path)
	if err == nil && open {
		err = fmt.Errorf("%s: %w: load it when its writer has closed it", in.Path, ErrGrowing)
	}
	return err
}
