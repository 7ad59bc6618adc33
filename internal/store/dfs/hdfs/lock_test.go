package hdfs_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// freezeVar is the environment variable that names the directory for the process that
// TestFrozenHolder starts.
const freezeVar = "USERTRAIL_HDFS_FROZEN"

// TestFrozenHolder stops a process that holds a lock until another process has taken the
// lock. When the first process continues, it must not be able to change anything.
func TestFrozenHolder(t *testing.T) {
	if dir := os.Getenv(freezeVar); dir != "" {
		holdAndWrite(t, dir)
		return
	}
	testkit.OnlyAll(t, "TestConforms, in which the holder of a lock is killed")
	c := clustertest.Get(t)
	dir := c.HDFS(t)
	holder := startFrozen(t, c, dir)
	if err := holder.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	l := lockWithin(t, as(c, ""), dfs.Join(dir, "lock"))
	defer l.Unlock()
	if err := holder.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	holder.Stdin.Close()
	for _, what := range []string{"commit", "create", "remove", "publish", "unlock"} {
		if !holder.Out.Scan() || holder.Out.Text() != what+" true" {
			t.Errorf("of %s it says %q, want that the lock is lost", what, holder.Out.Text())
		}
	}
	infos, err := as(c, "").List(t.Context(), dir)
	if err != nil || len(infos) != 2 {
		t.Errorf("there is %v, %v; want the lock and the file alone", infos, err)
	}
}

func startFrozen(t *testing.T, c *clustertest.Cluster, dir string) *testkit.Twin {
	t.Helper()
	twin := testkit.StartTwin(t, "^TestFrozenHolder$", freezeVar+"="+dir, "HADOOP_CONF_DIR="+c.ConfDir())
	t.Cleanup(func() {
		twin.Process.Kill()
		twin.Wait()
	})
	if !twin.Out.Scan() || twin.Out.Text() != "held" {
		t.Fatalf("the holder says %q", twin.Out.Text())
	}
	return twin
}

// holdAndWrite runs in the holder. When its standard input ends, it continues, and prints for
// each change whether it failed because of the lock.
func holdAndWrite(t *testing.T, dir string) {
	fsys := hdfs.New(hdfs.Config{})
	l, err := fsys.Lock(t.Context(), dfs.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, fsys, dfs.Join(dir, "file"), []byte("kept"))
	p, err := fsys.Create(t.Context(), dfs.Join(dir, "late"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("held")
	io.Copy(io.Discard, os.Stdin)
	say := func(what string, err error) { fmt.Println(what, errors.Is(err, dfs.ErrLockLost)) }
	say("commit", p.Commit())
	_, err = fsys.Create(t.Context(), dfs.Join(dir, "later"))
	say("create", err)
	say("remove", fsys.Remove(t.Context(), dfs.Join(dir, "file")))
	say("publish", fsys.Publish(t.Context(), dfs.Join(dir, "file"), dfs.Join(dir, "moved")))
	say("unlock", l.Unlock())
}

// lockWithin waits for a lock whose lease HDFS has not ended yet.
func lockWithin(t *testing.T, fsys dfs.FS, name string) dfs.Lock {
	t.Helper()
	for end := time.Now().Add(leaseFalls); ; time.Sleep(time.Second) {
		l, err := fsys.Lock(t.Context(), name)
		if err == nil {
			return l
		}
		if !errors.Is(err, dfs.ErrLocked) || time.Now().After(end) {
			t.Fatal(err)
		}
		if !strings.Contains(err.Error(), "process ") {
			t.Fatalf("%v does not say who holds it", err)
		}
	}
}

// TestTheLockOfADeadProcessIsFree kills a holder. The next process on the same machine must
// get the lock at once, and again after that process is killed.
func TestTheLockOfADeadProcessIsFree(t *testing.T) {
	c := clustertest.Get(t)
	dir := c.HDFS(t)
	name := dfs.Join(dir, "lock")
	for range 2 {
		holder := startFrozen(t, c, dir)
		defer holder.Stdin.Close()
		if _, err := as(c, "").Lock(t.Context(), name); !errors.Is(err, dfs.ErrLocked) || !strings.Contains(err.Error(), "which is running") {
			t.Errorf("next to the holder: %v, want that it is running", err)
		}
		if err := holder.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = holder.Wait()
		s, err := dfs.Survey(as(c, ""), name)
		if err != nil {
			t.Fatal(err)
		}
		if held, who, err := s.Held(t.Context(), name); held || err != nil {
			t.Errorf("after the holder was killed it is held by %q, %v", who, err)
		}
		fsys := as(c, "")
		l, err := fsys.Lock(t.Context(), name)
		if err != nil {
			t.Fatalf("after the holder was killed: %v", err)
		}
		if _, err := as(c, "").Lock(t.Context(), name); !errors.Is(err, dfs.ErrLocked) {
			t.Errorf("while the next has it: %v, want ErrLocked", err)
		}
		write(t, fsys, dfs.Join(dir, "file"), []byte("kept"))
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
}

// TestOneOfManyInherits kills a holder while many processes wait for its lock.
func TestOneOfManyInherits(t *testing.T) {
	c := clustertest.Get(t)
	dir := c.HDFS(t)
	holder := startFrozen(t, c, dir)
	defer holder.Stdin.Close()
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	var wg sync.WaitGroup
	got := make(chan dfs.Lock, 8)
	for range cap(got) {
		wg.Go(func() {
			l, err := as(c, "").Lock(t.Context(), dfs.Join(dir, "lock"))
			if err == nil {
				got <- l
			} else if !errors.Is(err, dfs.ErrLocked) {
				t.Errorf("one of many: %v, want ErrLocked", err)
			}
		})
	}
	wg.Wait()
	close(got)
	if len(got) > 1 {
		t.Errorf("%d hold the lock", len(got))
	}
	for l := range got {
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
}
