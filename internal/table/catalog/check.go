package catalog

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/precheck"
)

// CheckUnfinished looks in the catalog in dir for a running load and for the remains of a
// killed load. It takes no lock. locked means that the caller holds the lock.
func CheckUnfinished(ctx context.Context, fs dfs.FS, dir string, locked bool) precheck.Check {
	var l precheck.List
	name := precheck.UnfinishedRun
	left, err := leftBehind(ctx, fs, dir)
	switch {
	case err != nil:
		l.Fail(name, err, "")
		return l[0]
	case !locked:
		if c, done := checkLock(ctx, fs, dir); done {
			return c
		}
	}
	if left == "" {
		l.OK(name, "%s holds nothing of a killed load", dir)
	} else {
		l.Warn(name, "a load of the same files ends it; until then the table may be seen in part", "%s: %s", dir, left)
	}
	return l[0]
}

// checkLock reports whether the lock decides the check, and returns the check then.
func checkLock(ctx context.Context, fs dfs.FS, dir string) (c precheck.Check, done bool) {
	var l precheck.List
	var held bool
	var who string
	name := precheck.UnfinishedRun
	lock := dfs.Join(dir, lockName)
	s, err := dfs.Survey(fs, dir)
	if err == nil {
		held, who, err = s.Held(ctx, lock)
	}
	if err == nil || errors.Is(err, iofs.ErrPermission) { // a lock that may not be read may not be written either
		denied := dfs.Lockable(ctx, fs, lock)
		if denied != nil && !(held && errors.Is(denied, iofs.ErrExist)) { // a load looks into the file after it has the lock
			err = unwritable(denied)
		}
	}
	if errors.Is(err, iofs.ErrExist) || errors.Is(err, iofs.ErrPermission) { // the load says it so
		err = fmt.Errorf("table %s: %w", dir, err)
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		l.Skip(name, "whether a load runs: %v", err)
	case err != nil:
		l.Fail(name, err, "")
	case held:
		if who == "" {
			who = "its process is not known"
		}
		l.Fail(name, fmt.Errorf("table %s: %w: %s", dir, dfs.ErrLocked, who), "wait for it, or end it")
	default:
		return c, false
	}
	return l[0], true
}

// leftBehind describes the remains of a killed load that the next load must finish. It leaves
// out remains that the next load only removes.
func leftBehind(ctx context.Context, fs dfs.FS, dir string) (string, error) {
	if info, err := fs.Stat(ctx, dir); absent(err) || err == nil && !info.Dir {
		return "", nil // another check reports a table that is no directory
	}
	c := &Catalog{fs: fs, dir: dir, m: new(manifest.Table)}
	begun, err := c.Begun(ctx)
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return "", err
	}
	h, err := c.Handover(ctx)
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return "", err
	}
	if _, err := c.Plans(ctx); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return "", err
	}
	if err := checkPlans(ctx, fs, dir); err != nil {
		return "", err
	}
	switch {
	case h != nil:
		return "the files of a load were being handed to HBase when it was killed", nil
	case len(begun) > 0:
		return fmt.Sprintf("a killed load, or pieces that are not committed, put records of %s; the first is %s", english.Plural(len(begun), "file", ""), begun[0].Path), nil
	}
	return "", nil
}

// checkPlans returns the error with which a sweep fails if something else has the name of the folder of a plan whose pieces have files.
func checkPlans(ctx context.Context, fs dfs.FS, dir string) error {
	pieces, err := listDirs(ctx, fs, dfs.Join(dir, piecesName))
	if err != nil {
		return err
	}
	for _, of := range pieces {
		if _, err := hasPlan(ctx, fs, dir, dfs.Base(of)); err != nil {
			return err
		}
	}
	return nil
}

func absent(err error) bool {
	return errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrNotDir)
}
