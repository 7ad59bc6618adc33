// Package report draws the result of an extract: one page of HTML that
// loads nothing from elsewhere. It also returns the same numbers as JSON.
//
//	open   reads the query in the manifest, and the days in the footers
//	sum    the parts are read, many at once, and their sums are added
//	draw   the sums become a Report
//	page   a Report becomes HTML
//
// # Same extract, same bytes
//
// Neither the number of workers nor the clock nor the machine change a byte of
// a page. The ten sample trails are the trails of the users with the smallest hashes.
//
// # Memory
//
// A pass over the parts keeps counts: by day and behaviour, by length of trail, by
// pair of behaviours, by time between two steps. Trails of n different lengths
// have at least n²/2 events together, so even a billion events have
// fewer than fifty thousand lengths. Times between steps are rounded to four digits. A
// trail that may become a sample keeps its marks: at most Positions for each
// behaviour. Each worker has such counts, and a page of each column.
package report

import (
	"encoding/json"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/outcome"
)

// A Report holds the numbers of one page. Times between steps are in seconds.
type Report struct {
	Counts
	Asked    Asked     `json:"asked"`
	Kinds    []Kind    `json:"behaviours"` // at most MostKinds, and one for the rest; the indexes of all other counts
	Days     Days      `json:"days"`
	Lengths  Lengths   `json:"lengths"`
	Follows  Follows   `json:"follows"`
	Sequence *Sequence `json:"sequence,omitempty"`
	Samples  Samples   `json:"samples"`
}

// Counts are the counts of the extract, with the names of its last line.
type Counts struct {
	Users  int64 `json:"users"` // requested users
	Found  int64 `json:"found"`
	Active int64 `json:"active"`
	Kept   int64 `json:"kept"` // users in the result
	Events int64 `json:"events"`
	Files  int64 `json:"files"`
	Bytes  int64 `json:"bytes"`
}

// Counted implements outcome.Result.
func (c Counts) Counted() outcome.Counts {
	return outcome.Counts{outcome.Users: float64(c.Users), outcome.Found: float64(c.Found), outcome.Active: float64(c.Active), outcome.Kept: float64(c.Kept), outcome.Events: float64(c.Events), outcome.Files: float64(c.Files), outcome.Bytes: float64(c.Bytes)}
}

// Asked is the query.
type Asked struct {
	Table      string               `json:"table"`
	Zone       string               `json:"zone,omitempty"` // zone of dates; "" if the extract does not have it
	Span       behaviour.Span       `json:"span"`
	Types      []string             `json:"types"`
	Active     string               `json:"active"`
	All        bool                 `json:"all"` // every user, and not the users of a list
	Conditions []manifest.Condition `json:"conditions,omitempty"`
}

// A Kind is a behaviour, or the sum of the less frequent ones.
type Kind struct {
	Name   string `json:"name"`
	Events int64  `json:"events"`
	Users  int64  `json:"users"`          // users with the behaviour; not counted for the sum
	Rest   int    `json:"rest,omitempty"` // number of behaviours in this sum; 0 if it is a single behaviour
}

// MarshalJSON implements json.Marshaler. The sum has no number of users.
func (k Kind) MarshalJSON() ([]byte, error) {
	type all Kind
	if k.Rest == 0 {
		return json.Marshal(all(k))
	}
	return json.Marshal(struct {
		all
		Users int64 `json:"users,omitempty"`
	}{all: all(k)})
}

// A Unit is the period of a line of Days.
type Unit string

// The units.
const (
	Day   Unit = "day"
	Week  Unit = "week" // from Monday on
	Month Unit = "month"
	Year  Unit = "year"
)

// Days counts events by date.
type Days struct {
	Unit    Unit     `json:"unit"`
	Periods []Period `json:"periods"` // without a gap
}

// A Period is a line of Days.
type Period struct {
	behaviour.Span
	Events []int64 `json:"events"` // by kind
	Total  int64   `json:"total"`
}

// Lengths counts trails by their number of events.
type Lengths struct {
	Median  int64 `json:"median"` // the smallest length that half of the trails do not exceed
	P90     int64 `json:"p90"`
	Longest int64 `json:"longest"`
	Bins    []Bin `json:"bins"` // without a gap, from the shortest to the longest
}

// A Bin counts the trails of From to To events.
type Bin struct {
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	Users int64 `json:"users"`
}

// Follows counts which behaviour comes right after which, in the trail of one user.
type Follows struct {
	Pairs  int64     `json:"pairs"`
	Counts [][]int64 `json:"counts"` // by kind, then by the kind that follows
	Totals []int64   `json:"totals"` // sum of each line of Counts
}

// A Sequence describes the result of --sequence.
type Sequence struct {
	Text  string `json:"text"`
	Steps []Step `json:"steps"`
	Gaps  []Gap  `json:"gaps"` // between each step and the next, and of three steps or more between the first and the last
}

// A Step is one of a sequence.
type Step struct {
	Behaviour string `json:"behaviour"`
	Within    string `json:"within,omitempty"` // of the step before
	Users     int64  `json:"users"`            // who came this far
}

// A Gap is the time between two steps of the users whose trails came out.
type Gap struct {
	From   int       `json:"from"` // number of the step, from 1
	To     int       `json:"to"`
	Users  int64     `json:"users"`
	Median float64   `json:"median"` // seconds, to four digits
	P90    float64   `json:"p90"`
	Bins   []TimeBin `json:"bins"` // without a gap, from the shortest to the longest
}

// A TimeBin is the users who took From up to, not including, To seconds.
type TimeBin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to,omitempty"` // 0 is without an end
	Users int64   `json:"users"`
}

// Samples are some trails on a time line.
type Samples struct {
	Span      behaviour.Span `json:"span"`      // of the time line, from midnight to midnight
	Positions int            `json:"positions"` // into which the time line is cut
	Trails    []Trail        `json:"trails"`
}

// A Trail is one user's.
type Trail struct {
	User   string `json:"user"`
	Events int64  `json:"events"`
	Marks  []Mark `json:"marks"`
}

// A Mark is all that a user did of one kind at one position of the time line.
type Mark struct {
	Kind     int   `json:"kind"`
	Position int   `json:"position"`
	Events   int64 `json:"events"`
}
