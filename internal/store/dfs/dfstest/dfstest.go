// Package dfstest supports tests of files. Run is the conformance suite that
// every implementation of dfs passes. Fault is a file system in which one
// operation fails. Snapshot returns everything that can be seen below a directory.
package dfstest

import (
	"context"
	"testing"
	"time"

	"usertrail/internal/store/dfs"
)

// An Opener returns the file system under test, and the name of an empty
// directory in it that only this test uses.
type Opener func(t *testing.T) (fs dfs.FS, root string)

// Limits describe where an implementation may do less than package dfs promises. A
// local disk has the zero Limits.
type Limits struct {
	LockOutlives time.Duration // how long a lock may stay held after its holder was killed
	NoColon      bool          // a name with a colon is fs.ErrInvalid
}

// world is the file system, directory and context of a test of the suite.
type world struct {
	dfs.FS
	Limits
	root string
	ctx  context.Context
}

// at returns the name of an entry below the root.
func (w world) at(parts ...string) string { return dfs.Join(w.root, parts...) }

// Run runs the suite. It starts the test binary again as a process that takes
// a lock and is killed. That process does nothing else.
func Run(t *testing.T, open Opener) { RunWithin(t, Limits{}, open) }

// RunWithin is like Run, for an implementation that has limits.
func RunWithin(t *testing.T, limits Limits, open Opener) {
	if name := heldName(); name != "" {
		fs, _ := open(t)
		holdForever(t, fs, name)
		return
	}
	tests := []struct {
		name string
		test func(*testing.T, world)
	}{
		{"a pending file is not visible until Commit", testVisibility},
		{"Commit replaces a file as a whole", testReplace},
		{"a new file never replaces another", testCreateNew},
		{"Commit and Abort may be repeated", testIdempotence},
		{"Abort leaves nothing", testAbort},
		{"a scratch file is like any other", testScratch},
		{"Create makes the directories above", testCreateDirs},
		{"Create refuses the name of a directory", testCreateOverDir},
		{"an empty file is a file", testEmptyFile},
		{"a big file comes back as it was written", testBigFile},
		{"ReadAt is for many goroutines", testReadAt},
		{"any name is a name", testNames},
		{"Stat describes", testStat},
		{"List is in order of name", testListOrder},
		{"List hides pending files", testListHides},
		{"List wants a directory", testListFile},
		{"Mkdir makes all and may be repeated", testMkdir},
		{"Publish moves a directory", testPublish},
		{"Publish moves a file", testPublishFile},
		{"Publish never replaces", testPublishTaken},
		{"one of many publishers wins", testPublishRace},
		{"Remove removes all below", testRemove},
		{"Sweep removes what was not finished", testSweep},
		{"a lock is held by one", testLock},
		{"a lock that is dropped leaves nothing", testLockDropped},
		{"something else is no lock", testNoLock},
		{"a place has one name", testReal},
		{"a lock is for other processes too, and falls with its holder", testLockKilled},
		{"what is not there is fs.ErrNotExist", testNotExist},
		{"an error names the file", testErrorNames},
		{"a place tells its room and its clock", testSurvey},
		{"who holds a lock is told without taking it", testHeld},
		{"a cancelled context ends everything", testCancelled},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			fs, root := open(t)
			c.test(t, world{FS: fs, Limits: limits, root: root, ctx: t.Context()})
		})
	}
}
