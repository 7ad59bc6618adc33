package extract

import (
	"fmt"

	"usertrail/internal/format/layout"
	"usertrail/internal/run/exit"
)

// ErrForeign is wrapped by the error of an extract that is Strict and read foreign cells.
var ErrForeign = exit.New(exit.TooBad, "foreign cells in the table")

// CheckForeign returns an error if strict is set and f has foreign cells.
func CheckForeign(strict bool, f layout.Foreign) error {
	if !strict || f.Cells == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s, and --strict allows none: leave --strict out to skip them, or let the program that wrote them delete them; bulkload verify counts all", ErrForeign, f.First)
}
