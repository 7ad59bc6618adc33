package files

import (
	"context"
	"fmt"

	"usertrail/internal/dfs"
	"usertrail/internal/manifest"
)

// Stage implements table.Stager.
func (t *Table) Stage(ctx context.Context, name string) (dfs.Pending, error) {
	return t.fs.Create(ctx, dfs.Join(t.Dir(), name))
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

// Recover implements table.Loader. Of HFiles and rolls it leaves those that the
// manifest names; a load of files is taken in all at once, so none is finished.
func (t *Table) Recover(ctx context.Context) ([]*manifest.Load, error) {
	return nil, t.Sweep(ctx, family)
}
