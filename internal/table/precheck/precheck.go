// Package precheck has the checks that run before a load writes anything. A run has one
// Check for each Name. If a check fails, the others still run. A load runs the checks when
// it holds the table's lock; `bulkload pre-check` runs them without the lock.
//
// The load checks its input and its temporary files. The store (Checker) checks the table,
// the rights and the free space. A check that could not run is Skipped, with the reason; it
// is never reported as OK. The checks change nothing. If only a trial shows whether a file
// may be written, the check creates a file and removes it.
package precheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/exit"
	"usertrail/internal/table"
)

// A Name identifies a check. docs/explanation/hbase.md lists all names. Names do not change, so scripts may use them.
type Name string

// The checks, in the order in which they are listed.
const (
	InputThere         Name = "input-there"
	InputReadable      Name = "input-readable"
	RecordsParse       Name = "records-parse"
	RequiredBehaviours Name = "required-behaviours"
	TableThere         Name = "table-there"
	FamilyThere        Name = "family-there"
	FamilyFit          Name = "family-fit"
	LayoutKnown        Name = "layout-known"
	SchemaFits         Name = "schema-fits"
	Regions            Name = "regions"
	Permissions        Name = "permissions"
	StagingRoom        Name = "staging-room"
	Versions           Name = "versions"
	Clock              Name = "clock"
	UnfinishedRun      Name = "unfinished-run"
	DiskForTemp        Name = "disk-for-temp"
)

// Names are all checks, in order.
var Names = []Name{
	InputThere, InputReadable, RecordsParse, RequiredBehaviours, TableThere, FamilyThere, FamilyFit, LayoutKnown, SchemaFits, Regions,
	Permissions, StagingRoom, Versions, Clock, UnfinishedRun, DiskForTemp,
}

// A State is the outcome of a check.
type State string

// The states.
const (
	OK      State = "ok"
	Warn    State = "warn"    // the load can begin, but it may fail later
	Fail    State = "fail"    // the load cannot begin
	Skipped State = "skipped" // the check did not run
)

// A Check is the outcome of one check.
type Check struct {
	Name   Name   `json:"name"`
	State  State  `json:"state"`
	Detail string `json:"detail"`           // the finding
	Advice string `json:"advice,omitempty"` // the next step
	Err    error  `json:"-"`                // of a Fail: it decides the exit status
}

// A Load describes a load that is about to begin to its store.
type Load struct {
	Span   behaviour.Span
	Bytes  int64 // estimate of its uncompressed text, in bytes
	HFiles bool  // the load may write HFiles
	Puts   bool  // the load may put cells
	Locked bool  // the load holds the table's lock
	// Open is the table of a load that is Locked. It is nil if the load has not opened it.
	Open OpenTable
	// TTL is the time to live of cells that the job requires of a live table. It is 0 if the job
	// requires none, or if Forever is set. With Forever, cells must not expire.
	TTL     time.Duration
	Forever bool
	// Traits are the traits of the job's layout.
	Traits layout.Traits
}

// An OpenTable is a table that a load has opened.
type OpenTable interface {
	table.FileChecker
	NextLoad() int
}

// A Checker is a store that can check its table.
type Checker interface {
	// Check runs the checks of the store, in any order.
	Check(ctx context.Context, load Load) []Check
}

// A List gathers checks.
type List []Check

// OK adds a check that found nothing wrong.
func (l *List) OK(name Name, format string, args ...any) {
	*l = append(*l, Check{Name: name, State: OK, Detail: fmt.Sprintf(format, args...)})
}

// Warn adds a check that found something that does not stop a load.
func (l *List) Warn(name Name, advice, format string, args ...any) {
	*l = append(*l, Check{Name: name, State: Warn, Detail: fmt.Sprintf(format, args...), Advice: advice})
}

// Fail adds a check that stops a load with err.
func (l *List) Fail(name Name, err error, advice string) {
	*l = append(*l, Check{Name: name, State: Fail, Detail: err.Error(), Advice: advice, Err: err})
}

// Skip adds a check that was not made.
func (l *List) Skip(name Name, format string, args ...any) {
	*l = append(*l, Check{Name: name, State: Skipped, Detail: fmt.Sprintf(format, args...)})
}

// Skips adds checks that were not made for one reason.
func (l *List) Skips(reason string, names ...Name) {
	for _, name := range names {
		l.Skip(name, "%s", reason)
	}
}

// Complete returns checks in order. It adds a Skipped check, with the given reason, for each of Names
// that has no check.
func Complete(checks []Check, reason string) []Check {
	out := slices.Clone(checks)
	for _, name := range Names {
		if !slices.ContainsFunc(out, func(c Check) bool { return c.Name == name }) {
			out = append(out, Check{Name: name, State: Skipped, Detail: reason})
		}
	}
	slices.SortStableFunc(out, func(a, b Check) int { return slices.Index(Names, a.Name) - slices.Index(Names, b.Name) })
	return out
}

// Count is how many checks are in a state.
func Count(checks []Check, s State) int {
	n := 0
	for _, c := range checks {
		if c.State == s {
			n++
		}
	}
	return n
}

// Failure joins the errors of all checks that failed, each with its check's name and
// advice; nil if none did. Errors with the status of the joined error come first.
func Failure(checks []Check) error {
	var errs []error
	for _, c := range checks {
		switch {
		case c.State != Fail:
		case c.Advice == "":
			errs = append(errs, fmt.Errorf("pre-check %s: %w", c.Name, c.Err))
		default:
			errs = append(errs, fmt.Errorf("pre-check %s: %w; %s", c.Name, c.Err, c.Advice))
		}
	}
	return errors.Join(exit.Ordered(errs)...)
}
