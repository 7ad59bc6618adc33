package cli_test

import (
	"errors"
	"fmt"
	"testing"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload"
	"usertrail/internal/store/dfs"
)

// TestALostLockIsToldFirst: after the loss of the lock no other error is certain, so the run
// must be repeated.
func TestALostLockIsToldFirst(t *testing.T) {
	for _, other := range []error{bulkload.ErrTooBad, bulkload.ErrRequest, bulkload.ErrNothing, dfs.ErrUnavailable} {
		err := errors.Join(other, fmt.Errorf("unlock: %w", dfs.ErrLockLost))
		if got := cli.Status(err); got != cli.Failed {
			t.Errorf("%v: status %d, want %d", err, got, cli.Failed)
		}
		if got := cli.Status(other); got == cli.Failed {
			t.Errorf("%v alone: status %d, too", other, got)
		}
	}
}
