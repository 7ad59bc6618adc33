// Package testkit supports the tests of all packages. It defines how much a run of the tests
// covers, and waits for processes that stop.
package testkit

import (
	"os"
	"testing"
)

// Variable is the environment variable that sets how much a run of the tests covers. "all"
// covers everything, as in `make test-all`. Without it, a run covers everything once, as in
// `make test`: fewer random worlds, and one of several similar faults.
const Variable = "USERTRAIL_TESTS"

// All reports whether the run covers everything.
func All() bool { return os.Getenv(Variable) == "all" }

// Pick returns all if the run covers everything, and once otherwise.
func Pick[T any](once, all T) T {
	if All() {
		return all
	}
	return once
}

// OnlyAll skips t unless the run covers everything. covered names the test that covers the
// subject of t in other runs.
func OnlyAll(t testing.TB, covered string) {
	t.Helper()
	if !All() {
		t.Skipf("make test-all runs this; make test covers its subject by %s", covered)
	}
}
