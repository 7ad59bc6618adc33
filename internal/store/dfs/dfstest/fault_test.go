package dfstest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"testing"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
)

// save is a typical small program for faults. Under a lock it writes a directory under a
// temporary name, publishes it, and reads it back.
func save(ctx context.Context, fs dfs.FS, root string) (err error) {
	lock, err := fs.Lock(ctx, dfs.Join(root, "lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if _, err := fs.Stat(ctx, dfs.Join(root, "out")); !errors.Is(err, iofs.ErrNotExist) {
		return err // it exists, or the state is unknown
	}
	work := dfs.Join(root, ".work")
	if err := errors.Join(fs.Sweep(ctx, root), fs.Remove(ctx, work), fs.Mkdir(ctx, work)); err != nil {
		return err
	}
	for i := range 2 {
		if err := saveFile(ctx, fs, dfs.Join(work, fmt.Sprint("part-", i))); err != nil {
			return err
		}
	}
	if _, err := fs.List(ctx, work); err != nil {
		return err
	}
	return fs.Publish(ctx, work, dfs.Join(root, "out"))
}

func saveFile(ctx context.Context, fs dfs.FS, name string) error {
	p, err := fs.Create(ctx, name)
	if err != nil {
		return err
	}
	defer p.Abort()
	for _, word := range []string{"one and ", "two"} {
		if _, err := io.WriteString(p, word); err != nil {
			return err
		}
	}
	if err := p.Commit(); err != nil {
		return err
	}
	return check(ctx, fs, name)
}

func check(ctx context.Context, fs dfs.FS, name string) (err error) {
	f, err := fs.Open(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := make([]byte, 7)
	if _, err := io.ReadFull(f, b); err != nil {
		return err
	}
	_, err = f.ReadAt(b[:3], 8)
	return err
}

var saved = map[string]string{"out/part-0": "one and two", "out/part-1": "one and two"}

// visible returns everything that can be seen below root, except the lock and the working
// directory.
func visible(t *testing.T, fs dfs.FS, root string) map[string]string {
	got := dfstest.Snapshot(t, fs, root)
	maps.DeleteFunc(got, func(name, _ string) bool { return name == "lock" || name[:1] == "." })
	return got
}

// TestEveryOperationCanFail fails each operation of save in each mode. The error must wrap
// the cause, nothing incomplete may be published, and another run must succeed.
func TestEveryOperationCanFail(t *testing.T) {
	for _, mode := range dfstest.Modes {
		t.Run(fmt.Sprint("mode ", mode), func(t *testing.T) {
			n := 0
			for ; ; n++ {
				disk, root := local.New(), t.TempDir()
				faulty := dfstest.FaultAt(disk, n, mode)
				err := save(t.Context(), faulty, root)
				if err == nil {
					if faulty.Count() != n {
						t.Errorf("ended well after %d operations, with a fault at %d", faulty.Count(), n)
					}
					break
				}
				if !errors.Is(err, dfstest.ErrInjected) {
					t.Fatalf("fault at %d: lost the cause: %v", n, err)
				}
				if got := visible(t, disk, root); len(got) > 0 && !maps.Equal(got, saved) {
					t.Errorf("fault at %d (%v): half published: %q", n, err, got)
				}
				if err := save(t.Context(), disk, root); err != nil {
					t.Errorf("fault at %d (%v): second run: %v", n, err, err)
				}
				if got := visible(t, disk, root); !maps.Equal(got, saved) {
					t.Errorf("fault at %d (%v): in the end there is %q", n, err, got)
				}
			}
			if n < 20 {
				t.Errorf("only %d operations were counted", n)
			}
		})
	}
}

func TestTornWriteWritesHalf(t *testing.T) {
	disk, root := local.New(), t.TempDir()
	faulty := dfstest.FaultAt(disk, 1, dfstest.Torn)
	p, err := faulty.Create(t.Context(), dfs.Join(root, "file"))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := p.Write([]byte("12345678")); n != 4 || !errors.Is(err, dfstest.ErrInjected) {
		t.Errorf("got %d, %v; want 4 bytes written and ErrInjected", n, err)
	}
	if err := p.Commit(); err != nil {
		t.Errorf("after the fault it works on, but Commit says %v", err)
	}
	if got := dfstest.Snapshot(t, disk, root); got["file"] != "1234" {
		t.Errorf("the file holds %q, want the half that was written", got["file"])
	}
}

func TestUncertainCommitHasTakenPlace(t *testing.T) {
	disk, root := local.New(), t.TempDir()
	faulty := dfstest.FaultAt(disk, 2, dfstest.Uncertain)
	p, err := faulty.Create(t.Context(), dfs.Join(root, "file"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte("whole")); err != nil {
		t.Fatal(err)
	}
	if err := p.Commit(); !errors.Is(err, dfstest.ErrInjected) {
		t.Errorf("got %v, want ErrInjected", err)
	}
	p.Abort()
	if got := dfstest.Snapshot(t, disk, root); got["file"] != "whole" {
		t.Errorf("there is %q, want the file", got)
	}
}

func TestDeadDiskStaysDead(t *testing.T) {
	disk, root := local.New(), t.TempDir()
	faulty := dfstest.FaultAt(disk, 1, dfstest.Dead|dfstest.Uncertain)
	p, err := faulty.Create(t.Context(), dfs.Join(root, "file"))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := p.Write([]byte("x")); !errors.Is(err, dfstest.ErrInjected) {
			t.Errorf("Write: %v, want ErrInjected", err)
		}
	}
	// The commit itself is uncertain. The following operations do not happen.
	if err := p.Commit(); !errors.Is(err, dfstest.ErrInjected) {
		t.Errorf("Commit: %v, want ErrInjected", err)
	}
	if got := dfstest.Snapshot(t, disk, root); len(got) != 0 {
		t.Errorf("a dead disk made %q", got)
	}
	if faulty.Count() != 5 {
		t.Errorf("counted %d operations, want 5", faulty.Count())
	}
}

// TestAPowerCutEmptiesScratchFiles fails the operation after two files and a removed one.
func TestAPowerCutEmptiesScratchFiles(t *testing.T) {
	disk, root := local.New(), t.TempDir()
	at := func(name string) string { return dfs.Join(root, name) }
	const before = 3*3 + 1 // each file is created, written and committed
	faulty := dfstest.FaultAt(disk, before, dfstest.Dead|dfstest.Lossy)
	err := errors.Join(
		dfs.WriteFile(t.Context(), faulty, at("kept"), []byte("whole")),
		dfs.WriteScratch(t.Context(), faulty, at("scratch"), []byte("whole")),
		dfs.WriteScratch(t.Context(), faulty, at("removed"), []byte("whole")),
		faulty.Remove(t.Context(), at("removed")))
	if err != nil {
		t.Fatal(err)
	}
	if err := faulty.Mkdir(t.Context(), at("dir")); !errors.Is(err, dfstest.ErrInjected) {
		t.Errorf("got %v, want ErrInjected", err)
	}
	if got, want := dfstest.Snapshot(t, disk, root), map[string]string{"kept": "whole", "scratch": ""}; !maps.Equal(got, want) {
		t.Errorf("there is %q, want %q", got, want)
	}
}

func TestFaultConformsWhereThereIsNone(t *testing.T) {
	dfstest.Run(t, func(t *testing.T) (dfs.FS, string) {
		return dfstest.FaultAt(local.New(), 1<<30), t.TempDir()
	})
}
