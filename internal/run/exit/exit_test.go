package exit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"usertrail/internal/run/exit"
)

// failure is an error type with a status.
type failure struct{ cause error }

func (failure) Error() string           { return "no room" }
func (f failure) Unwrap() error         { return f.cause }
func (failure) ExitStatus() exit.Status { return exit.NotNow }

func TestOf(t *testing.T) {
	usage := exit.New(exit.Usage, "refused")
	for name, x := range map[string]struct {
		err  error
		want exit.Status
	}{
		"no error":                     {nil, exit.OK},
		"an error without a status":    {errors.New("x"), exit.Failed},
		"a wrapped error":              {fmt.Errorf("a: %w", fmt.Errorf("b: %w", usage)), exit.Usage},
		"a type of another package":    {fmt.Errorf("a: %w", failure{}), exit.NotNow},
		"the cause of such a type":     {failure{usage}, exit.Usage},
		"the second of joined errors":  {errors.Join(failure{}, errors.New("x"), usage), exit.Usage},
		"a status around another":      {exit.With(exit.Nothing, usage), exit.Usage},
		"Failed before other statuses": {errors.Join(usage, exit.New(exit.Failed, "lost")), exit.Failed},
		"a cancelled context":          {fmt.Errorf("%w: %w", usage, context.Canceled), exit.Failed},
		"Gone before all others":       {errors.Join(context.Canceled, exit.New(exit.Gone, "gone")), exit.Gone},
	} {
		if got := exit.Of(x.err); got != x.want {
			t.Errorf("%s: status %d, want %d", name, got, x.want)
		}
	}
}

func TestWithKeepsTheError(t *testing.T) {
	cause := errors.New("disk full")
	err := exit.With(exit.NotNow, cause)
	if !errors.Is(err, cause) || err.Error() != cause.Error() {
		t.Errorf("%v, want an error that is %v", err, cause)
	}
}
