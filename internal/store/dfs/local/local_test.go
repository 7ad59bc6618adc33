package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
)

func TestConforms(t *testing.T) {
	dfstest.Run(t, func(t *testing.T) (dfs.FS, string) { return local.New(), t.TempDir() })
}

// TestLinksLeadToOnePlace names places through links.
func TestLinksLeadToOnePlace(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(root+"/a/b", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"link": "a/b", "far": root + "/a", "nothing": "a/none", "next": "nothing", "loop": "loop", "pair": "riap", "riap": "pair",
	} {
		if err := os.Symlink(target, root+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root + "/a")
	for name, want := range map[string]string{
		".": "/a", "..": "", "b": "/a/b", "../link": "/a/b", "../link/..": "/a", "../link/../x": "/a/x", "../far/b/x": "/a/b/x",
		root + "/nothing": "/a/none", root + "/next/x": "/a/none/x", "../next/../y": "/a/y",
	} {
		if got, err := dfs.Real(t.Context(), local.New(), name); got != root+want || err != nil {
			t.Errorf("%s is %s, %v, want %s", name, got, err, root+want)
		}
	}
	for _, name := range []string{"../loop", "../loop/x", "../pair", ""} {
		if got, err := dfs.Real(t.Context(), local.New(), name); err == nil {
			t.Errorf("%q is %s, want an error", name, got)
		}
	}
}

// TestALinkToNothingIsFound names places behind links to nothing, in which no directory can be made.
func TestALinkToNothingIsFound(t *testing.T) {
	root := t.TempDir()
	for name, target := range map[string]string{"nothing": "none", "there": ".", "next": "nothing"} {
		if err := os.Symlink(target, root+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	fs := local.New()
	for name, want := range map[string]string{
		"nothing": "nothing", root + "/nothing/a/b": root + "/nothing", "next/a": "next", "there/nothing/": "there/nothing/",
		"new/a": "", "there/new": "", "there": "", ".": "", root: "",
	} {
		if got, err := dfs.LinkToNothing(t.Context(), fs, name); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
		if err := fs.Mkdir(t.Context(), name); errors.Is(err, dfs.ErrNotDir) != (want != "") {
			t.Errorf("make %s: %v", name, err)
		}
	}
}
