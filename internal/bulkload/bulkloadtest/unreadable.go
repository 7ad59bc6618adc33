package bulkloadtest

import (
	"context"
	"io/fs"
	"strings"
	"sync/atomic"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
)

// A Spoilt file system has one file that cannot be read. Either the file cannot be opened after some
// opens, or it cannot be read.
type Spoilt struct {
	dfs.FS
	Name   string // the end of the file's name
	Err    error
	Opens  int64 // that succeed
	Reads  bool  // a file that was opened can be read
	Opened *atomic.Int64
}

// Open implements dfs.FS.
func (s Spoilt) Open(ctx context.Context, name string) (dfs.File, error) {
	if !strings.HasSuffix(name, s.Name) {
		return s.FS.Open(ctx, name)
	}
	if s.Opened.Add(1) > s.Opens {
		return nil, &fs.PathError{Op: "open", Path: name, Err: s.Err}
	}
	f, err := s.FS.Open(ctx, name)
	if err == nil && !s.Reads {
		f = unreadable{f, &fs.PathError{Op: "read", Path: name, Err: s.Err}}
	}
	return f, err
}

type unreadable struct {
	dfs.File
	err error
}

func (u unreadable) Read([]byte) (int, error)          { return 0, u.err }
func (u unreadable) ReadAt([]byte, int64) (int, error) { return 0, u.err }

// NoRemoval is a file system that does not remove files called Base, as if the process had
// been killed before.
type NoRemoval struct {
	dfs.FS
	Base string
}

// Remove implements dfs.FS.
func (f NoRemoval) Remove(ctx context.Context, name string) error {
	if dfs.Base(name) == f.Base {
		return dfstest.ErrInjected
	}
	return f.FS.Remove(ctx, name)
}
