// Package dfs is files: the seam between usertrail and where bytes lie. Local
// disks and HDFS implement it; package dfstest holds the suite that each of
// them passes.
//
// Two promises carry the rest of usertrail. A file that is being written cannot
// be seen under its name until Commit, and is then whole. A directory is
// published by one rename that never replaces another.
//
// A name is a slash-separated path, with a scheme where it is not local
// ("hdfs://nn:8020/logs"). An FS may be used by many goroutines at once.
package dfs

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrLocked is returned by Lock when another process holds the lock.
var ErrLocked = errors.New("locked by another run")

// ErrLockLost is wrapped where a process has lost a lock that it took: it was frozen, or
// cut off from the servers, for so long that the lock went to another.
var ErrLockLost = errors.New("the lock was lost")

// ErrUnavailable is wrapped where the servers behind a file system cannot be
// reached, or cannot serve now: later the same may succeed.
var ErrUnavailable = errors.New("out of reach")

// An FS is a tree of files. Errors name the file and satisfy fs.ErrNotExist,
// fs.ErrExist and fs.ErrPermission where they apply.
type FS interface {
	// Open opens a file for reading.
	Open(ctx context.Context, name string) (File, error)
	// Create begins a file, and the directories above it. Nothing is visible
	// under name until Commit, which replaces a file that was there before.
	Create(ctx context.Context, name string) (Pending, error)
	// CreateNew is Create of a file that must not be there: if one is, Commit fails with
	// fs.ErrExist and changes nothing.
	CreateNew(ctx context.Context, name string) (Pending, error)
	// Scratch is Create for a file that only this process will read: its Commit
	// need not wait for stable storage.
	Scratch(ctx context.Context, name string) (Pending, error)
	// Stat describes a file or directory.
	Stat(ctx context.Context, name string) (Info, error)
	// List describes what lies in a directory, in order of name. Pending files
	// are not listed.
	List(ctx context.Context, dir string) ([]Info, error)
	// Mkdir makes a directory and those above it; one that is there is no error.
	Mkdir(ctx context.Context, dir string) error
	// Publish renames a directory or file; if to exists it fails with
	// fs.ErrExist and changes nothing.
	Publish(ctx context.Context, from, to string) error
	// Remove removes a file, or a directory with all that is in it. One that is
	// not there is no error.
	Remove(ctx context.Context, name string) error
	// Sweep removes what unfinished writers left in dir and below it, but not in
	// the folders that but names in full. Only the holder of the lock that guards
	// the rest of dir may call it.
	Sweep(ctx context.Context, dir string, but ...string) error
	// Lock takes the lock called name, or fails at once with ErrLocked. A holder
	// that dies, however it dies, holds it no longer.
	Lock(ctx context.Context, name string) (Lock, error)
}

// A File is open for reading. ReadAt may be called by many goroutines at once.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Size() int64
}

// A Pending file can be written but not yet seen. Commit makes it visible, whole
// and on stable storage; Abort throws it away. Abort after Commit does nothing,
// so a caller may defer it as soon as it has the file.
type Pending interface {
	io.Writer
	Commit() error
	Abort()
}

// A Lock is held until Unlock or Drop. Their errors wrap ErrLockLost if another has the
// lock: what was done last may have been done without it.
type Lock interface {
	Unlock() error
	// Drop is Unlock, and leaves no file of the lock. Until another process takes the
	// lock, it is as if nobody ever had.
	Drop() error
}

// Info describes a file or directory.
type Info struct {
	Name     string // full, as given to List or Stat, plus the last part for List
	Size     int64  // bytes; 0 for a directory
	Modified time.Time
	Dir      bool
	Special  bool // neither a file nor a directory: a pipe, socket or device
}
