// Package exit defines the exit statuses of both commands. The package in which an error arises
// sets the status of the error. Of returns the status of any error.
package exit

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// A Status is the exit status of a process.
type Status int

// The exit statuses. Statuses 64 to 75 have the meanings of sysexits.h.
const (
	OK      Status = 0
	Failed  Status = 1   // finished work is kept, and the same command continues from there
	Usage   Status = 64  // the command line, the job file or a name is wrong; a retry fails again
	TooBad  Status = 65  // the data are bad: too many bad records, or foreign cells
	NoInput Status = 66  // required input is missing
	There   Status = 73  // the output exists already
	NotNow  Status = 75  // a later try may succeed
	Nothing Status = 99  // there was nothing to do
	Gone    Status = 141 // the status that a shell reports if a closed pipe ended the program
)

// priority lists the statuses of errors. If an error wraps several errors with a status, Of
// returns the status that is first here. Failed comes early: after the loss of a lock or a
// cancelled context, the other errors may be consequences.
var priority = []Status{Gone, Failed, Usage, TooBad, NoInput, NotNow, Nothing, There}

// standard lists the errors of the standard library that have a status.
var standard = []struct {
	err    error
	status Status
}{
	{context.Canceled, Failed},
	{syscall.EISDIR, Usage}, // the command line names a directory instead of a file
	{fs.ErrExist, There},
}

// A Carrier is an error that has an exit status.
type Carrier interface {
	error
	ExitStatus() Status
}

// New returns an error with a status.
func New(s Status, text string) error { return With(s, errors.New(text)) }

// With returns an error with a status. The error has the text of err and wraps err.
func With(s Status, err error) error { return &carrier{s, err} }

type carrier struct {
	status Status
	err    error
}

// Error implements error.
func (c *carrier) Error() string { return c.err.Error() }

// Unwrap returns the error without the status.
func (c *carrier) Unwrap() error { return c.err }

// ExitStatus implements Carrier.
func (c *carrier) ExitStatus() Status { return c.status }

// Of returns the status of err: OK if err is nil, and Failed if err wraps no error with a
// status.
func Of(err error) Status {
	if err == nil {
		return OK
	}
	found := carried(nil, err)
	for _, s := range standard {
		if errors.Is(err, s.err) {
			found = append(found, s.status)
		}
	}
	for _, s := range priority {
		if slices.Contains(found, s) {
			return s
		}
	}
	return Failed
}

// Ordered returns the errors of errs that are not nil. Errors with the status of the joined error come
// first, so that its message begins with the reason of the status.
func Ordered(errs []error) []error {
	status := Of(errors.Join(errs...))
	var first, others []error
	for _, err := range errs {
		switch {
		case err == nil:
		case Of(err) == status:
			first = append(first, err)
		default:
			others = append(others, err)
		}
	}
	return append(first, others...)
}

// carried appends the statuses of all errors that err wraps. errors.As would stop at the
// first.
func carried(to []Status, err error) []Status {
	if c, ok := err.(Carrier); ok {
		to = append(to, c.ExitStatus())
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return carried(to, e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			to = carried(to, inner)
		}
	}
	return to
}
