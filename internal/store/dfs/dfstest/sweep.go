package dfstest

import (
	"fmt"
	"testing"

	"usertrail/internal/test/testkit"
)

// once is the distance between the operations that fail in a run that does not cover everything.
const once = 3

// Sweep calls try with a fault in operation 0, then 1, and so on, until try reports that it
// ended before its fault. There must be at least least operations. In a run that covers
// everything, every operation fails in each of the modes. In other runs every third operation fails
// once, in alternating modes.
func Sweep(t *testing.T, modes []Mode, least int, try func(t *testing.T, n int, mode Mode) (past bool)) {
	t.Helper()
	if !testkit.All() {
		sweep(t, once, least, func(n int) bool { return try(t, n, modes[n/once%len(modes)]) })
		return
	}
	for _, mode := range modes {
		t.Run(fmt.Sprint("mode ", mode), func(t *testing.T) {
			sweep(t, 1, least, func(n int) bool { return try(t, n, mode) })
		})
	}
}

func sweep(t *testing.T, step, least int, try func(n int) (past bool)) {
	t.Helper()
	n := 0
	for !try(n) {
		if t.Failed() {
			t.Fatalf("after a fault in operation %d", n)
		}
		n += step
	}
	if n < least {
		t.Errorf("there are only %d file operations, want at least %d", n, least)
	}
}
