package precheck_test

import (
	"errors"
	"strings"
	"testing"

	"usertrail/internal/run/exit"
	"usertrail/internal/table/precheck"
)

// TestTheReasonOfTheStatusComesFirst joins the errors of two checks. The message begins with the error of the
// status with which the command ends.
func TestTheReasonOfTheStatusComesFirst(t *testing.T) {
	err := precheck.Failure([]precheck.Check{
		{Name: precheck.RecordsParse, State: precheck.Fail, Err: errors.New("a file is damaged")},
		{Name: precheck.InputThere, State: precheck.OK},
		{Name: precheck.InputThere, State: precheck.Fail, Err: exit.New(exit.NoInput, "a log is missing")},
	})
	if got, begins := err.Error(), "pre-check "+string(precheck.InputThere)+": a log is missing"; exit.Of(err) != exit.NoInput || !strings.HasPrefix(got, begins) {
		t.Errorf("status %d, %q, want that it begins with %q", exit.Of(err), got, begins)
	}
	if err := precheck.Failure(nil); err != nil {
		t.Errorf("%v without checks", err)
	}
}
