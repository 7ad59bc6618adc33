package fetch

import (
	"fmt"

	"usertrail/internal/format/layout"
)

// A Plan is the way in which a user's rows are read.
type Plan string

// The plans. Auto uses gets if a user has few rows, or if a user's rows are not adjacent.
// Snapshot is Scan on a table that is read from a snapshot's files.
const (
	Auto     Plan = "auto"
	Get      Plan = "get"
	Scan     Plan = "scan"
	Snapshot Plan = "snapshot"
)

// mostGets is the number of gets for a user that cost no more than a scan. A scan looks up
// its place once, and skips rows that are not wanted. On a server one get
// took as long as a scan of the day's rows, and two gets took twice as long.
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

// of replaces Auto by Get or Scan for a query. If a user's rows are not adjacent, it chooses
// Get: gets go to all servers at once, a scan goes to one server after the other.
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

// few reports whether a user has at most mostGets rows.
func few(reads *layout.Reads) bool {
	n := 0
	return reads.Rows(nil, func([]byte) bool { n++; return n <= mostGets })
}
