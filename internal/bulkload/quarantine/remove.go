package quarantine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"

	"usertrail/internal/store/dfs"
)

// Remove removes the quarantine files of the delivered files at paths. nameOf returns the name of
// the quarantine file of a path.
func Remove(ctx context.Context, fs dfs.FS, paths []string, nameOf func(path string) string) error {
	if len(paths) == 0 {
		return nil
	}
	list, err := fs.List(ctx, dfs.Dir(nameOf("x")))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("quarantine: %w", inFolder(err))
	}
	there := map[string]bool{}
	for _, f := range list {
		there[dfs.Base(f.Name)] = true
	}
	for _, path := range paths {
		name := nameOf(path)
		if !there[dfs.Base(name)] {
			continue
		}
		if err := removeOf(ctx, fs, name, path); err != nil {
			return fmt.Errorf("quarantine %s: %w", name, err)
		}
	}
	return nil
}

// removeOf removes the quarantine file called name if its records are of the delivered file
// called path. In old releases, two paths could have one name.
func removeOf(ctx context.Context, fs dfs.FS, name, path string) error {
	f, err := fs.Open(ctx, name)
	if err != nil {
		return err
	}
	var first Record
	err = json.NewDecoder(f).Decode(&first)
	if err := errors.Join(err, f.Close()); err != nil || first.Path != path {
		return nil //nolint:nilerr // a file that is not ours stays
	}
	return fs.Remove(ctx, name)
}
