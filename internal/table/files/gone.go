package files

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"syscall"

	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// gone explains the error of a missing file, or of a directory, pipe, socket or device in its place. The file
// existed when the manifest that names it was read.
func gone(err error) error {
	if errors.Is(err, syscall.EISDIR) || errors.Is(err, dfs.ErrSpecial) {
		return table.Damaged("%v", err) // without its status: for other commands the file is missing
	}
	if !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w: if it was replaced by a compact or drop whose --keep-for has passed since this command began, repeat the command; otherwise run bulkload verify, which names the missing files", err)
}
