package userlist_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/layout"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// TestAListOfALargeWindow reads lists that were compressed with a window which is larger than the memory for the list.
func TestAListOfALargeWindow(t *testing.T) {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("user\n" + strings.Repeat("u1\n", 200_000))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := layout.ByName("reversed")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"list.zst", "list.csv.zst"} {
		path := filepath.Join(t.TempDir(), name)
		testkit.WriteFile(t, path, b.String())
		if strings.Contains(name, ".csv") {
			path += ":user"
		}
		_, err := userlist.Open(t.Context(), local.New(), path, l, 1<<20)
		if !errors.Is(err, userlist.ErrList) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "16 MiB") || !strings.Contains(err.Error(), "--memory") {
			t.Errorf("%s: %v, want the file, its window and --memory", name, err)
		}
		if _, err := userlist.Open(t.Context(), local.New(), path, l, 16<<20); err != nil {
			t.Errorf("%s, with more memory: %v", name, err)
		}
	}
}
