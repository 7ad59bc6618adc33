// Package outcome describes how a run ended. The last line of a command, its entry in the run
// log, its OpenLineage event and its metrics are made from one Outcome.
package outcome

import (
	"bytes"
	"encoding/json"
	"time"

	"usertrail/internal/run/exit"
)

// An Outcome describes how a run ended.
type Outcome struct {
	Result  Result
	At      time.Time
	Seconds float64
	Status  exit.Status
	Error   string // empty after success
}

// A Result is the object of a command's last line, without the duration, the status and the
// error.
type Result interface {
	// Counted returns the counts of the last line that have one of the names below.
	Counted() Counts
}

// A Maker is a Result with a directory that the OpenLineage event names as the output.
type Maker interface {
	Result
	// Made returns the directory, or "" if the command could not know its name.
	Made() string
}

// Counts are the counts of a result. A count that the command does not report is absent. An
// estimate may have a fraction.
type Counts map[Name]float64

// Int returns a count without its fraction, or 0 if it is absent.
func (c Counts) Int(n Name) int64 { return int64(c[n]) }

// A Name names a count. It is also the key of the count in the last line.
type Name string

// The counts. Their meanings depend on the command.
const (
	Read        Name = "read"        // records of delivered files
	Loaded      Name = "loaded"      // records that were loaded
	Quarantined Name = "quarantined" // bad records
	Duplicate   Name = "duplicate"   // records that were skipped because another one has their key
	Skipped     Name = "skipped"     // records that were not requested, or checks that were not done
	Records     Name = "records"     // records of a table or of a sample
	Cells       Name = "cells"
	Files       Name = "files"   // delivered files, HFiles, or files of a result
	HFiles      Name = "hfiles"  // HFiles that a load wrote
	Already     Name = "already" // files that a run before had done
	Missing     Name = "missing" // days and behaviours without a file
	Failed      Name = "failed"  // files that were not loaded; absent if there are none
	Bytes       Name = "bytes"
	Users       Name = "users"  // users on the list
	Found       Name = "found"  // users with a behaviour in the span
	Active      Name = "active" // active users
	Kept        Name = "kept"   // users in the result
	Events      Name = "events"
)

// SetFailed sets the number of failed files. The last line has no list of them if it is empty.
func (c Counts) SetFailed(n int) {
	if n > 0 {
		c[Failed] = float64(n)
	}
}

// None is the Result of a command that reports no counts.
type None struct{}

// Counted implements Result.
func (None) Counted() Counts { return nil }

// Counts returns the counts of the result.
func (o *Outcome) Counts() Counts {
	if o.Result == nil {
		return nil
	}
	return o.Result.Counted()
}

// Made returns the directory of a Maker, or "" for other results.
func (o *Outcome) Made() string {
	if m, ok := o.Result.(Maker); ok {
		return m.Made()
	}
	return ""
}

// ending has the last keys of every last line.
type ending struct {
	Seconds float64     `json:"seconds"`
	Status  exit.Status `json:"status"`
	Error   string      `json:"error,omitempty"`
}

// Line returns the last line: the result, the duration, the status and the error as one JSON
// object.
func (o *Outcome) Line() ([]byte, error) {
	a, err := marshal(o.Result)
	if err != nil {
		return nil, err
	}
	b, err := marshal(ending{o.Seconds, o.Status, o.Error})
	if err != nil {
		return nil, err
	}
	if len(a) == len("{}") {
		return b, nil
	}
	return append(append(a[:len(a)-1], ','), b[1:]...), nil
}

// marshal encodes JSON without HTML escapes, so that < and & in errors and conditions stay
// readable.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// Seconds returns d in seconds, with three decimals at most. It returns 0 if d is negative, as
// after the clock was set back.
func Seconds(d time.Duration) float64 {
	return float64(max(d, 0).Round(time.Millisecond).Milliseconds()) / 1000
}
