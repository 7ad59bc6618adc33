package live

import (
	"context"
	"fmt"
	"strings"

	"usertrail/internal/table"
)

// Unchanged is called by table.Unchanged. It looks for the handover and for lost files before it
// reads the manifest. A load that ends in between is then in one of them.
func (t *Table) Unchanged(ctx context.Context) error {
	h, err := t.Handover(ctx)
	if err != nil {
		return err
	}
	lost, err := t.Lost(ctx)
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
	if h == nil && len(lost) > 0 {
		return fmt.Errorf("table %s: %w: HFiles of a killed load are gone, and other HFiles of it are in the table: load its files again by bulkload: %s", t.address, table.ErrUnsettled, strings.Join(lost, ", "))
	}
	if h == nil || h.Load.Number < t.NextLoad() { // the load is complete
		return nil
	}
	return fmt.Errorf("table %s: %w: load %d is being handed to HBase's regions, or was killed while it was: if no load runs, run bulkload, which finishes it", t.address, table.ErrUnsettled, h.Load.Number)
}
