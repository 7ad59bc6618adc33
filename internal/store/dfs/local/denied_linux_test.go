package local_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
)

const nobody = 65534

// TestDenied removes the permission to enter a directory for one thread. Root may enter any
// directory, so for root this thread becomes the user nobody for the file system. The thread
// is never returned to the runtime and ends with its goroutine.
func TestDenied(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "denied")
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
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Getuid() == 0 {
			runtime.LockOSThread()
			if err := unix.Setfsuid(nobody); err != nil {
				t.Errorf("setfsuid: %v", err)
				return
			}
		}
		dfstest.Denied(t, local.New(), dir, "file")
		_, err := local.New().Lock(t.Context(), filepath.Join(filepath.Dir(dir), "lock"))
		if os.Getuid() == 0 && (!errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "which belongs to")) {
			t.Errorf("lock: %v, want whose the folder is", err)
		}
	}()
	<-done
}
