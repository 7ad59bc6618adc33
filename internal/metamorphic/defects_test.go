package metamorphic_test

import (
	"slices"
	"strings"
)

// A defect is one of the programs that is known and not mended. What shows it is not drawn.
// The names are those of -metamorphic.show, which has it drawn all the same.
type defect struct{ name, what string }

// The names of defects that drawers ask for.
const (
	foreignFields = "fields" // a job whose fields are inserted, dropped or reordered
	foreignOut    = "out"    // an extract into a directory that is no result
	staleRecords  = "stale"  // a replay of records of a file that was corrected and loaded whole
	movedParts    = "moved"  // a file that was loaded in part, and comes under another name
	lostLock      = "lock"   // a load whose lock is lost while it stands still
	otherJobsPuts = "puts"   // a killed load by puts that is done again by another job
)

// knownDefects are not mended yet. Remove an entry when it is mended.
var knownDefects []defect

// knows reports whether a defect is known, so that what shows it is left out.
func knows(name string) bool {
	if *show == "all" || slices.Contains(strings.Split(*show, ","), name) {
		return false
	}
	return slices.ContainsFunc(knownDefects, func(d defect) bool { return d.name == name })
}
