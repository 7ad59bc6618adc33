// Package precheck is what is looked at before a load writes anything: one Check for
// each Name, all of them, however many fail. A load makes them once it holds the
// table's lock; `bulkload pre-check` makes them without it.
//
// Who knows a thing checks it: the load its input and its temporary files, the store
// the table, the rights and the room there (Checker). What could not be looked at is
// Skipped, with the reason, and never silently OK. Nothing is changed, but that a file
// is made and taken away where only that tells whether it may be.
package precheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
)

// A Name is that of a check: docs/explanation/hbase.md has them all, and scripts may go by them.
type Name string

// The checks, in the order in which they are listed.
const (
	InputThere         Name = "input-there"
	InputReadable      Name = "input-readable"
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
	InputThere, InputReadable, RequiredBehaviours, TableThere, FamilyThere, FamilyFit, LayoutKnown, SchemaFits, Regions,
	Permissions, StagingRoom, Versions, Clock, UnfinishedRun, DiskForTemp,
}

// A State is how a check went.
type State string

// The states.
const (
	OK      State = "ok"
	Warn    State = "warn"    // the load can begin, and may not end as it should
	Fail    State = "fail"    // it cannot begin
	Skipped State = "skipped" // nobody looked
)

// A Check is one thing that was looked at.
type Check struct {
	Name   Name   `json:"name"`
	State  State  `json:"state"`
	Detail string `json:"detail"`           // what was found
	Advice string `json:"advice,omitempty"` // what to do about it
	Err    error  `json:"-"`                // of a Fail: it tells the exit status
}

// A Load is what stores are told of a load that is about to begin.
type Load struct {
	Span   behaviour.Span
	Bytes  int64 // about how much text it brings, uncompressed
	HFiles bool  // it may write HFiles
	Puts   bool  // it may put
	Locked bool  // it holds the table's lock
	// TTL is how long the job asks a live table to keep behaviours; 0 asks nothing,
	// unless Forever says that it asks for ever.
	TTL     time.Duration
	Forever bool
	// Traits are those of the job's layout.
	Traits layout.Traits
}

// A Checker is a store that can look at itself.
type Checker interface {
	// Check makes those checks that are the store's to make, in any order.
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

// Complete returns checks in order. Those of Names that nobody made are Skipped for
// the reason given.
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
// advice; nil if none did.
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
	return errors.Join(errs...)
}
