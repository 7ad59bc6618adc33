package live

import (
	"context"
	"fmt"

	"usertrail/internal/table"
)

// Unchanged is what table.Unchanged asks. The handover is looked for before the manifest is
// read: a load that ends in between is in one of them.
func (t *Table) Unchanged(ctx context.Context) error {
	h, err := t.Handover(ctx)
	if err != nil {
		return err
	}
	now, err := t.VersionNow(ctx)
	if err != nil {
		return err
	}
	if had := t.Version(); now != had {
		return fmt.Errorf("table %s: %w: it had the version %s, and has %s", t.address, table.ErrChanged, had, now)
	}
	if h == nil || h.Load.Number < t.NextLoad() { // all of it is in
		return nil
	}
	return fmt.Errorf("table %s: %w: load %d is being handed to HBase's regions, or was killed while it was: if no load runs, run bulkload, which finishes it", t.address, table.ErrUnsettled, h.Load.Number)
}
