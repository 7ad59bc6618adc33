package catalog

import (
	"context"
	"errors"
	iofs "io/fs"

	"usertrail/internal/dfs"
	"usertrail/internal/manifest"
)

const loadingName = "loading.json"

// loadingIn returns the number of the load that is being made in dir, or was when its
// process was killed; 0 if there is none.
func loadingIn(ctx context.Context, fs dfs.FS, dir string) (int, error) {
	l := new(manifest.Loading)
	err := manifest.Read(ctx, fs, dfs.Join(dir, loadingName), l)
	if errors.Is(err, iofs.ErrNotExist) {
		return 0, nil
	}
	return l.Load, err
}

// setLoading says that load number n is being made in dir.
func setLoading(ctx context.Context, fs dfs.FS, dir string, n int) error {
	return manifest.Write(ctx, fs, dfs.Join(dir, loadingName), &manifest.Loading{Version: manifest.Version, Load: n})
}

// endLoading forgets what setLoading said, after the manifest has the load. Its error would
// say that the load failed; what stays is removed by the next Lock.
func endLoading(ctx context.Context, fs dfs.FS, dir string) {
	_ = fs.Remove(ctx, dfs.Join(dir, loadingName))
}

// beginTable says in dir, whose lock is held, that the first load is being made if no
// manifest is there. If one is, what a load left is forgotten once the manifest has it.
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
	if err := manifest.Read(ctx, fs, dfs.Join(dir, ManifestName), m); err != nil || n >= m.Next() {
		return nil //nolint:nilerr // Open says what is wrong with it
	}
	return fs.Remove(ctx, dfs.Join(dir, loadingName))
}
