// Package cli has the parts that bulkload and extract share as programs: exit statuses,
// the last line of standard output, flags, signals, and the choice of a file system and a
// table for an address.
package cli

import (
	iofs "io/fs"

	"usertrail/internal/run/exit"
)

// Statuses describes the exit statuses for -h.
const Statuses = `Exit status:
  0   done
  1   failed; finished work is kept, and the same command continues from there
  64  the command line or the job file is wrong; a retry fails again
  65  a file of a load has more bad or unknown records than the job allows, and nothing of
      it is loaded; or a replay did not load all records; or, with extract --strict, the
      table has foreign cells
  66  required input is missing: logs, a table, a list of users; or, with extract
      --require-days or --append, a day that is not loaded
  73  the output exists already
  75  not now: a server cannot be reached, there is too little space, or another run
      holds the lock; try again later
  99  nothing to do: no files for these dates, or everything was done before
`

// ErrUsage is wrapped by errors in the command line.
var ErrUsage = exit.New(exit.Usage, "wrong command line")

// ErrThere is wrapped if an output exists already.
var ErrThere = iofs.ErrExist

// Status returns the exit status of an error. A run that a script has ended has the status that
// the script reports.
func Status(err error) exit.Status {
	if s, ok := endedStatus(err); ok {
		return s
	}
	return exit.Of(err)
}
