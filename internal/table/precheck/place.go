package precheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// ErrNoRoom is wrapped if there is too little space for the files that would be written.
var ErrNoRoom = exit.New(exit.NotNow, "too little space")

// clockWarn is from what difference on clocks are warned of: locks and leases bear
// less than HBase itself, whose servers refuse 30 seconds between each other.
const clockWarn = time.Minute

// Room checks that about need bytes can be written in dir. The need is an estimate:
// twice as much is wanted, and half of it fails.
func (l *List) Room(ctx context.Context, files dfs.FS, name Name, dir string, need int64) {
	room, err := roomIn(ctx, files, dir)
	if err != nil {
		l.cannot(name, err)
		return
	}
	has := fmt.Sprintf("%s has room for %s (%s), about %s needed", dir, size(room.Bytes), room.Limit, size(need))
	switch advice := "make room, raise the quota, or load fewer days at a time"; {
	case room.Bytes < need/2 || room.Bytes == 0:
		l.Fail(name, fmt.Errorf("%w: %s", ErrNoRoom, has), advice)
	case room.Bytes < 2*need:
		l.Warn(name, advice, "%s", has)
	default:
		l.OK(name, "%s", has)
	}
}

// Demand returns ErrNoRoom, with advice, if dir has room for fewer than need bytes. It returns
// nil if the file system of dir does not know its room.
func Demand(ctx context.Context, files dfs.FS, dir string, need int64, advice string) error {
	room, err := roomIn(ctx, files, dir)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return err
	case room.Bytes < need:
		return fmt.Errorf("%w: %s has room for %s (%s), about %s needed: %s", ErrNoRoom, dir, size(room.Bytes), room.Limit, size(need), advice)
	}
	return nil
}

func roomIn(ctx context.Context, files dfs.FS, dir string) (dfs.Room, error) {
	s, err := dfs.Survey(files, dir)
	if err != nil {
		return dfs.Room{}, err
	}
	return s.Room(ctx, dir)
}

// Try reports whether files can be made in dir, and how far the clock of their file system is ahead of this machine's.
func Try(ctx context.Context, files dfs.FS, dir string) (ahead time.Duration, err error) {
	s, err := dfs.Survey(files, dir)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	made, err := s.Try(ctx, dir)
	if err != nil {
		return 0, Unwritable(err)
	}
	return made.Sub(began), nil
}

// Unwritable wraps the error of a table that cannot be written with table.ErrUnfit, and adds the next
// step. A retry does not help.
func Unwritable(err error) error {
	return dfs.Unwritable(err, table.ErrUnfit,
		"run as a user who may write there, or let the owner grant the right", "mount it for writing, or name another table")
}

// Clock adds the check of a clock that is ahead of this machine's.
func (l *List) Clock(whose string, ahead time.Duration) {
	detail := fmt.Sprintf("the clock of %s and this machine's agree", whose)
	if off := ahead.Round(time.Second); off > 0 {
		detail = fmt.Sprintf("the clock of %s is %s ahead of this machine's", whose, off)
	} else if off < 0 {
		detail = fmt.Sprintf("the clock of %s is %s behind this machine's", whose, -off)
	}
	if ahead.Abs() > clockWarn {
		l.Warn(Clock, "set both by a time server", "%s", detail)
		return
	}
	l.OK(Clock, "%s", detail)
}

// cannot adds a check that failed, or was skipped if it cannot be made there at all.
func (l *List) cannot(name Name, err error) {
	if errors.Is(err, errors.ErrUnsupported) {
		l.Skip(name, "%v", err)
		return
	}
	l.Fail(name, err, "")
}

func size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
