package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
)

// TestAStopIsSaidAlone checks that the steps that a signal cancelled are not in the message, and that an error of another
// cause is.
func TestAStopIsSaidAlone(t *testing.T) {
	s := &stop{syscall.SIGTERM}
	full := errors.New("no space left on device")
	for _, c := range []struct {
		err  error
		want string
	}{
		{s, "stopped by SIGTERM"},
		{context.Canceled, "stopped by SIGTERM"},
		{fmt.Errorf("write region 0: roll: %w", s), "stopped by SIGTERM"},
		{errors.Join(fmt.Errorf("a: %w", s), fmt.Errorf("b: %w", context.Canceled)), "stopped by SIGTERM"},
		{fmt.Errorf("write: %w", full), "stopped by SIGTERM: write: no space left on device"},
		{errors.Join(full, s), "stopped by SIGTERM: no space left on device\nstopped by SIGTERM"},
	} {
		if got := (&stoppedRun{s, c.err}).Error(); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
