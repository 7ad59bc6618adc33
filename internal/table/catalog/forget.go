package catalog

import (
	"context"
	"fmt"
	"slices"

	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// forgottenName is the folder into which Forget moves catalogs.
const forgottenName = "forgotten"

// Forget moves all files of the catalog in dir, except the lock and the run log, into a new
// folder DIR/forgotten/000001 and returns the folder. It moves the manifest last, so that a
// second call completes a killed call. If there is nothing to move, the error wraps
// table.ErrNoTable. The caller must hold the lock.
func Forget(ctx context.Context, fs dfs.FS, dir string) (string, error) {
	list, err := fs.List(ctx, dir)
	if err != nil && !absent(err) {
		return "", fmt.Errorf("forget %s: %w", dir, err)
	}
	list = slices.DeleteFunc(list, func(f dfs.Info) bool {
		return slices.Contains([]string{lockName, runsName, forgottenName}, dfs.Base(f.Name))
	})
	if len(list) == 0 || len(list) == 1 && dfs.Base(list[0].Name) == loadingName {
		return "", fmt.Errorf("%w: %s holds nothing to forget", table.ErrNoTable, dir)
	}
	if err := fs.Sweep(ctx, dir, dfs.Join(dir, forgottenName)); err != nil {
		return "", fmt.Errorf("forget %s: %w", dir, err)
	}
	aside, err := asideFor(ctx, fs, dir, list)
	if err != nil {
		return "", fmt.Errorf("forget %s: %w", dir, err)
	}
	slices.SortStableFunc(list, func(a, b dfs.Info) int { return manifestLast(a) - manifestLast(b) })
	for _, f := range list {
		if err := fs.Publish(ctx, f.Name, dfs.Join(aside, dfs.Base(f.Name))); err != nil {
			return "", fmt.Errorf("forget %s: %w", dir, err)
		}
	}
	return aside, nil
}

func manifestLast(f dfs.Info) int {
	if dfs.Base(f.Name) == ManifestName {
		return 1
	}
	return 0
}

// asideFor makes the folder for the files in list. If a killed call left the last folder
// incomplete, it returns the last folder; otherwise the next. A folder is complete if it has
// the manifest, or a file whose name is in list.
func asideFor(ctx context.Context, fs dfs.FS, dir string, list []dfs.Info) (string, error) {
	all, err := listDirs(ctx, fs, dfs.Join(dir, forgottenName))
	if err != nil {
		return "", err
	}
	number := len(all) + 1
	if number > 1 {
		there, err := fs.List(ctx, forgottenIn(dir, number-1))
		if err != nil {
			return "", err
		}
		complete := slices.ContainsFunc(there, func(f dfs.Info) bool {
			return manifestLast(f) > 0 || slices.ContainsFunc(list, func(g dfs.Info) bool { return dfs.Base(f.Name) == dfs.Base(g.Name) })
		})
		if !complete {
			number--
		}
	}
	aside := forgottenIn(dir, number)
	return aside, fs.Mkdir(ctx, aside)
}

func forgottenIn(dir string, number int) string {
	return dfs.Join(dir, forgottenName, fmt.Sprintf("%06d", number))
}
