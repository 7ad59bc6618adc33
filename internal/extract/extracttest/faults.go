package extracttest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/table"
)

// Refusing are files in which one name cannot be created.
type Refusing struct {
	dfs.FS
	Base string // the name, without its directory
}

// Create implements dfs.FS.
func (r Refusing) Create(ctx context.Context, name string) (dfs.Pending, error) {
	if dfs.Base(name) == r.Base {
		return nil, fmt.Errorf("create %s: %w", name, dfstest.ErrInjected)
	}
	return r.FS.Create(ctx, name)
}

// Untouched is a table that must not be read.
type Untouched struct {
	table.Table
	T *testing.T
}

// Regions reports an error of the test.
func (u Untouched) Regions(context.Context) ([]split.Region, error) {
	u.T.Error("the table was read")
	return nil, errors.New("the table was read")
}
