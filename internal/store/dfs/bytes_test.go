package dfs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// TestCheckFile uses files of all sizes around the buffer.
func TestCheckFile(t *testing.T) {
	for _, size := range []int{0, 1, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3 << 20} {
		b := bytes.Repeat([]byte("trail"), size/5+1)[:size]
		sum := fmt.Sprintf("%016x", xxhash.Sum64(b))
		name := filepath.Join(t.TempDir(), "file")
		check := func(b []byte, size int64) error {
			testkit.WriteFile(t, name, string(b))
			return dfs.CheckFile(t.Context(), local.New(), name, size, sum)
		}
		for _, known := range []int64{int64(size), -1} {
			if err := check(b, known); err != nil {
				t.Errorf("%d bytes: %v", size, err)
			}
			if err := check(append(bytes.Clone(b), 'x'), known); !errors.Is(err, dfs.ErrDamaged) {
				t.Errorf("%d bytes and one more: %v, want ErrDamaged", size, err)
			}
		}
		if size > 0 {
			b[size/2] ^= 1
			if err := check(b, int64(size)); !errors.Is(err, dfs.ErrDamaged) {
				t.Errorf("%d bytes with another one: %v, want ErrDamaged", size, err)
			}
		}
	}
	if err := dfs.CheckFile(t.Context(), local.New(), filepath.Join(t.TempDir(), "none"), 0, ""); !errors.Is(err, dfs.ErrDamaged) {
		t.Errorf("no file: %v, want ErrDamaged", err)
	}
	loop := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if err := dfs.CheckFile(t.Context(), local.New(), loop, 0, ""); !errors.Is(err, dfs.ErrDamaged) {
		t.Errorf("a link to itself: %v, want ErrDamaged", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	name := filepath.Join(t.TempDir(), "file")
	testkit.WriteFile(t, name, "x")
	cancel()
	if err := dfs.CheckFile(ctx, local.New(), name, 1, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want it cancelled", err)
	}
}

// TestPipesAreNotRead gives a pipe to the functions that read a file. To open it would block.
func TestPipesAreNotRead(t *testing.T) {
	ctx, files, name := t.Context(), local.New(), filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	_, read := dfs.ReadFile(ctx, files, name)
	_, _, sum := dfs.SumFile(ctx, files, name)
	check := dfs.CheckFile(ctx, files, name, 0, "")
	for what, err := range map[string]error{"ReadFile": read, "SumFile": sum, "CheckFile": check, "Copy": dfs.Copy(ctx, files, name, name+".copy")} {
		if !errors.Is(err, dfs.ErrSpecial) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want ErrSpecial that names the pipe", what, err)
		}
	}
	if step := dfs.InPlace(read, "remove it"); !errors.Is(check, dfs.ErrDamaged) || !errors.Is(step, dfs.ErrDamaged) || step.Error() != check.Error()+": remove it" {
		t.Errorf("CheckFile: %v, InPlace: %v; want ErrDamaged", check, step)
	}
}

// TestWhatIsInThePlaceOfADirectoryIsNamed writes a file into something that is no directory.
func TestWhatIsInThePlaceOfADirectoryIsNamed(t *testing.T) {
	dir := t.TempDir()
	file, pipe, link := filepath.Join(dir, "file"), filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	testkit.WriteFile(t, file, "x")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink("file", link)); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{file, pipe, link} {
		_, err := local.New().Create(t.Context(), filepath.Join(place, "new"))
		want := place + ": damaged file: something else is in the place of this directory: move it away"
		if step := dfs.InPlace(err, "move it away"); !errors.Is(step, dfs.ErrNoDirectory) || !errors.Is(step, dfs.ErrDamaged) || step.Error() != want {
			t.Errorf("%v, want %s", step, want)
		}
	}
}

// TestLinksToThemselvesAreNamed opens a file that is a link to itself, or is below one. The errors name the link.
func TestLinksToThemselvesAreNamed(t *testing.T) {
	ctx, files, link := t.Context(), local.New(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("link", link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{link, filepath.Join(link, "folder", "file")} {
		_, err := dfs.ReadFile(ctx, files, name)
		if step := dfs.InPlace(err, "remove it"); !errors.Is(step, dfs.ErrLoop) || step.Error() != link+": damaged file: a link to itself is in its place: remove it" {
			t.Errorf("%s: %v, want that %s is a link to itself", name, step, link)
		}
	}
	if is, err := dfs.IsLink(ctx, files, link); !is || err != nil {
		t.Errorf("%s is a link: %t, %v", link, is, err)
	}
	if is, err := dfs.IsLink(ctx, files, filepath.Join(link, "file")); is || !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a file below the link is a link: %t, %v", is, err)
	}
}
