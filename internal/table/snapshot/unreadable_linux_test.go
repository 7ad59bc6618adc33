package snapshot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/table"
	"usertrail/internal/test/testkit"
)

// TestNobodyMayReadTheFiles removes the right to read the files.
func TestNobodyMayReadTheFiles(t *testing.T) {
	d := newDisk(t)
	d.root = testkit.Enterable(t)
	d.regions = []diskRegion{{id: 1}}
	d.take(t, "s")
	dir := filepath.Join(d.root, ".hbase-snapshot")
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o777)
	testkit.AsNobody(t, d.root, func(context.Context) {
		if _, err := d.open(t); !errors.Is(err, table.ErrUnfit) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%v, want ErrUnfit and the path", err)
		}
	})
}
