package testworld

import (
	"fmt"
	"strings"

	"usertrail/internal/behaviour"
)

// Job returns the job file for the world. It belongs in the folder that WriteLogs was given.
// Its table is the folder trails next to it.
func (w *W) Job() string {
	var b strings.Builder
	fmt.Fprintf(&b, "logs:\n  path: logs/{date}/{behaviour}.*\n  zone: %s\n  max_bad: 100%%\n", w.Schema.Zone)
	b.WriteString("table: trails\nuser: who\ntime: when\nbehaviours:\n")
	for i, k := range w.Schema.Kinds {
		fmt.Fprintf(&b, "  %s:\n    id: %d\n", k.Name, k.ID)
		if i == order {
			b.WriteString("    time: {column: when, format: epoch_us}\n")
		}
		if len(k.Fields) > 0 {
			b.WriteString("    fields:\n")
		}
		for _, f := range k.Fields {
			writeField(&b, i, f)
		}
	}
	return b.String()
}

func writeField(b *strings.Builder, kind int, f behaviour.Field) {
	if name := csvName(kind, f.Name); name != f.Name {
		fmt.Fprintf(b, "      %s: {type: %s, column: %s}\n", f.Name, f.Type, name)
		return
	}
	fmt.Fprintf(b, "      %s: %s\n", f.Name, f.Type)
}
