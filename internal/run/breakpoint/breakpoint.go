// Package breakpoint names the steps of a run at which a test can stop the process.
//
// A test starts a program with $USERTRAIL_BREAKPOINT=STEP or STEP:N. The process stops
// itself by SIGSTOP when it reaches STEP for the Nth time (the first time by default).
// The test waits for the stopped state, causes its fault, and sends SIGCONT, another signal,
// or SIGKILL. Nothing depends on how fast the process or the machine is.
//
// With STEP:N:hold the process stops in the same way. After SIGCONT all goroutines continue
// except the one that reached the step. This goroutine continues after SIGUSR2, or when the
// context of ReleaseAfter ends. In the meantime the process reacts to signals, and it does
// not reach the next step.
//
// A program obeys the variable after Arm. Test binaries call it, and the two commands do
// if they are built with -tags breakpoints. In all other builds Reach compares one
// pointer with nil.
package breakpoint

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Variable is the environment variable that names the step.
const Variable = "USERTRAIL_BREAKPOINT"

// The steps of a load, in their order.
const (
	Begun    = "begun"    // the run has its lock and is in the run log, and nothing has been read
	Opened   = "opened"   // the manifest has been read, and the remains of killed loads have not been removed
	Read     = "read"     // some lines of a delivered file have been parsed
	Batch    = "batch"    // the files of a batch have been read and sorted
	Put      = "put"      // HBase has confirmed a request of puts
	Segment  = "segment"  // an HFile has been written, and not been read back
	Handover = "handover" // handover.json has been written, and no region asked
	Handed   = "handed"   // a region has loaded its files
	Commit   = "commit"   // the table does not have the load yet
	Ledger   = "ledger"   // the ledger has been written, and the manifest has not
	Loaded   = "loaded"   // the table has the load
)

// The steps of an extract, in their order.
const (
	Fetch     = "fetch"     // the trails of a batch of users have been read
	Part      = "part"      // a part has been written
	Publish   = "publish"   // everything is written, and OUT does not exist, or is as it was before an append
	Moved     = "moved"     // a directory of an append is in OUT, and the manifest does not name it
	Aside     = "aside"     // --overwrite has moved the old result aside, and OUT does not exist
	Published = "published" // OUT exists, or its manifest names what was appended
)

// The steps of writing a file to HDFS.
const (
	Upload = "upload" // a mebibyte of the file, or its rest, has been sent
	Rename = "rename" // all locks were held a moment ago, and the file does not have its name yet; only in builds for tests
)

var steps = []string{Begun, Opened, Read, Batch, Put, Segment, Handover, Handed, Commit, Ledger, Loaded, Fetch, Part, Publish, Moved, Aside, Published, Upload, Rename}

// armed is the step at which the process stops, nil for none.
var armed *breakpoint

type breakpoint struct {
	step string
	left atomic.Int64 // times that the step is reached until the process stops
	stop func()

	hold     bool            // the goroutine waits for SIGUSR2 or released
	released <-chan struct{} // nil if ReleaseAfter was not called
}

// hold is the third part of a value.
const hold = "hold"

// Arm makes the process obey $USERTRAIL_BREAKPOINT, and replaces an earlier value. Call it
// before the process starts goroutines, or between two runs of a process that serves tests.
// If the value is not a step, Arm returns an error.
func Arm() error {
	armed = nil
	value := os.Getenv(Variable)
	if value == "" {
		return nil
	}
	step, times, numbered := strings.Cut(value, ":")
	times, how, more := strings.Cut(times, ":")
	if more && how != hold {
		return fmt.Errorf("$%s=%s: %q is not %s", Variable, value, how, hold)
	}
	n := int64(1)
	if numbered {
		var err error
		if n, err = strconv.ParseInt(times, 10, 64); err != nil || n < 1 {
			return fmt.Errorf("$%s=%s: %q is no positive number", Variable, value, times)
		}
	}
	if !slices.Contains(steps, step) {
		return fmt.Errorf("$%s=%s: there is no step %q; the steps are %s", Variable, value, step, strings.Join(steps, ", "))
	}
	b := &breakpoint{step: step, hold: more}
	b.stop = b.stopProcess
	b.left.Store(n)
	armed = b
	return nil
}

// ReleaseAfter releases a held goroutine when ctx ends. Call it after Arm, before the process
// starts goroutines.
func ReleaseAfter(ctx context.Context) {
	if armed != nil {
		armed.released = ctx.Done()
	}
}

// Reach stops the process if it is armed for this step and for this time that the step
// is reached. It returns when the process has been continued. It may be called
// concurrently.
func Reach(step string) {
	if armed != nil && armed.step == step && armed.left.Add(-1) == 0 {
		armed.stop()
	}
}

// stopProcess stops all threads. The signal may reach the calling thread later than
// others, so the caller waits for SIGCONT.
func (b *breakpoint) stopProcess() {
	continued, let := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if b.hold {
		signal.Notify(let, syscall.SIGUSR2)
		defer signal.Stop(let)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		panic(fmt.Sprintf("stop at a breakpoint: %v", err))
	}
	<-continued
	if b.hold {
		select {
		case <-let:
		case <-b.released:
		}
	}
}
