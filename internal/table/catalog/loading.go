package catalog

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"strconv"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

const loadingName = manifest.LoadingName

// loadingIn returns the number of the load that is being made in dir, or was being made when
// its process was killed. It returns 0 if there is none.
func loadingIn(ctx context.Context, fs dfs.FS, dir string) (int, error) {
	l, err := readLoading(ctx, fs, dir)
	return l.Load, err
}

// readLoading returns the record of the load, compact, drop or undrop that is being made, or was being made when its process was
// killed. It returns an empty record if there is none.
func readLoading(ctx context.Context, fs dfs.FS, dir string) (*manifest.Loading, error) {
	l := new(manifest.Loading)
	err := read(ctx, fs, dfs.Join(dir, loadingName), l)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return new(manifest.Loading), nil
	case errors.Is(err, manifest.ErrDamaged):
		return new(manifest.Loading), fmt.Errorf("%w: remove it, then type the same command again; if files of a killed run are then in the way, move them out of the table", err)
	}
	return l, err
}

// checkLoading returns an error if the record of the load that is being made is damaged.
func (c *Catalog) checkLoading(ctx context.Context) error {
	_, err := loadingIn(ctx, c.fs, c.dir)
	return err
}

// setLoading records that load n is being made in dir.
func setLoading(ctx context.Context, fs dfs.FS, dir string, n int) error {
	return manifest.Write(ctx, fs, dfs.Join(dir, loadingName), &manifest.Loading{Version: manifest.Version, Load: n})
}

// beginReplacing records that the list of retired files may be of a later state than the manifest until endReplacing.
func (c *Catalog) beginReplacing(ctx context.Context) error {
	err := manifest.Write(ctx, c.fs, dfs.Join(c.dir, loadingName), &manifest.Loading{Version: manifest.Version, Replacing: true})
	if err != nil {
		return fmt.Errorf("replace files of %s: %w", c.dir, unwritable(err))
	}
	return nil
}

// endReplacing removes the record of beginReplacing.
func (c *Catalog) endReplacing(ctx context.Context) error {
	l, err := readLoading(ctx, c.fs, c.dir)
	if err != nil || !l.Replacing {
		return err
	}
	return c.fs.Remove(ctx, dfs.Join(c.dir, loadingName))
}

// begin records that load n is being made. Only the first call for a load writes a file.
func (c *Catalog) begin(ctx context.Context, n int) error {
	c.beginning.Lock()
	defer c.beginning.Unlock()
	if c.noted == n {
		return nil
	}
	if err := setLoading(ctx, c.fs, c.dir, n); err != nil {
		return fmt.Errorf("begin load %d: %w", n, unwritable(err))
	}
	c.noted = n
	return nil
}

// BeginFile records that the next load is being made, if name is the name of an HFile or roll of
// that load. Callers run it before they create the file. Lock has recorded a first load.
func (c *Catalog) BeginFile(ctx context.Context, name string) error {
	match := ofLoad.FindStringSubmatch(dfs.Base(name))
	if match == nil {
		return nil
	}
	n, err := strconv.Atoi(match[1])
	if err != nil || n == 1 || n != c.NextLoad() {
		return nil //nolint:nilerr // no load has such a number
	}
	return c.begin(ctx, n)
}

// endLoading removes the record that setLoading wrote, after the manifest has the load. It
// ignores errors, because an error would report a committed load as failed. The next Lock
// removes a record that remains.
func endLoading(ctx context.Context, fs dfs.FS, dir string) {
	_ = fs.Remove(ctx, dfs.Join(dir, loadingName))
}

// beginTable records in dir that the first load is being made, if dir has no manifest. If dir
// has a manifest that holds the recorded load, beginTable removes the record. The caller holds
// the lock.
func beginTable(ctx context.Context, fs dfs.FS, dir string) error {
	n, err := loadingIn(ctx, fs, dir)
	if err != nil {
		return err
	}
	there, err := hasManifest(ctx, fs, dir)
	switch {
	case err != nil:
		return err
	case !there && n == 1, there && n == 0:
		return nil
	case !there:
		return setLoading(ctx, fs, dir, 1)
	}
	m := new(manifest.Table)
	if err := read(ctx, fs, dfs.Join(dir, ManifestName), m); err != nil {
		return nil //nolint:nilerr // Open reports what is wrong with it
	}
	return endLoaded(ctx, fs, dir, n, m)
}

// endLoaded removes the record of load n if the manifest m has the load. Otherwise files of the load may be in dir, and the
// record shows that a killed load left them.
func endLoaded(ctx context.Context, fs dfs.FS, dir string, n int, m *manifest.Table) error {
	if n == 0 || n >= m.Next() {
		return nil
	}
	return fs.Remove(ctx, dfs.Join(dir, loadingName))
}
