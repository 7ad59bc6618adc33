package convert

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/format/manifest"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// keepWhole reads the files of the parts in done. If a file is missing, or is not as it was written, it removes the report of its part, and
// the conversion makes the part again. Up to Workers parts are read at once.
func (r *run) keepWhole(ctx context.Context) error {
	var size int64
	for _, c := range r.done {
		for i := range c.Files {
			size += c.Files[i].Size + c.Files[i].RollSize
		}
	}
	r.progress.Step("checking finished files", progress.Bytes, size)
	faults := make([]error, len(r.done))
	w, gctx := errgroup.WithContext(ctx)
	w.SetLimit(r.cfg.Workers)
	for i, c := range r.done {
		w.Go(func() error {
			err := r.checkPart(gctx, c)
			if errors.Is(err, dfs.ErrDamaged) {
				faults[i], err = err, nil
			}
			return err
		})
	}
	if err := w.Wait(); err != nil {
		return dfs.InPlace(err, "remove it, then type the same command again")
	}
	var whole []*manifest.Converted
	for i, c := range r.done {
		if faults[i] == nil {
			whole = append(whole, c)
			continue
		}
		r.log.Warn("a finished part has to be converted again", "load", c.Load, "why", faults[i])
		if err := r.shop.Drop(ctx, c.Load); err != nil {
			return err
		}
	}
	r.done = slices.Clip(whole)
	return nil
}

// checkPart reads the files of a part. It returns an error that wraps dfs.ErrDamaged if a file is missing, or is not as it was written.
func (r *run) checkPart(ctx context.Context, c *manifest.Converted) error {
	for i := range c.Files {
		f := &c.Files[i]
		err := r.checkFile(ctx, f.Name, f.Size, f.Sum)
		if err == nil {
			err = r.checkFile(ctx, f.Roll, f.RollSize, f.RollSum)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) checkFile(ctx context.Context, name string, size int64, sum string) error {
	err := dfs.CheckFile(ctx, r.cfg.FS, dfs.Join(r.cfg.Out.Address(), name), size, sum)
	r.progress.Add(size)
	return table.Unreadable(err)
}
