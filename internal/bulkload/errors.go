package bulkload

import (
	"errors"
	"fmt"
)

// shown is how many of many errors are said one by one.
const shown = 5

// joined joins errors. Of many it shows the first few and says how many more
// there are; all of them can still be told apart by errors.Is.
func joined(errs []error) error {
	if len(errs) <= shown {
		return errors.Join(errs...)
	}
	return &many{errs}
}

type many struct{ errs []error }

func (m *many) Error() string {
	return fmt.Sprintf("%v\nand %d more", errors.Join(m.errs[:shown]...), len(m.errs)-shown)
}

func (m *many) Unwrap() []error { return m.errs }
