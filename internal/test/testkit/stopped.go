package testkit

import (
	"bytes"
	"fmt"
	"os"
	"time"
)

// pause is the time between two checks of a wait. It is not a limit.
const pause = 2 * time.Millisecond

// AwaitStop waits until the process pid has stopped, as at a step of package breakpoint,
// and reports whether it has. It reports false if the process ends first, or if ended is
// closed. The state is the third field of /proc/PID/stat: see proc(5).
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

// state returns the letter of a process's state, 0 if there is no such process.
func state(pid int) byte {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, after, found := bytes.Cut(text[bytes.LastIndexByte(text, ')')+1:], []byte(" "))
	if !found || len(after) == 0 {
		return 0
	}
	return after[0]
}
