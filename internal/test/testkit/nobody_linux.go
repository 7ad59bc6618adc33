package testkit

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// nobody is the ID of a user who owns no file.
const nobody = 65534

// Enterable returns a new directory that every user may enter and only its owner may write. It is removed at
// t's end. t.TempDir may be below a directory that only its owner may enter, as $TMPDIR of make test is.
func Enterable(t testing.TB) string {
	t.Helper()
	for _, base := range []string{os.TempDir(), "/dev/shm", "/tmp"} {
		if !enterable(base) {
			continue
		}
		dir, err := os.MkdirTemp(base, "usertrail-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	t.Fatal("every user may enter none of $TMPDIR, /dev/shm and /tmp")
	return ""
}

// enterable reports whether every user may enter a directory and all directories above it.
func enterable(dir string) bool {
	for at := dir; ; at = filepath.Dir(at) {
		if fi, err := os.Stat(at); err != nil || fi.Mode()&1 == 0 {
			return false
		}
		if at == filepath.Dir(at) {
			return true
		}
	}
}

// AsNobody calls do as a user who is not root. Root may read and write any file, so for root the thread of do
// becomes the user nobody for the file system. Other threads do not. The thread is never returned to the
// runtime and ends with its goroutine. The user must be able to enter dir, so that do does not fail for
// another reason than the one that it tests.
func AsNobody(t testing.TB, dir string, do func(context.Context)) {
	t.Helper()
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
		if _, err := os.Stat(dir + "/."); err != nil {
			t.Errorf("before the test: %v", err)
			return
		}
		do(t.Context())
	}()
	<-done
}
