package dfstest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"usertrail/internal/store/dfs"
	"usertrail/internal/test/testkit"
)

// holdVar is the environment variable that names the lock for the process that holds it.
const holdVar = "USERTRAIL_DFSTEST_HOLD"

const held = "the lock is held"

func heldName() string { return os.Getenv(holdVar) }

// Holder reports whether this process is the one that Run started to hold a lock.
// An Opener then needs no directory, and must not wait for a resource that its parent holds.
func Holder() bool { return heldName() != "" }

// holdForever takes a lock, prints a line, and waits until it is killed or its parent process
// ends.
func holdForever(t *testing.T, fs dfs.FS, name string) {
	l, err := fs.Lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(held)
	io.Copy(io.Discard, os.Stdin)
	l.Unlock()
}

func testLock(t *testing.T, w world) {
	name := w.at("table", "lock")
	for range 3 {
		l, err := w.Lock(w.ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := w.Lock(w.ctx, name); !errors.Is(err, dfs.ErrLocked) {
			t.Errorf("a second Lock gave %v, %v; want dfs.ErrLocked", second, err)
		} else if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name the lock", err)
		}
		other, err := w.Lock(w.ctx, w.at("table", "other lock"))
		if err != nil {
			t.Errorf("another lock: %v", err)
		} else if err := other.Unlock(); err != nil {
			t.Error(err)
		}
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var locks []dfs.Lock
	for range 8 {
		wg.Go(func() {
			l, err := w.Lock(w.ctx, name)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				locks = append(locks, l)
			} else if !errors.Is(err, dfs.ErrLocked) {
				t.Errorf("one of many: %v, want dfs.ErrLocked", err)
			}
		})
	}
	wg.Wait()
	if len(locks) != 1 {
		t.Fatalf("%d of 8 hold the lock, want 1", len(locks))
	}
	if err := locks[0].Unlock(); err != nil {
		t.Error(err)
	}
}

// testNoLock puts a file and a directory in the place of a lock. Lock refuses both and does not change them. A Surveyor and
// LockTester reports them without taking the lock.
func testNoLock(t *testing.T, w world) {
	text := []byte("the diary of somebody")
	file, dir := w.at("file", "lock"), w.at("dir", "lock")
	if err := errors.Join(dfs.WriteFile(w.ctx, w, file, text), dfs.WriteFile(w.ctx, w, dfs.Join(dir, "diary"), text)); err != nil {
		t.Fatal(err)
	}
	before := Snapshot(t, w.FS, w.root)
	refused := func(name string, err error) bool {
		return errors.Is(err, fs.ErrExist) && errors.Is(err, dfs.ErrNoLock) && strings.Contains(err.Error(), name)
	}
	for _, name := range []string{file, dir} {
		if l, err := w.Lock(w.ctx, name); !refused(name, err) {
			t.Errorf("Lock gives %v, %v; want dfs.ErrNoLock", l, err)
		}
		held, _, err := survey(t, w).Held(w.ctx, name)
		if held {
			t.Errorf("%s is held", name)
		}
		if told := dfs.Lockable(w.ctx, w.FS, name); !refused(name, err) && !refused(name, told) {
			t.Errorf("Held says %v, and Lockable says %v; want dfs.ErrNoLock", err, told)
		}
	}
	if after := Snapshot(t, w.FS, w.root); !maps.Equal(before, after) {
		t.Errorf("%v has become %v", before, after)
	}
}

// testLockDropped takes and drops one lock in many goroutines. No two may hold it at once,
// and its file must not exist at the end.
func testLockDropped(t *testing.T, w world) {
	name := w.at("lock")
	var holders, taken atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				l, err := w.Lock(w.ctx, name)
				if errors.Is(err, dfs.ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				taken.Add(1)
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				if second, err := w.Lock(w.ctx, name); !errors.Is(err, dfs.ErrLocked) {
					t.Errorf("a second Lock gave %v, %v; want dfs.ErrLocked", second, err)
				}
				holders.Add(-1)
				for range 2 { // the second call does nothing
					if err := l.Drop(); err != nil {
						t.Error(err)
					}
				}
				if err := l.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if taken.Load() == 0 {
		t.Error("nobody took the lock")
	}
	if got := Snapshot(t, w.FS, w.root); len(got) > 0 {
		t.Errorf("%q is left", got)
	}
	if held, who, err := survey(t, w).Held(w.ctx, name); held || err != nil {
		t.Errorf("it is held: %t by %q, %v", held, who, err)
	}
}

func testLockKilled(t *testing.T, w world) {
	name := w.at("lock")
	holder := startHolder(t, name)
	defer holder.Stdin.Close()
	if l, err := w.Lock(w.ctx, name); !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("beside another process: %v, %v; want dfs.ErrLocked", l, err)
	} else {
		t.Logf("it says: %v", err)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := holder.Wait(); err == nil {
		t.Fatal("the holder ended before it was killed")
	}
	l, err := w.lockWithin(name, w.LockOutlives)
	if err != nil {
		t.Fatalf("after the holder was killed: %v", err)
	}
	if err := l.Unlock(); err != nil {
		t.Error(err)
	}
}

// lockWithin takes a lock that another process may hold for at most d.
func (w world) lockWithin(name string, d time.Duration) (dfs.Lock, error) {
	for end := time.Now().Add(d); ; time.Sleep(time.Second) {
		l, err := w.Lock(w.ctx, name)
		if !errors.Is(err, dfs.ErrLocked) || time.Now().After(end) {
			return l, err
		}
	}
}

// startHolder starts this test binary again, to take a lock and hold it. The process ends
// when it is killed or its standard input is closed.
func startHolder(t *testing.T, name string) *testkit.Twin {
	t.Helper()
	twin := testkit.StartTwin(t, topLevel(t), holdVar+"="+name, "TMPDIR="+t.TempDir())
	var said []string
	for twin.Out.Scan() {
		if twin.Out.Text() == held {
			return twin
		}
		said = append(said, twin.Out.Text())
	}
	t.Fatalf("the other process did not take the lock, but said:\n%s", strings.Join(said, "\n"))
	return nil
}

// topLevel returns a pattern that matches only the test that called Run: all parts of t's
// name except the last, which is the suite's own.
func topLevel(t *testing.T) string {
	parts := strings.Split(t.Name(), "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts[:len(parts)-1], "/")
}
