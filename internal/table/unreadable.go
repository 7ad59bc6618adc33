package table

import (
	"errors"
	"fmt"
	iofs "io/fs"
)

// Unreadable wraps the error of a file of a table that this user may not read with ErrUnfit, and adds the next
// step. It returns any other error as it is.
func Unreadable(err error) error {
	if errors.Is(err, iofs.ErrPermission) && !errors.Is(err, ErrUnfit) {
		return fmt.Errorf("%w: %w: run as a user who may read the table, or let the owner grant the right", ErrUnfit, err)
	}
	return err
}
