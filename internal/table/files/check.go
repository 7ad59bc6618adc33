package files

import (
	"context"
	"errors"
	"time"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/precheck"
)

// Check implements precheck.Checker.
func (s Store) Check(ctx context.Context, load precheck.Load) []precheck.Check {
	var l precheck.List
	s.checkThere(ctx, &l, load.Open)
	ahead, err := s.try(ctx)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		l.Skips(err.Error(), precheck.Permissions, precheck.Clock)
	case err != nil:
		l.Fail(precheck.Permissions, err, "")
		l.Skip(precheck.Clock, "no file can be made in %s", s.Dir)
	default:
		l.OK(precheck.Permissions, "files can be made in %s", s.Dir)
		l.Clock("the file system of "+s.Dir, ahead)
	}
	l.Room(ctx, s.FS, precheck.StagingRoom, s.Dir, load.Bytes)
	l = append(l, catalog.CheckUnfinished(ctx, s.FS, s.Dir, load.Locked))
	l.Skips("a table of files has no settings of a family to check", precheck.FamilyThere, precheck.FamilyFit)
	l.Skip(precheck.Regions, "a table of files has no servers that open its regions")
	l.Skip(precheck.Versions, "a table of files has no server")
	return l
}

// try reports whether a load can make files in the table, and how far the clock of their file system is
// ahead of this machine's.
func (s Store) try(ctx context.Context) (ahead time.Duration, err error) {
	for _, folder := range []string{family, "loads", ""} {
		if ahead, err = catalog.Try(ctx, s.FS, s.Dir, folder); err != nil {
			return 0, err
		}
	}
	return ahead, nil
}

// checkThere checks that the table is there, and that its files are. It opens the table unless the
// caller has opened it.
func (s Store) checkThere(ctx context.Context, l *precheck.List, t precheck.OpenTable) {
	if t == nil || t.NextLoad() == 1 {
		opened, err := Open(ctx, s.FS, s.Dir)
		if err != nil {
			s.notThere(ctx, l, err)
			return
		}
		defer opened.Close()
		t = opened
	}
	if err := t.CheckFiles(ctx); err != nil {
		l.Fail(precheck.TableThere, err, "bulkload verify names all that is wrong")
		return
	}
	l.OK(precheck.TableThere, "%s, after %s", s.Dir, english.Plural(t.NextLoad()-1, "load", ""))
}

// notThere adds the check of a table that does not open.
func (s Store) notThere(ctx context.Context, l *precheck.List, err error) {
	if errors.Is(err, table.ErrNoTable) {
		err = catalog.CheckNew(ctx, s.FS, s.Dir)
	}
	if err != nil {
		l.Fail(precheck.TableThere, err, "")
		return
	}
	l.OK(precheck.TableThere, "%s is not there: the first load makes it", s.Dir)
}
