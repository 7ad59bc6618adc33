package local

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"

	"usertrail/internal/store/dfs"
)

// TestALockThatIsOnlySharedIsWaitedFor shares a lock as Held does in a process that the machine stops for a
// while. Lock waits for it, and for a process that is stopped for good it does not wait forever.
func TestALockThatIsOnlySharedIsWaitedFor(t *testing.T) {
	for stopped, want := range map[time.Duration]error{time.Second: nil, time.Hour: dfs.ErrLocked} {
		t.Run(stopped.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				name := filepath.Join(t.TempDir(), "lock")
				shared := flock.New(name)
				if ok, err := shared.TryRLock(); !ok || err != nil {
					t.Fatalf("it cannot be shared: %v", err)
				}
				free := time.AfterFunc(stopped, func() {
					if err := shared.Unlock(); err != nil {
						t.Error(err)
					}
				})
				defer free.Stop()
				if held, _, err := New().(dfs.Surveyor).Held(t.Context(), name); held || err != nil {
					t.Errorf("it is held: %t, %v", held, err)
				}
				l, err := New().Lock(t.Context(), name)
				if !errors.Is(err, want) {
					t.Fatalf("%v, want %v", err, want)
				}
				if err == nil {
					err = l.Unlock()
				} else {
					err = shared.Unlock()
				}
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
}
