package files

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/precheck"
)

// Stage implements table.Stager. A file never replaces another file, except a file of a piece,
// because a piece may be done again. Recover has removed all files that the manifest does not
// name. If the file exists, a process that took the lock in the meantime has written it.
func (t *Table) Stage(ctx context.Context, name string) (dfs.Pending, error) {
	path := dfs.Join(t.Dir(), name)
	if _, _, ok := catalog.OfPlan(name); ok {
		p, err := t.fs.Create(ctx, path)
		return p, dfs.InPlace(err, catalog.PieceAgain)
	}
	if err := t.BeginFile(ctx, name); err != nil {
		return nil, err
	}
	p, err := t.fs.CreateNew(ctx, path)
	if err != nil {
		return nil, precheck.Unwritable(dfs.InTheWay(err))
	}
	return newFile{p, path}, nil
}

// A newFile is a Pending of CreateNew.
type newFile struct {
	dfs.Pending
	name string
}

// Commit wraps dfs.ErrLockLost if the file exists already.
func (f newFile) Commit() error {
	err := f.Pending.Commit()
	if errors.Is(err, iofs.ErrExist) {
		// err is not wrapped: its status 73 would be wrong.
		return fmt.Errorf("%w: another run has written %s: run the same command again", dfs.ErrLockLost, f.name)
	}
	return err
}

// Staged implements table.Stager.
func (t *Table) Staged(ctx context.Context, name string) (dfs.File, error) {
	f, err := dfs.OpenRegular(ctx, t.fs, dfs.Join(t.Dir(), name))
	return f, dfs.Lost(table.Unreadable(err))
}

// FileName implements table.Stager.
func (t *Table) FileName(load, region int) string {
	return fmt.Sprintf("%s/%06d-%04d", family, load, region)
}

// TakeIn implements table.Loader.
func (t *Table) TakeIn(ctx context.Context, load *manifest.Load, files []manifest.File) error {
	return t.Commit(ctx, load, files)
}

// ForgetRetired removes all retired files at once.
func (t *Table) ForgetRetired(ctx context.Context) error { return t.Catalog.ForgetRetired(ctx, family) }

// Recover implements table.Loader. It removes the HFiles and rolls that the manifest does not
// name. All files that the manifest names must exist. It finishes no load, because a load of
// files is taken in all at once.
func (t *Table) Recover(ctx context.Context) ([]*manifest.Load, error) {
	if err := t.CheckFiles(ctx); err != nil {
		return nil, err
	}
	return nil, t.Sweep(ctx, family)
}
