package dfs_test

import (
	"errors"
	iofs "io/fs"
	"strings"
	"testing"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/store/dfs/local"
)

// TestCopyIsWholeOrNot fails each operation of Copy.
func TestCopyIsWholeOrNot(t *testing.T) {
	root, text := t.TempDir(), strings.Repeat("trail\n", 100_000)
	from, to := dfs.Join(root, "from"), dfs.Join(root, "to")
	if err := dfs.WriteFile(t.Context(), local.New(), from, []byte(text)); err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		fault := dfstest.FaultAt(local.New(), n, 0)
		err := dfs.Copy(t.Context(), fault, from, to)
		got, missing := dfs.ReadFile(t.Context(), local.New(), to)
		if fault.Count() <= n {
			if err != nil || string(got) != text {
				t.Errorf("the copy has %d bytes, %v, want all %d", len(got), err, len(text))
			}
			return
		}
		if !errors.Is(err, dfstest.ErrInjected) && err != nil {
			t.Errorf("fault at %d: lost the cause: %v", n, err)
		}
		if err != nil && !errors.Is(missing, iofs.ErrNotExist) || err == nil && string(got) != text {
			t.Errorf("fault at %d (%v): the copy has %d bytes, %v", n, err, len(got), missing)
		}
		if err := local.New().Remove(t.Context(), to); err != nil && !errors.Is(err, iofs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}
