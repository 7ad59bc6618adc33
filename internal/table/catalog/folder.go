package catalog

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/precheck"
)

// unlistable adds the next step to the error of a folder of the catalog that cannot be read: this user may not read it, or something
// else has its name. It returns any other error as it is.
func unlistable(folder string, err error) error {
	step := "move it away and put the folder back from a copy of the table"
	switch folder {
	case plansName, quarantineName, convertName:
		step = "move it away"
	case piecesName:
		step = "move it away; if the table has loads in pieces, put the folder back from a copy of the table"
	}
	switch {
	case errors.Is(err, dfs.ErrNotDir):
		return fmt.Errorf("%w: a file, a pipe or a link to nothing has the name of the folder %s: %s", err, folder, step)
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%w: %w: a link to itself has the name of the folder %s: %s", table.ErrUnfit, err, folder, step)
	}
	return table.Unreadable(err)
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
