package faults_test

import (
	"testing"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// TestSecuredFaults kills a RegionServer of the secured cluster in the middle of a load by puts and
// of extracts.
func TestSecuredFaults(t *testing.T) {
	testkit.OnlyAll(t, "TestFaults, without Kerberos")
	c := clustertest.SecureAlone(t)
	r := newReference(t, newSecured(t, c, t.TempDir()))
	w := begin(t, r, t.TempDir(), pairs(cut)[0], at(breakpoint.Fetch, 1), nil)
	killServer(other)(t, w)
	w.checkEnds(t)
}
