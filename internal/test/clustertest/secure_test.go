package clustertest

import (
	"strings"
	"testing"

	"usertrail/internal/test/testkit"
)

// TestTheSecuredClusterKnowsItsUsers checks that Java's client is the user of its ticket, and that HBase
// and HDFS refuse operations for which this user lacks a right.
func TestTheSecuredClusterKnowsItsUsers(t *testing.T) {
	testkit.OnlyAll(t, "the packages below internal/store/secure, without servers")
	c := Secure(t)
	table := filled(t, c)
	dir := c.HDFS(t)
	c.Admin(t, "grant", Alice, "R", table)
	for user, want := range map[string]string{
		Alice:   "alice@" + Realm + ": KERBEROS; reads: 3 rows; writes: yes",
		Mallory: "mallory@" + Realm + ": KERBEROS; reads: AccessDeniedException; writes: AccessControlException",
	} {
		if got := strings.TrimSpace(c.JavaAs(t, user, "testdata/Probe.java", table, dir)); got != want {
			t.Errorf("%s: %q, want %q", user, got, want)
		}
	}
}
