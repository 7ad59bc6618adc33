package fetch

import (
	"fmt"

	"usertrail/internal/behaviour"
	"usertrail/internal/layout"
)

// A Plan is how a user's rows are asked for.
type Plan string

// The plans. Auto takes gets as long as a user has few of them. Snapshot is Scan
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

// For is the plan that p comes to for a question: Get or Scan.
func (p Plan) For(w layout.Want) Plan { return p.of(len(w.Kinds), w.Span) }

// of settles Auto for a question that asks for some kinds on the days of a span.
func (p Plan) of(kinds int, span behaviour.Span) Plan {
	switch {
	case p == Get || p == Scan:
		return p
	case p == Snapshot:
		return Scan
	case kinds*span.Days() <= mostGets:
		return Get
	}
	return Scan
}
