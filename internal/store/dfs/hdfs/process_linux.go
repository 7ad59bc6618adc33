package hdfs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// here returns the boot of the machine that this process runs in, and its namespace of
// process numbers.
func here() (boot, space string, ok bool) {
	b, err1 := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, err2 := os.Readlink("/proc/self/ns/pid")
	boot = strings.TrimSpace(string(b))
	return boot, space, err1 == nil && err2 == nil && boot != ""
}

// Fields of /proc/PID/stat after the name of the program, which is in brackets.
const (
	statState = 0
	statBegan = 19 // ticks after the boot
)

// stat returns the state of a process and its start time.
func stat(id int) (state, began string, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	if err != nil {
		return "", "", err
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) <= statBegan {
		return "", "", fmt.Errorf("/proc/%d/stat: %d fields", id, len(fields))
	}
	return fields[statState], fields[statBegan], nil
}

func began(id int) (string, error) {
	_, began, err := stat(id)
	return began, err
}

// fateOf returns the state of the process with a number and a start time. It also sends signal 0,
// because /proc may be hidden from this user.
func fateOf(id int, began string) fate {
	if errors.Is(syscall.Kill(id, 0), syscall.ESRCH) {
		return dead
	}
	state, now, err := stat(id)
	switch {
	case err != nil:
		return unknown
	case now != began: // another process has the number now
		return dead
	case state == "Z" && alone(id), state == "X":
		return dead
	}
	return running
}

// alone reports whether a process has only one thread.
func alone(id int) bool {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", id))
	return err == nil && len(threads) == 1
}
