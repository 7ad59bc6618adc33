package bulkload_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/run/exit"
)

// TestErrorsOfTheStatusComeFirst joins errors of several statuses. The message begins with the errors of the
// status with which the command ends, in their order, also if it does not have all errors.
func TestErrorsOfTheStatusComeFirst(t *testing.T) {
	changed := func(name string) error { return errors.New(name + ": changed") }
	bad := func(name string) error { return exit.New(exit.TooBad, name+": bad records") }
	for want, errs := range map[string][]error{
		"b: bad records, d: bad records, a: changed, c: changed":                     {changed("a"), bad("b"), nil, changed("c"), bad("d")},
		"g: bad records, a: changed, b: changed, c: changed, d: changed, and 2 more": {changed("a"), changed("b"), changed("c"), changed("d"), changed("e"), changed("f"), bad("g")},
		"a: changed, b: changed": {changed("a"), changed("b")},
	} {
		err := bulkload.Joined(errs)
		if got := strings.ReplaceAll(err.Error(), "\n", ", "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got, want := exit.Of(err), exit.Of(errors.Join(errs...)); got != want {
			t.Errorf("status %d, want %d", got, want)
		}
	}
	if err := bulkload.Joined([]error{fs.ErrNotExist, nil}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want the only error", err)
	}
	if err := bulkload.Joined([]error{nil}); err != nil {
		t.Errorf("%v of no error", err)
	}
}
