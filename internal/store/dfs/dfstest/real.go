package dfstest

import (
	"testing"

	"usertrail/internal/store/dfs"
)

// testReal names places in several ways. Some of the places do not exist.
func testReal(t *testing.T, w world) {
	if err := w.Mkdir(w.ctx, w.at("a", "b")); err != nil {
		t.Fatal(err)
	}
	real := func(name string) string {
		t.Helper()
		got, err := dfs.Real(w.ctx, w.FS, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return got
	}
	root := real(w.root)
	for name, want := range map[string]string{
		w.root + "/a/b": "/a/b", w.root + "//a/b/": "/a/b", w.root + "/a/./b/../b": "/a/b", w.root + "/a/b/..": "/a",
		w.root + "/a/x": "/a/x", w.root + "/x/y/": "/x/y", w.root + "/x/../a/.": "/a", w.root + "/x/y/../../z": "/z",
	} {
		if got := real(name); got != root+want {
			t.Errorf("%s is %s, want %s", name, got, root+want)
		}
	}
	for _, c := range []struct {
		dir, name string
		want      bool
	}{
		{"a", "a", true}, {"a", "a/b", true}, {"a/", "a/x/y", true}, {"x", "x/y", true}, {"a/b/..", "a/b", true}, {"", "a", true},
		{"a/b", "a", false}, {"a", "ab", false}, {"a/b", "a/b/../x", false}, {"x/y", "x", false},
	} {
		if got, err := dfs.Holds(w.ctx, w.FS, w.root+"/"+c.dir, w.root+"/"+c.name); got != c.want || err != nil {
			t.Errorf("%q holds %q: %t, %v", c.dir, c.name, got, err)
		}
	}
}
