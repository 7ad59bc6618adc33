package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"usertrail/internal/store/dfs"
	"usertrail/internal/test/testkit"
)

func makeDir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, filepath.Join(dir, "who"), dir)
}

// TestRenamePortably runs the suite's checks of Publish for the second way to rename. Current
// file systems all support the first way.
func TestRenamePortably(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	makeDir(t, at("work"))
	makeDir(t, at("full"))
	for _, name := range []string{"file", "other"} {
		testkit.WriteFile(t, at(name), name)
	}
	for _, c := range []struct {
		from, to string
		want     error
	}{
		{"work", "full", fs.ErrExist},
		{"work", "file", fs.ErrExist},
		{"file", "other", fs.ErrExist},
		{"file", "full", fs.ErrExist},
		{"nothing", "new", fs.ErrNotExist},
		{"work", "nothing/new", fs.ErrNotExist},
		{"work", "new", nil},
		{"file", "new file", nil},
	} {
		if err := renamePortably(at(c.from), at(c.to)); !errors.Is(err, c.want) {
			t.Errorf("%s to %s: %v, want %v", c.from, c.to, err, c.want)
		}
	}
	if b, err := os.ReadFile(at("other")); string(b) != "other" {
		t.Errorf("other holds %q, %v", b, err)
	}
	if b, err := os.ReadFile(at("new/who")); string(b) != at("work") {
		t.Errorf("new/who holds %q, %v", b, err)
	}
	if _, err := os.Stat(at("file")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("file is still there: %v", err)
	}
}

func TestOneOfManyRenamesPortably(t *testing.T) {
	dir := t.TempDir()
	for round := range 50 {
		to := filepath.Join(dir, fmt.Sprint("out", round))
		errs := make([]error, 8)
		var wg sync.WaitGroup
		for i := range errs {
			from := filepath.Join(dir, fmt.Sprint("work", i))
			makeDir(t, from)
			wg.Go(func() { errs[i] = renamePortably(from, to) })
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, fs.ErrExist) {
				t.Errorf("one that came second: %v, want fs.ErrExist", err)
			}
		}
		if won != 1 {
			t.Fatalf("%d of %d have renamed, want 1", won, len(errs))
		}
	}
}

func TestPendingNames(t *testing.T) {
	dir := t.TempDir()
	for _, base := range []string{"a", "a b.csv", ".hidden", "节目.gz", strings.Repeat("节", 85), strings.Repeat("x", 255)} {
		f, err := createBeside(filepath.Join(dir, base))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if tmp := filepath.Base(f.Name()); !dfs.IsPending(tmp) || filepath.Dir(f.Name()) != dir {
			t.Errorf("%s is written as %s, which does not look pending or lies elsewhere", base, f.Name())
		}
	}
	for _, base := range []string{"a", ".a.tmp", "a.0123456789abcdef.tmp", ".a.0123456789ABCDEF.tmp", ".a.0123456789abcdef.tmp.gz", ".0123456789abcdef.tmp"} {
		if dfs.IsPending(base) {
			t.Errorf("%s looks pending", base)
		}
	}
}

// TestFailedCommitLeavesNothing creates a directory under the final name of the file.
func TestFailedCommitLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	p, err := New().Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	if _, err := p.Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	makeDir(t, name)
	for range 2 {
		if err := p.Commit(); err == nil || !strings.Contains(err.Error(), "commit "+name) {
			t.Errorf("Commit over a directory: %v, want an error that names it", err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "file" {
		t.Errorf("in the end there is %v, %v; want the directory alone", entries, err)
	}
}

// TestCancelledCommitLeavesNothing cancels the context between the last write and Commit.
func TestCancelledCommitLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	p, err := New().Create(ctx, filepath.Join(dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("the user has had enough")
	cancel(why)
	if err := p.Commit(); !errors.Is(err, why) {
		t.Errorf("Commit: %v, want the cause", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("in the end there is %v, %v; want nothing", entries, err)
	}
}

// TestFilesAreReadableByOthers checks the mode of files, because analysts need to read them.
// os.CreateTemp would exclude them.
func TestFilesAreReadableByOthers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "dir", "file")
	plain := filepath.Join(t.TempDir(), "plain")
	p, err := New().Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Commit(); err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, plain, "")
	got, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(plain)
	if err != nil {
		t.Fatal(err)
	}
	if got.Mode() != want.Mode() {
		t.Errorf("mode %v, want %v as for any file", got.Mode(), want.Mode())
	}
}

func TestListFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	testkit.WriteFile(t, at("far"), "linked to")
	for link, to := range map[string]string{"near": "far", "nowhere": "gone"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	infos, err := New().List(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, in := range infos {
		got[filepath.Base(in.Name)] = in.Size
	}
	if got["near"] != int64(len("linked to")) {
		t.Errorf("a link is listed with %d bytes, want the size of its file", got["near"])
	}
	if _, ok := got["nowhere"]; !ok {
		t.Error("a link to nowhere is not listed, so nobody learns of it")
	}
}

func TestRootsAreNotRemoved(t *testing.T) {
	for _, name := range []string{"/", "//", "/..", "."} {
		if err := New().Remove(t.Context(), name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Remove %q: %v, want fs.ErrInvalid", name, err)
		}
	}
	if _, err := New().Open(t.Context(), ""); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Open of no name: %v, want fs.ErrInvalid", err)
	}
}

// TestAFileOfOthersIsNoLock uses files called lock that no lock wrote.
func TestAFileOfOthersIsNoLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	for _, text := range []string{"my diary\n", "a process\n", strings.Repeat("process ", 1000), strings.Repeat(" ", 1000)} {
		testkit.WriteFile(t, name, text)
		_, err := New().Lock(t.Context(), name)
		if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("%.20q: %v, want fs.ErrExist that names the file", text, err)
		}
		if told := New().(dfs.LockTester).Lockable(t.Context(), name); told == nil || told.Error() != err.Error() {
			t.Errorf("%.20q: Lockable says %v, and Lock says %v", text, told, err)
		}
		if b, err := os.ReadFile(name); err != nil || string(b) != text {
			t.Errorf("%.20q has become %.20q, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "\n", self()} {
		testkit.WriteFile(t, name, text)
		if err := New().(dfs.LockTester).Lockable(t.Context(), name); err != nil {
			t.Errorf("%q: Lockable says %v", text, err)
		}
		l, err := New().Lock(t.Context(), name)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
}

// TestAPipeIsNoLock puts a pipe in the place of a lock. To read it would block.
func TestAPipeIsNoLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	_, taken := New().Lock(t.Context(), name)
	_, _, held := New().(local).Held(t.Context(), name)
	for what, err := range map[string]error{"Lock": taken, "Held": held} {
		if !errors.Is(err, fs.ErrExist) || !errors.Is(err, dfs.ErrSpecial) || !strings.Contains(err.Error(), name+": ") || !strings.HasSuffix(err.Error(), "move it away") {
			t.Errorf("%s: %v, want fs.ErrExist that names the pipe, and the next step", what, err)
		}
	}
}

// TestALinkOrADirectoryIsNoLock puts something else in the place of a lock.
func TestALinkOrADirectoryIsNoLock(t *testing.T) {
	for what, put := range map[string]func(name string) error{
		"a directory":       func(name string) error { return os.Mkdir(name, 0o700) },
		"a link to itself":  func(name string) error { return os.Symlink("lock", name) },
		"a link to nothing": func(name string) error { return os.Symlink("nowhere/lock", name) },
	} {
		name := filepath.Join(t.TempDir(), "lock")
		if err := put(name); err != nil {
			t.Fatal(err)
		}
		_, err := New().Lock(t.Context(), name)
		if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), name+": ") || !strings.HasSuffix(err.Error(), "no lock: move it away") {
			t.Errorf("%s: %v, want fs.ErrExist that names it, and the next step", what, err)
		}
		told := New().(dfs.LockTester).Lockable(t.Context(), name)
		if what == "a link to nothing" && (told == nil || told.Error() != err.Error()) { // Held finds the others
			t.Errorf("%s: Lockable says %v, and Lock says %v", what, told, err)
		}
	}
}

// TestALinkIsALock locks a file through a link to it. Lock makes the file if only its directory exists.
func TestALinkIsALock(t *testing.T) {
	dir := t.TempDir()
	for _, target := range []string{"new", "new", "../none/new"} {
		name := filepath.Join(dir, "table", "lock")
		if err := errors.Join(os.RemoveAll(filepath.Dir(name)), os.Mkdir(filepath.Dir(name), 0o700), os.Symlink(filepath.Join("..", target), name)); err != nil {
			t.Fatal(err)
		}
		told := New().(dfs.LockTester).Lockable(t.Context(), name)
		l, err := New().Lock(t.Context(), name)
		if (told == nil) != (err == nil) {
			t.Errorf("a link to %s: Lockable says %v, and Lock says %v", target, told, err)
		}
		if err == nil {
			err = l.Unlock()
		}
		if (err == nil) != (target == "new") {
			t.Errorf("a link to %s: %v", target, err)
		}
	}
}

func TestLockSaysWhoHoldsIt(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	l, err := New().Lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	_, err = New().Lock(t.Context(), name)
	host, _ := os.Hostname()
	for _, want := range []string{name, "locked by another run", fmt.Sprint("process ", os.Getpid()), host} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	// The error must not contain the text of a file that is not a lock file.
	testkit.WriteFile(t, name, strings.Repeat("x", 10_000))
	if _, err := New().Lock(t.Context(), name); err == nil || len(err.Error()) > 1000 {
		t.Errorf("the message is %v", err)
	}
}
