package table

import (
	"context"
	"errors"
	"fmt"
)

// ErrUnsettled is wrapped as long as a load may be in a table in part: it is being handed to
// the regions, or was killed while it was.
var ErrUnsettled = errors.New("a load is in the table in part")

// ErrChanged is wrapped where a table holds another state than the one with which it was
// opened. Opened again, it can be read.
var ErrChanged = errors.New("the table has changed since it was opened")

// Unchanged fails with ErrChanged or ErrUnsettled unless t still holds the committed state with
// which it was opened. What was read in between is then of this state. Cells that are put
// are seen as they come, and do not count. Tables of files and snapshots never change.
func Unchanged(ctx context.Context, t Table) error {
	if u, ok := t.(unrolled); ok {
		t = u.Table
	}
	if c, ok := t.(interface{ Unchanged(context.Context) error }); ok {
		return c.Unchanged(ctx)
	}
	return nil
}

// SameState is Unchanged for the end of reading: its error wraps ErrChanged also if a load is in
// t in part.
func SameState(ctx context.Context, t Table) error {
	err := Unchanged(ctx, t)
	if errors.Is(err, ErrUnsettled) {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return err
}
