package bulkload

import (
	"fmt"
	"log/slog"

	"github.com/dustin/go-humanize"

	"usertrail/internal/format/manifest"
	"usertrail/internal/table"
)

// Bytes of memory for an entry of the ledgers of earlier loads, and of its text in a ledger.
const (
	oldFileMemory = 1250 // a delivered file
	oldFileText   = 520
	oldDayMemory  = 110 // a day of a behaviour
	oldDayText    = 220
)

// FitHistory returns an error if the ledgers of a table need more memory than a process with some bytes of memory has for them. If they need
// three quarters of it, it logs a warning. It counts nothing for loads of older versions.
func FitHistory(memory int64, t table.Table, log *slog.Logger) error {
	m := table.Known(t)
	if m == nil {
		return nil
	}
	files, need := historyOf(m.Loads)
	r := Resources{Memory: memory}.WithDefaults()
	if 4*need <= 3*r.listMemory() {
		return nil
	}
	enough := Resources{Memory: max(r.Memory, MinMemory)}
	for 4*need > 3*enough.listMemory() {
		enough.Memory *= 2
	}
	if need <= r.listMemory() {
		log.Warn("the ledgers of the table fill most of the memory that --memory has for them, and a larger table is refused",
			"files", files, "memory", humanize.IBytes(uint64(r.Memory)), "advice", "raise --memory to "+humanize.IBytes(uint64(enough.Memory)))
		return nil
	}
	return fmt.Errorf("%w: the ledgers of %s have %s delivered files, and --memory %s is not enough for them: raise --memory to %s",
		ErrRequest, t.Info().Address, humanize.Comma(files), humanize.IBytes(uint64(r.Memory)), humanize.IBytes(uint64(enough.Memory)))
}

// historyOf returns the number of delivered files of loads, and the memory of their ledgers in bytes.
func historyOf(loads []manifest.LoadRef) (files, memory int64) {
	for i := range loads {
		l := &loads[i]
		if l.Files == 0 {
			continue
		}
		days := max(0, l.Size-l.Files*oldFileText) / oldDayText
		files += l.Files
		memory += l.Files*oldFileMemory + days*oldDayMemory
	}
	return files, memory
}
