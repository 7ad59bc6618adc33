package files

import (
	"errors"
	"fmt"
	iofs "io/fs"
)

// gone explains the error of a missing file. The file existed when the manifest that names it
// was read.
func gone(err error) error {
	if !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w: if it was replaced by a compact or drop whose --keep-for has passed since this began, begin again; else bulkload verify says what is missing", err)
}
