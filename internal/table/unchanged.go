package table

import (
	"context"
	"errors"
	"fmt"

	"usertrail/internal/run/exit"
)

// ErrUnsettled is wrapped while a part of a load may be in a table: its files are being handed
// to the regions, or the load was killed during that.
var ErrUnsettled = exit.New(exit.NotNow, "a load is in the table in part")

// ErrChanged is wrapped if a table has changed since it was opened. The caller may open it
// again and read it.
var ErrChanged = exit.New(exit.NotNow, "the table has changed since it was opened")

// Unchanged returns nil if t still has the committed state that it had when it was opened. All
// cells that were read in between then belong to this state. Otherwise it returns ErrChanged or
// ErrUnsettled. Single puts do not count as changes. Tables of files and snapshots never change.
func Unchanged(ctx context.Context, t Table) error {
	if c, ok := As[Changing](t); ok {
		return c.Unchanged(ctx)
	}
	return nil
}

// SameState is Unchanged for the end of reading. If a part of a load is in t, its error wraps
// ErrChanged, too.
func SameState(ctx context.Context, t Table) error {
	err := Unchanged(ctx, t)
	if errors.Is(err, ErrUnsettled) {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return err
}
