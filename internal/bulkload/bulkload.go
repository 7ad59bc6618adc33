// Package bulkload has the errors and results that the commands of bulkload share.
package bulkload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

var (
	// ErrRequest is wrapped if the command line requests something impossible.
	ErrRequest = exit.New(exit.Usage, "refused")
	// ErrTooBad is wrapped if a file has more bad records than the job allows. Nothing of
	// that file is loaded. Other files are loaded.
	ErrTooBad = exit.New(exit.TooBad, "more bad records than the job allows")
	// ErrLeft is wrapped if a replay did not load all records of a quarantine file. Their lines stay, or they move to
	// another quarantine file.
	ErrLeft = exit.New(exit.TooBad, "not all records are loaded")
	// ErrChanged is wrapped if a file differs from the file that was loaded under its name.
	ErrChanged = errors.New("changed after it was loaded")
	// ErrNothing is wrapped if there was nothing to do.
	ErrNothing = exit.New(exit.Nothing, "nothing to do")
	// ErrGrowing is wrapped by the error for a delivered file that is, or may be, still being
	// written.
	ErrGrowing = exit.New(exit.NotNow, "it is still being written")
)

// Shown is the number of errors that a joined error prints, of names that Few prints, and of fields that NotRead.Warn logs.
const Shown = 5

// Joined joins errors. Errors with the exit status of the joined error come first. If there are more than
// Shown, the message has the first of them and the number of the others. errors.Is finds all of them.
func Joined(errs []error) error {
	errs = exit.Ordered(errs)
	if len(errs) <= Shown {
		return errors.Join(errs...)
	}
	return &many{errs}
}

type many struct{ errs []error }

func (m *many) Error() string {
	return fmt.Sprintf("%v\nand %d more", errors.Join(m.errs[:Shown]...), len(m.errs)-Shown)
}

func (m *many) Unwrap() []error { return m.errs }

// Few joins names. If there are more than Shown, the text has the first of them and the number of the
// others.
func Few(names []string) string { return FewOf(names[:min(len(names), Shown)], len(names)) }

// FewOf is as Few, for the first of n names.
func FewOf(first []string, n int) string {
	if more := n - len(first); more > 0 {
		first = append(slices.Clone(first), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(first, ", ")
}

// StopsAll reports whether every later piece of the work would meet an error, too: the lock, the cluster or the
// file system cannot be had, or the run is stopped.
func StopsAll(err error) bool {
	for _, all := range []error{dfs.ErrLocked, dfs.ErrLockLost, dfs.ErrUnavailable, table.ErrUnreachable, context.Canceled} {
		if errors.Is(err, all) {
			return true
		}
	}
	return false
}

// Unlock releases a lock. If the lock was lost before, Unlock adds the reason to err: another
// run may have undone the changes that this run made without the lock.
func Unlock(lock dfs.Lock, err *error) {
	if fail := lock.Unlock(); fail != nil {
		*err = errors.Join(*err, fmt.Errorf("%w: run the same command again: it keeps the records that the table has", fail))
	}
}

// Failures collects the delivered files whose records are not loaded.
type Failures struct {
	Files []Failed
	errs  []error
}

// Add adds a file and the reason.
func (f *Failures) Add(path string, err error) {
	f.Files = append(f.Files, Failed{Path: path, Error: err.Error()})
	f.errs = append(f.errs, err)
}

// Err joins first, which may be nil, and the reasons.
func (f *Failures) Err(first error) error { return Joined(append([]error{first}, f.errs...)) }
