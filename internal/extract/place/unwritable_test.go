package place_test

import (
	"context"
	"errors"
	iofs "io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"usertrail/internal/extract"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/query"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
)

// An unlockable file system makes no lock.
type unlockable struct {
	dfs.FS
	err error
}

func (r unlockable) Lock(context.Context, string) (dfs.Lock, error) { return nil, r.err }

// TestUnwritableOut checks the status of an OUT that cannot be locked. If this user may not write
// there, another try does not help.
func TestUnwritableOut(t *testing.T) {
	h, q := extracttest.Crowd(t, 4, 1)
	c, err := h.Config(t.Context(), q, extracttest.Turn{Name: "trails", Workers: 1}, filepath.Join(h.Dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Table.Close()
	for _, try := range []struct {
		err   error
		wrong bool // the command is
	}{
		{&iofs.PathError{Op: "lock", Path: ".out.lock", Err: iofs.ErrPermission}, true},
		{&iofs.PathError{Op: "lock", Path: ".out.lock", Err: syscall.EROFS}, true},
		{&iofs.PathError{Op: "lock", Path: ".out.lock", Err: syscall.EIO}, false},
	} {
		c.FS = unlockable{local.New(), try.err}
		_, err := extract.Run(t.Context(), c)
		if !errors.Is(err, try.err) || errors.Is(err, query.ErrWrong) || (exit.Of(err) == exit.Usage) != try.wrong || strings.Contains(err.Error(), "with --out") != try.wrong {
			t.Errorf("%v: got %v", try.err, err)
		}
	}
}
