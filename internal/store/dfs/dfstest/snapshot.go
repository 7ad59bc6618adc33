package dfstest

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"usertrail/internal/store/dfs"
)

// Snapshot returns everything that can be seen below root: the contents of each file by its
// name relative to root. A root that does not exist has no files. Directories without files
// do not appear.
func Snapshot(t testing.TB, fsys dfs.FS, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	snapshot(t, fsys, root, root, out)
	return out
}

func snapshot(t testing.TB, fsys dfs.FS, root, dir string, out map[string]string) {
	t.Helper()
	infos, err := fsys.List(t.Context(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatalf("snapshot of %s: %v", root, err)
	}
	for _, in := range infos {
		if in.Dir {
			snapshot(t, fsys, root, in.Name, out)
			continue
		}
		name := strings.TrimLeft(strings.TrimPrefix(in.Name, root), "/")
		out[name] = read(t, fsys, in.Name)
	}
}

// read returns the contents of a file.
func read(t testing.TB, fsys dfs.FS, name string) string {
	t.Helper()
	f, err := fsys.Open(t.Context(), name)
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return string(b)
}

// write makes a file with contents.
func write(t testing.TB, fsys dfs.FS, name, contents string) {
	t.Helper()
	p, err := fsys.Create(t.Context(), name)
	if err != nil {
		t.Fatalf("write %s: %v", name, err)
	}
	defer p.Abort()
	if _, err := io.WriteString(p, contents); err != nil {
		t.Fatalf("write %s: %v", name, err)
	}
	if err := p.Commit(); err != nil {
		t.Fatalf("write %s: %v", name, err)
	}
}
