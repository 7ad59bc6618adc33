package catalog_test

import (
	"context"
	"errors"
	iofs "io/fs"
	"strings"
	"syscall"
	"testing"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// refusing makes no lock.
type refusing struct {
	dfs.FS
	err error
}

func (r refusing) Lock(context.Context, string) (dfs.Lock, error) { return nil, r.err }

// TestUnwritableTables are as unfit for a load as for the pre-check of one.
func TestUnwritableTables(t *testing.T) {
	for advice, err := range map[string]error{
		"run as a user": &iofs.PathError{Op: "lock", Path: "x/lock", Err: iofs.ErrPermission},
		"mount it for writing, or name another table": &iofs.PathError{Op: "lock", Path: "x/lock", Err: syscall.EROFS},
	} {
		_, got := catalog.Lock(t.Context(), refusing{local.New(), err}, t.TempDir())
		if !errors.Is(got, table.ErrUnfit) || !errors.Is(got, err) || !strings.Contains(got.Error(), advice) {
			t.Errorf("%v: got %v, want an unfit table and what to do", err, got)
		}
	}
	if _, got := catalog.Lock(t.Context(), refusing{local.New(), syscall.EIO}, t.TempDir()); errors.Is(got, table.ErrUnfit) {
		t.Errorf("got %v, want that another try may help", got)
	}
}

// unlistable lists no ledgers.
type unlistable struct{ dfs.FS }

func (u unlistable) List(ctx context.Context, dir string) ([]dfs.Info, error) {
	if dfs.Base(dir) == "loads" {
		return nil, &iofs.PathError{Op: "list", Path: dir, Err: iofs.ErrPermission}
	}
	return u.FS.List(ctx, dir)
}

// TestUnlistableLedgers checks that a table is unfit if this user may not list its ledgers, or not
// read its manifest.
func TestUnlistableLedgers(t *testing.T) {
	dir, _ := loadedTable(t)
	_, err := catalog.Open(t.Context(), unlistable{local.New()}, dir)
	if !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), "run as a user who may read the table") {
		t.Errorf("got %v, want an unfit table and what to do", err)
	}
}

// closed opens nothing.
type closed struct{ dfs.FS }

func (closed) Open(_ context.Context, name string) (dfs.File, error) {
	return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrPermission}
}

// TestUnreadableState reads the state of an HBase table before its manifest, as an extract does.
func TestUnreadableState(t *testing.T) {
	dir, _ := loadedTable(t)
	_, left := catalog.Left(t.Context(), closed{local.New()}, dir)
	_, handover := catalog.Handover(t.Context(), closed{local.New()}, dir)
	for name, err := range map[string]error{"begun.json": left, "handover.json": handover} {
		if !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "run as a user who may read the table") {
			t.Errorf("%s: got %v, want an unfit table and what to do", name, err)
		}
	}
}
