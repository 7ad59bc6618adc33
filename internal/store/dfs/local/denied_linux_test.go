package local_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// TestDenied removes the permission to enter a directory. Root may enter any directory, so root does the
// test as the user nobody.
func TestDenied(t *testing.T) {
	parent := testkit.Enterable(t)
	dir := filepath.Join(parent, "denied")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(dir, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(dir, 0o700) })
	}
	testkit.AsNobody(t, parent, func(ctx context.Context) {
		dfstest.Denied(t, local.New(), dir, "file")
		_, err := local.New().Lock(ctx, filepath.Join(parent, "lock"))
		if os.Getuid() == 0 && (!errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "which belongs to")) {
			t.Errorf("lock: %v, want whose the folder is", err)
		}
	})
}
