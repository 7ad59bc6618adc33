package invariants_test

import (
	"bytes"
	"testing"

	"usertrail/internal/run/invariants"
)

func TestMangleOverwritesOnlyWhereInvariantsAreOn(t *testing.T) {
	b := []byte("still mine")
	invariants.Mangle(b[:5])
	want := []byte("still mine")
	if invariants.Enabled {
		want = []byte("\xcc\xcc\xcc\xcc\xcc mine")
	}
	if !bytes.Equal(b, want) {
		t.Errorf("got %q, want %q (enabled: %v)", b, want, invariants.Enabled)
	}
	invariants.Mangle(nil)
}
