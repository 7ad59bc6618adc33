package bulkload

import (
	"errors"
	"fmt"
	"slices"

	"usertrail/internal/dfs"
)

// shown is how many of many errors are said one by one.
const shown = 5

// joined joins errors. Of many it shows the first few and says how many more
// there are; all of them can still be told apart by errors.Is.
func joined(errs []error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if len(errs) <= shown {
		return errors.Join(errs...)
	}
	return &many{errs}
}

// unlock releases a lock, and adds to err why it was not held any more: what a run did
// without the lock, another may have undone.
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
