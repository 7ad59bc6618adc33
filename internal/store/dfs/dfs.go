// Package dfs is the interface between usertrail and the places where files are
// stored. Package local implements it for local disks and package hdfs for HDFS.
// Package dfstest holds the test suite that each implementation passes.
//
// The rest of usertrail depends on two promises. A file that is being written cannot
// be seen under its name until Commit, and is then whole. A directory is
// published by one rename that never replaces another directory.
//
// A name is a slash-separated path. A name that is not local has a scheme
// ("hdfs://nn:8020/logs"). Many goroutines may use an FS at once.
package dfs

import (
	"context"
	"io"
	"time"

	"usertrail/internal/run/exit"
)

// ErrLocked is returned by Lock when another process holds the lock.
var ErrLocked = exit.New(exit.NotNow, "locked by another run")

// ErrLockLost is wrapped when a process has lost a lock that it took: the process was frozen,
// or cut off from the servers, for so long that another process got the lock, or the file of
// the lock was moved, removed or replaced.
var ErrLockLost = exit.New(exit.Failed, "the lock was lost")

// ErrUnavailable is wrapped when the servers behind a file system cannot be
// reached, or cannot serve now. The same operation may succeed later.
var ErrUnavailable = exit.New(exit.NotNow, "cannot be reached")

// An FS is a tree of files. Errors name the file and satisfy fs.ErrNotExist,
// fs.ErrExist and fs.ErrPermission where they apply.
type FS interface {
	// Open opens a file for reading.
	Open(ctx context.Context, name string) (File, error)
	// Create begins a file and makes the directories above it. Nothing is visible
	// under name until Commit. Commit replaces a file that has this name.
	Create(ctx context.Context, name string) (Pending, error)
	// CreateNew is like Create, but the file must not exist: if it exists, Commit fails
	// with fs.ErrExist and changes nothing.
	CreateNew(ctx context.Context, name string) (Pending, error)
	// Scratch is like Create, for a file that later processes can do without. Its Commit
	// need not wait for stable storage: after a power cut the file may be missing or empty.
	Scratch(ctx context.Context, name string) (Pending, error)
	// Stat describes a file or directory.
	Stat(ctx context.Context, name string) (Info, error)
	// List describes the entries of a directory, in order of name. It does not list
	// pending files.
	List(ctx context.Context, dir string) ([]Info, error)
	// Mkdir makes a directory and the directories above it. It succeeds if the directory exists.
	Mkdir(ctx context.Context, dir string) error
	// Publish renames a directory or file. If to exists, Publish fails with
	// fs.ErrExist and changes nothing.
	Publish(ctx context.Context, from, to string) error
	// Remove removes a file, or a directory with everything in it. It succeeds if
	// name does not exist.
	Remove(ctx context.Context, name string) error
	// Sweep removes the files that unfinished writers left in dir and below it. It skips
	// the folders in but, which are full names. Only the holder of the lock that guards
	// the rest of dir may call it.
	Sweep(ctx context.Context, dir string, but ...string) error
	// Lock takes the lock called name, or fails at once with ErrLocked. If the holder
	// dies for any reason, it no longer holds the lock.
	Lock(ctx context.Context, name string) (Lock, error)
}

// A File is open for reading. ReadAt may be called by many goroutines at once.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Size() int64
}

// A Pending file can be written but is not visible yet. Commit makes it visible, whole
// and on stable storage. Abort discards it. Abort after Commit does nothing,
// so a caller may defer Abort as soon as it has the file.
type Pending interface {
	io.Writer
	Commit() error
	Abort()
}

// A Lock is held until Unlock or Drop. Their errors wrap ErrLockLost if another process has
// the lock: the last changes may have been made without the lock. Until then an FS that has
// lost a lock fails to change anything.
type Lock interface {
	Unlock() error
	// Drop is like Unlock, but also removes the file of the lock. The state is then as if
	// no process had ever taken the lock.
	Drop() error
}

// Info describes a file or directory.
type Info struct {
	Name     string // full: the name given to Stat, or the name given to List plus the last part
	Size     int64  // bytes; 0 for a directory
	Modified time.Time
	Dir      bool
	Special  bool // neither a file nor a directory: a pipe, socket or device
	Lost     bool // List found a link to nothing, or to itself
}
