package files

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"

	"usertrail/internal/catalog"
	"usertrail/internal/dfs"
	"usertrail/internal/manifest"
)

// Stage implements table.Stager. A file never replaces another, unless it is a piece's,
// which may be done again: Recover leaves no file that the manifest does not name, so one
// that is there was written by a process that took the lock meanwhile.
func (t *Table) Stage(ctx context.Context, name string) (dfs.Pending, error) {
	path := dfs.Join(t.Dir(), name)
	if _, _, ok := catalog.OfPlan(name); ok {
		return t.fs.Create(ctx, path)
	}
	p, err := t.fs.CreateNew(ctx, path)
	if err != nil {
		return nil, err
	}
	return newFile{p, path}, nil
}

// A newFile is a Pending of CreateNew.
type newFile struct {
	dfs.Pending
	name string
}

// Commit wraps dfs.ErrLockLost if the file is there already.
func (f newFile) Commit() error {
	err := f.Pending.Commit()
	if errors.Is(err, iofs.ErrExist) {
		// It is not wrapped: status 73 would be wrong.
		return fmt.Errorf("%w: another run has written %s: run the same command again", dfs.ErrLockLost, f.name)
	}
	return err
}

// Staged implements table.Stager.
func (t *Table) Staged(ctx context.Context, name string) (dfs.File, error) {
	return t.fs.Open(ctx, dfs.Join(t.Dir(), name))
}

// FileName implements table.Stager.
func (t *Table) FileName(load, region int) string {
	return fmt.Sprintf("%s/%06d-%04d", family, load, region)
}

// TakeIn implements table.Loader.
func (t *Table) TakeIn(ctx context.Context, load *manifest.Load, files []manifest.File) error {
	return t.Commit(ctx, load, files)
}

// ForgetRetired removes the files that were replaced at once.
func (t *Table) ForgetRetired(ctx context.Context) error { return t.Catalog.ForgetRetired(ctx, family) }

// Recover implements table.Loader. Of HFiles and rolls it leaves those that the
// manifest names, which must all be there; a load of files is taken in all at once, so none
// is finished.
func (t *Table) Recover(ctx context.Context) ([]*manifest.Load, error) {
	if err := t.CheckFiles(ctx); err != nil {
		return nil, err
	}
	return nil, t.Sweep(ctx, family)
}
