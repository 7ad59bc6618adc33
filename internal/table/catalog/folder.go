package catalog

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"strings"
	"syscall"
	"time"

	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/precheck"
)

// unlistable adds the next step to the error of a folder of the catalog that cannot be read: this user may not read it, or something
// else has its name. It returns any other error as it is.
func unlistable(folder string, err error) error {
	switch {
	case errors.Is(err, dfs.ErrNotDir):
		return fmt.Errorf("%w: a file, a pipe or a link to nothing has the name of the folder %s: %s", err, folder, moveFolder(folder))
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%w: %w: a link to itself has the name of the folder %s: %s", table.ErrUnfit, err, folder, moveFolder(folder))
	}
	return table.Unreadable(err)
}

// moveFolder returns the next step for something else in the place of a folder of the catalog.
func moveFolder(folder string) string {
	switch {
	case folder == plansName, folder == quarantineName, folder == convertName:
		return "move it away"
	case folder == piecesName:
		return "move it away; if the table has loads in pieces, put the folder back from a copy of the table"
	case strings.HasPrefix(folder, plansName+"/"):
		return planAgain
	}
	return "move it away and put the folder back from a copy of the table"
}

// checkFolder returns an error with the next step if something else has the name of a folder of the catalog in dir. The folder need not
// exist. A link to nothing is an error, because the files of the folder may be on a disk that is not mounted.
func checkFolder(ctx context.Context, fs dfs.FS, dir, folder string) error {
	at := dfs.Join(dir, folder)
	info, err := fs.Stat(ctx, at)
	switch {
	case err == nil && !info.Dir:
		err = &iofs.PathError{Op: "list", Path: at, Err: dfs.ErrNotDir}
	case errors.Is(err, iofs.ErrNotExist):
		var link bool
		if link, err = dfs.IsLink(ctx, fs, at); link {
			return fmt.Errorf("list %s: %w: a link to nothing has the name of the folder %s: if it leads to a disk, mount the disk; otherwise %s",
				at, dfs.ErrNotDir, folder, moveFolder(folder))
		}
	}
	return unlistable(folder, err)
}

// Try makes a file in a folder of the table in dir, as precheck.Try does. If something else has the name of the folder, the error has the
// next step.
func Try(ctx context.Context, fs dfs.FS, dir, folder string) (ahead time.Duration, err error) {
	ahead, err = precheck.Try(ctx, fs, dfs.Join(dir, folder))
	if errors.Is(err, dfs.ErrNotDir) || errors.Is(err, syscall.ELOOP) {
		if info, fail := fs.Stat(ctx, dir); fail == nil && info.Dir && folder != "" {
			return 0, unlistable(folder, err)
		}
	}
	return ahead, err
}

// CheckBaseWritable returns an error if the base of the table in dir cannot be written. Sweep writes the base after the manifest is replaced:
// then the change could not be reported as failed any more. The caller holds the table's lock.
func CheckBaseWritable(ctx context.Context, fs dfs.FS, dir string) error {
	base := dfs.Join(dir, baseName)
	if err := fs.Mkdir(ctx, base); err != nil {
		return unlistable(baseName, unwritable(err))
	}
	_, err := precheck.Try(ctx, fs, base)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
