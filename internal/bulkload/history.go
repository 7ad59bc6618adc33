package bulkload

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/dustin/go-humanize"

	"usertrail/internal/format/manifest"
	"usertrail/internal/run/quantity"
	"usertrail/internal/table"
)

// The memory in bytes for a delivered file, and for a day of a behaviour, in the ledgers of earlier loads.
const (
	oldFileMemory = 1250
	oldDayMemory  = 300
)

// Ledgers returns the ledgers of a table, if they fit into memory, see fitHistory.
func Ledgers(ctx context.Context, t table.Loader, memory int64, log *slog.Logger) ([]*manifest.Load, error) {
	if err := fitHistory(memory, t, log); err != nil {
		return nil, err
	}
	return table.Ledgers(ctx, t)
}

// fitHistory returns an error if the delivered files and the days of behaviours in the ledgers of a table need more memory than a process
// with some bytes of memory has for them. If they need three quarters of it, it logs a warning. It does not count loads of older versions.
func fitHistory(memory int64, t table.Table, log *slog.Logger) error {
	m := table.Known(t)
	if m == nil {
		return nil
	}
	var files, days int64
	for i := range m.Loads {
		files, days = files+m.Loads[i].Files, days+m.Loads[i].Days
	}
	need := files*oldFileMemory + days*oldDayMemory
	r := Resources{Memory: memory}.WithDefaults()
	if 4*need <= 3*r.listMemory() {
		return nil
	}
	enough := r.enoughFor((4*need + 2) / 3)
	if need <= r.listMemory() {
		log.Warn("the ledgers of the table fill most of the memory that --memory has for them, and a larger table is refused",
			"files", files, "days", days, "memory", humanize.IBytes(uint64(r.Memory)), "advice", "raise --memory to "+enough)
		return nil
	}
	return fmt.Errorf("%w: the ledgers of %s have %s and %s, counted for each behaviour, and --memory %s is not enough for them: raise --memory to %s",
		ErrRequest, t.Info().Address, quantity.Of(files, "delivered file"), quantity.Of(days, "day"), humanize.IBytes(uint64(r.Memory)), enough)
}
