package dfstest

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"usertrail/internal/store/dfs"
)

// An operation is one call that can fail, and the name of its file.
type operation struct {
	op, name string
	err      error
}

// reads returns the calls that need an existing file or directory.
func reads(ctx context.Context, fsys dfs.FS, name string) []operation {
	_, open := fsys.Open(ctx, name)
	_, stat := fsys.Stat(ctx, name)
	_, list := fsys.List(ctx, name)
	return []operation{
		{"Open", name, open},
		{"Stat", name, stat},
		{"List", name, list},
		{"Publish", name, fsys.Publish(ctx, name, name+".new")},
	}
}

// writes returns the calls that make or remove something. None of them is expected to
// succeed.
func writes(ctx context.Context, fsys dfs.FS, name string) []operation {
	_, create := fsys.Create(ctx, name)
	_, lock := fsys.Lock(ctx, name)
	return []operation{
		{"Create", name, create},
		{"Lock", name, lock},
		{"Mkdir", name, fsys.Mkdir(ctx, name)},
		{"Remove", name, fsys.Remove(ctx, name)},
		{"Sweep", name, fsys.Sweep(ctx, name)},
	}
}

func testNotExist(t *testing.T, w world) {
	for _, name := range []string{w.at("nothing"), w.at("nothing", "below")} {
		for _, o := range reads(w.ctx, w, name) {
			if !errors.Is(o.err, fs.ErrNotExist) {
				t.Errorf("%s of a missing file: %v, want fs.ErrNotExist", o.op, o.err)
			}
		}
	}
}

func testErrorNames(t *testing.T, w world) {
	write(t, w, w.at("file"), "")
	ops := reads(w.ctx, w, w.at("nothing", "节目 1"))
	ops = append(ops, operation{"Mkdir", w.at("file"), w.Mkdir(w.ctx, w.at("file"))})
	_, create := w.Create(w.ctx, w.at("file", "below"))
	ops = append(ops, operation{"Create", w.at("file", "below"), create})
	for _, o := range ops {
		if o.err == nil || !strings.Contains(o.err.Error(), o.name) {
			t.Errorf("%s of %s: %v, which does not name it", o.op, o.name, o.err)
		}
	}
}

// testCancelled checks that with a cancelled context no operation begins, and that running
// ones stop.
func testCancelled(t *testing.T, w world) {
	write(t, w, w.at("file"), "here")
	ctx, cancel := context.WithCancel(w.ctx)
	f, err := w.Open(ctx, w.at("file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := w.Create(ctx, w.at("new"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	cancel()

	name := w.at("file")
	_, read := f.Read(make([]byte, 1))
	_, readAt := f.ReadAt(make([]byte, 1), 0)
	_, write := p.Write([]byte("x"))
	ops := append(reads(ctx, w, name), writes(ctx, w, name)...)
	ops = append(ops, operation{"Read", name, read}, operation{"ReadAt", name, readAt},
		operation{"Write", w.at("new"), write}, operation{"Commit", w.at("new"), p.Commit()})
	for _, o := range ops {
		if !errors.Is(o.err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", o.op, o.err)
		}
	}
	w.expect(t, map[string]string{"file": "here"})
}

// Denied checks that fsys returns fs.ErrPermission for every operation in the directory dir.
// The caller must have denied all access to dir. dir contains a file called file.
func Denied(t *testing.T, fsys dfs.FS, dir, file string) {
	t.Helper()
	ops := reads(t.Context(), fsys, dfs.Join(dir, file))
	ops = append(ops, writes(t.Context(), fsys, dfs.Join(dir, "sub", "new"))...)
	_, list := fsys.List(t.Context(), dir)
	ops = append(ops,
		operation{"List", dir, list},
		operation{"Sweep", dir, fsys.Sweep(t.Context(), dir)},
		operation{"Remove", dir, fsys.Remove(t.Context(), dfs.Join(dir, file))},
	)
	if s, ok := fsys.(dfs.Surveyor); ok {
		_, err := s.Try(t.Context(), dir)
		ops = append(ops, operation{"Try", dir, err})
	}
	for _, o := range ops {
		if !errors.Is(o.err, fs.ErrPermission) {
			t.Errorf("%s of %s: %v, want fs.ErrPermission", o.op, o.name, o.err)
		}
	}
}
