package command_test

import (
	"errors"
	"fmt"
	"testing"

	"usertrail/cmd/internal/command"
	"usertrail/internal/bulkload"
	"usertrail/internal/dfs"
)

// TestALostLockIsToldFirst: after the loss of the lock no other error is certain, so the run
// must be repeated.
func TestALostLockIsToldFirst(t *testing.T) {
	for _, other := range []error{bulkload.ErrTooBad, bulkload.ErrRequest, bulkload.ErrNothing, dfs.ErrUnavailable} {
		err := errors.Join(other, fmt.Errorf("unlock: %w", dfs.ErrLockLost))
		if got := command.Status(err); got != command.Failed {
			t.Errorf("%v: status %d, want %d", err, got, command.Failed)
		}
		if got := command.Status(other); got == command.Failed {
			t.Errorf("%v alone: status %d, too", other, got)
		}
	}
}
