// Package cli has the parts that bulkload and extract share as programs: exit statuses,
// the last line of standard output, flags, signals, and the choice of a file system and a
// table for an address.
package cli

import (
	"context"
	"errors"
	iofs "io/fs"
	"syscall"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/convert"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/extract"
	"usertrail/internal/extract/show"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/inspect"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/live"
	"usertrail/internal/table/precheck"
)

// Exit statuses, the same for both commands.
const (
	OK      = 0
	Failed  = 1
	Usage   = 64
	TooBad  = 65
	NoInput = 66
	There   = 73
	NotNow  = 75
	Nothing = 99
	Gone    = 141 // the status that a shell reports if a closed pipe ended the program
)

// Statuses describes the exit statuses for -h.
const Statuses = `Exit status:
  0   done
  1   failed; finished work is kept, and the same command continues from there
  64  the command line or the job file is wrong; a retry fails again
  65  more bad records than the job allows; nothing of the offending file is loaded.
      With --strict: the table has foreign cells
  66  required input is missing
  73  the output exists already
  75  not now: a server is unreachable, there is too little free space, or another run
      holds the lock; try again later
  99  nothing to do: no files for these dates, or everything was loaded before
`

// ErrUsage is wrapped by errors in the command line.
var ErrUsage = errors.New("wrong command line")

// Status returns the exit status of an error.
func Status(err error) int {
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	switch {
	case err == nil:
		return OK
	case statusOf(err) != 0:
		return statusOf(err)
	case is(extract.ErrGone):
		return Gone
	case is(context.Canceled, dfs.ErrLockLost): // another error may be a consequence
		return Failed
	case is(syscall.EISDIR, dfs.ErrNotDir): // a file instead of a directory, or a directory instead of a file
		return Usage
	case is(ErrUsage, dfs.ErrScheme, job.ErrJob, bulkload.ErrRequest, convert.ErrRequest, upkeep.ErrRequest, live.ErrAddress, hadoopconf.ErrConf, table.ErrUnfit, table.ErrNoManifest, extract.ErrQuestion, userlist.ErrList, manifest.ErrNewer, show.ErrQuestion, inspect.ErrUnknown, piece.ErrPiece):
		return Usage
	case is(bulkload.ErrTooBad, extract.ErrForeign):
		return TooBad
	case is(job.ErrNoInput, table.ErrNoTable):
		return NoInput
	case is(dfs.ErrLocked, dfs.ErrUnavailable, table.ErrUnreachable, table.ErrChanged, table.ErrUnsettled, precheck.ErrNoRoom, bulkload.ErrGrowing, piece.ErrMissing):
		return NotNow
	case is(bulkload.ErrNothing, extract.ErrNothing, upkeep.ErrNothing):
		return Nothing
	case is(ErrThere):
		return There
	}
	return Failed
}

// ErrThere is wrapped if an output exists already.
var ErrThere = iofs.ErrExist
