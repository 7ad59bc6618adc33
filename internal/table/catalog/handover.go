package catalog

import (
	"context"
	"errors"
	iofs "io/fs"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// Handover returns the load whose files were being handed to HBase when its process died. It
// returns nil if there is none.
func (c *Catalog) Handover(ctx context.Context) (*manifest.Handover, error) {
	return Handover(ctx, c.fs, c.dir)
}

// Handover returns the handover of the catalog in dir. If the caller reads it before it opens
// the catalog, it includes a load that the manifest does not have.
func Handover(ctx context.Context, fs dfs.FS, dir string) (*manifest.Handover, error) {
	h := new(manifest.Handover)
	err := read(ctx, fs, dfs.Join(dir, handoverName), h)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, putAgain(err)
	}
	return h, nil
}

// SetHandover writes h. EndHandover removes it.
func (c *Catalog) SetHandover(ctx context.Context, h *manifest.Handover) error {
	h.Version = manifest.Version
	return manifest.Write(ctx, c.fs, dfs.Join(c.dir, handoverName), h)
}

// EndHandover removes the handover that SetHandover wrote.
func (c *Catalog) EndHandover(ctx context.Context) error {
	return c.fs.Remove(ctx, dfs.Join(c.dir, handoverName))
}
