package bulkload

import (
	"errors"
	"fmt"
	"slices"

	"usertrail/internal/store/dfs"
)

// shown is the number of errors that a joined error prints.
const shown = 5

// joined joins errors. If there are more than shown, the message has the first of them and the
// number of the others. errors.Is finds all of them.
func joined(errs []error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if len(errs) <= shown {
		return errors.Join(errs...)
	}
	return &many{errs}
}

// unlock releases a lock. If the lock was lost before, unlock adds the reason to err: another
// run may have undone the changes that this run made without the lock.
func unlock(lock dfs.Lock, err *error) {
	if fail := lock.Unlock(); fail != nil {
		*err = errors.Join(*err, fmt.Errorf("%w: run the same command again: what the table has already it leaves alone", fail))
	}
}

type many struct{ errs []error }

func (m *many) Error() string {
	return fmt.Sprintf("%v\nand %d more", errors.Join(m.errs[:shown]...), len(m.errs)-shown)
}

func (m *many) Unwrap() []error { return m.errs }
