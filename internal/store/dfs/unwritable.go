package dfs

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Unwritable wraps wrong around the error of a folder in which this user can write nothing,
// because another try does not help. It adds what to do: denied if a permission is missing,
// readOnly if the file system is read-only. It returns any other error as it is.
func Unwritable(err, wrong error, denied, readOnly string) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w: %s", wrong, err, denied)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %w: %s", wrong, err, readOnly)
	}
	return err
}
