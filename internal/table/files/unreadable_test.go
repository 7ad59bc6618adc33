package files_test

import (
	"context"
	"errors"
	iofs "io/fs"
	"strings"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/run/exit"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/table/tabletest"
)

// closed opens no HFile and no roll, as if the user may not read them.
type closed struct{ dfs.FS }

func (c closed) Open(ctx context.Context, name string) (dfs.File, error) {
	if strings.HasSuffix(name, ".hfile") || strings.HasSuffix(name, ".roll") {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrPermission}
	}
	return c.FS.Open(ctx, name)
}

// TestAFileThatMayNotBeReadIsNotDamaged reads a table whose HFiles and rolls the user may not read. The error has
// the status and the next step of a missing right.
func TestAFileThatMayNotBeReadIsNotDamaged(t *testing.T) {
	store := files.Store{FS: local.New(), Dir: t.TempDir()}
	tabletest.Load(t, tabletest.Files, store)
	opened, err := files.Open(t.Context(), closed{store.FS}, store.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	f := opened.Files()[0]
	q := table.Query{Ranges: func(yield func(split.Region) bool) { yield(split.Region{}) }, Span: f.Span}
	read := opened.Read(t.Context(), q, func(*cell.Cell) error { return nil })
	_, users := opened.Users(t.Context(), split.Region{}, f.Span)
	_, staged := opened.Staged(t.Context(), f.Roll)
	for what, err := range map[string]error{"Read": read, "Users": users, "Staged": staged} {
		if exit.Of(err) != exit.Usage || errors.Is(err, table.ErrDamaged) || !errors.Is(err, iofs.ErrPermission) || !strings.HasSuffix(err.Error(), ": run as a user who may read the table, or let the owner grant the right") {
			t.Errorf("%s: status %d, %v; want 64 and the next step", what, exit.Of(err), err)
		}
	}
}
