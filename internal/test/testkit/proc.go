package testkit

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// pause is the time between two checks of a wait. It is not a limit.
const pause = 2 * time.Millisecond

// AwaitStop waits until the process pid has stopped, as at a step of package breakpoint,
// and reports whether it has. It reports false if the process ends first, or if ended is
// closed.
func AwaitStop(pid int, ended <-chan struct{}) bool {
	for {
		switch state(pid) {
		case 'T', 't':
			return true
		case 0, 'Z', 'X':
			return false
		}
		select {
		case <-ended:
			return false
		case <-time.After(pause):
		}
	}
}

// Stopped reports whether the process pid has stopped.
func Stopped(pid int) bool {
	s := state(pid)
	return s == 'T' || s == 't'
}

// Parent returns the ID of the parent of the process pid, 0 if there is no such process.
func Parent(pid int) int {
	if f := fields(pid); len(f) > 1 {
		parent, _ := strconv.Atoi(f[1])
		return parent
	}
	return 0
}

// PeakMemory returns the largest resident set of the process pid so far, in bytes. The value that a
// parent gets from wait4 differs: it starts with the resident set of the parent.
func PeakMemory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kib, err := strconv.ParseInt(f[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("the status of process %d has no VmHWM", pid)
}

// state returns the letter of a process's state, 0 if there is no such process.
func state(pid int) byte {
	if f := fields(pid); len(f) > 0 {
		return f[0][0]
	}
	return 0
}

// fields returns the fields of /proc/PID/stat from the state on: see proc(5).
func fields(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}
