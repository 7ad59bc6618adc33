package fetch

import (
	"fmt"

	"usertrail/internal/layout"
)

// A Plan is how a user's rows are asked for.
type Plan string

// The plans. Auto takes gets where a user has few rows, or rows that lie apart. Snapshot is Scan
// of a table that is read from a snapshot's files.
const (
	Auto     Plan = "auto"
	Get      Plan = "get"
	Scan     Plan = "scan"
	Snapshot Plan = "snapshot"
)

// mostGets is how many gets for a user are no dearer than a scan: a scan finds its
// place once, and passes over rows that were not asked for. On a server one get
// took as long as a scan of the day's rows, two took twice as long.
const mostGets = 1

// ParsePlan reads a plan's name; no name is Auto.
func ParsePlan(s string) (Plan, error) {
	switch p := Plan(s); p {
	case "":
		return Auto, nil
	case Auto, Get, Scan, Snapshot:
		return p, nil
	}
	return "", fmt.Errorf("plan %q is none of auto, get, scan, snapshot", s)
}

// of settles Auto for a user's rows of a question. Where these lie apart, gets go to all
// servers at once, and a scan to one after the other.
func (p Plan) of(reads *layout.Reads, apart bool) Plan {
	switch {
	case p == Get || p == Scan:
		return p
	case p == Snapshot || reads.Rows == nil:
		return Scan
	case apart || few(reads):
		return Get
	}
	return Scan
}

// few says whether a user has no more than mostGets rows.
func few(reads *layout.Reads) bool {
	n := 0
	return reads.Rows(nil, func([]byte) bool { n++; return n <= mostGets })
}
