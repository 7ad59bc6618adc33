package dfs_test

import (
	"context"
	iofs "io/fs"
	"testing"

	"usertrail/internal/store/dfs"
)

// plain is a file system without links. It holds nothing.
type plain struct{ dfs.FS }

func (plain) Stat(context.Context, string) (dfs.Info, error) { return dfs.Info{}, iofs.ErrNotExist }

// TestAFileSystemWithoutLinksHasNone looks for names below a root, where nothing exists.
func TestAFileSystemWithoutLinksHasNone(t *testing.T) {
	for _, name := range []string{"hdfs://nn/a", "hdfs://nn/a/b", "hdfs://nn/", "/a"} {
		if is, err := dfs.IsLink(t.Context(), plain{}, name); is || err != nil {
			t.Errorf("IsLink(%q) is %t, %v, want false", name, is, err)
		}
		if link, err := dfs.LinkToNothing(t.Context(), plain{}, name); link != "" || err != nil {
			t.Errorf("LinkToNothing(%q) is %q, %v, want none", name, link, err)
		}
	}
}
