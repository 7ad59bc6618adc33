package local_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// spillVar is the environment variable that names the directory for the process that a test
// starts.
const spillVar = "USERTRAIL_LOCAL_SPILL"

// TestAPrivateDirectoryIsItsOwners tries any umask, and checks that Remove leaves nothing.
func TestAPrivateDirectoryIsItsOwners(t *testing.T) {
	dir := t.TempDir()
	if _, err := local.MakePrivate(filepath.Join(dir, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a missing directory: %v, want fs.ErrNotExist", err)
	}
	one, two := private(t, dir), private(t, dir)
	if one.Name() == two.Name() {
		t.Errorf("both are %s", one.Name())
	}
	for _, p := range []*local.Private{one, two} {
		fi, err := os.Stat(p.Name())
		if err != nil || fi.Mode().Perm() != 0o700 {
			t.Fatalf("%v, %v; want the mode 0700", fi, err)
		}
		testkit.WriteFile(t, filepath.Join(p.Name(), "run-000"), "sorted")
	}
	for _, p := range []*local.Private{one, two} {
		if err := p.Remove(); err != nil {
			t.Error(err)
		}
	}
	if left := entries(t, dir); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

// TestPrivateDirectoriesOfTheDeadAreRemoved kills a process that spills. The next process
// must remove its directory, and keep the directories of living processes and other files.
func TestPrivateDirectoriesOfTheDeadAreRemoved(t *testing.T) {
	if dir := os.Getenv(spillVar); dir != "" {
		p := private(t, dir)
		fmt.Println(p.Name())
		io.Copy(io.Discard, os.Stdin)
		return
	}
	dir := t.TempDir()
	mine := []string{"usertrail-spill-mine", "usertrail-4711", "other"}
	for _, name := range mine {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	living := private(t, dir)
	defer living.Remove()
	twin, dead := spiller(t, dir)
	if err := twin.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	twin.Wait()
	if _, err := os.Stat(dead); err != nil {
		t.Fatalf("after the kill: %v", err)
	}
	next := private(t, dir)
	defer next.Remove()
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("what the dead process left: %v", err)
	}
	for _, name := range append(mine, filepath.Base(living.Name())) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestPrivateDirectoriesAtOnce makes and removes many directories, which sweep at the same
// time.
func TestPrivateDirectoriesAtOnce(t *testing.T) {
	dir := t.TempDir()
	fail := make(chan error)
	for range 8 {
		go func() {
			for range 20 {
				p, err := local.MakePrivate(dir)
				if err == nil {
					if err = os.WriteFile(filepath.Join(p.Name(), "run"), nil, 0o600); err == nil {
						err = p.Remove()
					}
				}
				if err != nil {
					fail <- err
					return
				}
			}
			fail <- nil
		}()
	}
	for range 8 {
		if err := <-fail; err != nil {
			t.Error(err)
		}
	}
	if left := entries(t, dir); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

func private(t *testing.T, dir string) *local.Private {
	t.Helper()
	p, err := local.MakePrivate(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// spiller starts a process that has a directory, and returns the directory's name.
func spiller(t *testing.T, dir string) (*testkit.Twin, string) {
	t.Helper()
	twin := testkit.StartTwin(t, "^"+t.Name()+"$", spillVar+"="+dir)
	if !twin.Out.Scan() {
		t.Fatal("the other process has no directory")
	}
	return twin, twin.Out.Text()
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}
