package live_test

import (
	"strings"
	"testing"
	"time"

	"usertrail/internal/table/live"
	"usertrail/internal/table/precheck"
	"usertrail/internal/test/clustertest"
)

// TestATTLThatIsNotTheJobs checks tables that keep behaviours for another time than the
// job asks for, and for the same.
func TestATTLThatIsNotTheJobs(t *testing.T) {
	t.Parallel()
	c := clustertest.Get(t)
	short, endless := c.Create(t, "d", "TTL=864000"), c.Create(t, "d")
	for _, x := range []struct {
		table string
		ttl   time.Duration
		says  string // nothing of the TTL where it is empty
	}{
		{short, 400 * 24 * time.Hour, "TTL is 10d, and the job's ttl is 400d: TTL => 34560000 sets it"},
		{short, 10 * 24 * time.Hour, ""},
		{short, 0, ""},
		{endless, 36 * time.Hour, "TTL is forever, and the job's ttl is 36h0m0s: TTL => 129600 sets it"},
		{endless, 0, ""},
	} {
		load := tonight
		load.TTL = x.ttl
		got := look(t, c, x.table, live.Options{Catalog: "/c"}, load)[precheck.FamilyFit]
		if x.says == "" && strings.Contains(got.Detail, "TTL") {
			t.Errorf("a job that asks for %s is told %q", x.ttl, got.Detail)
		}
		if x.says != "" && (got.State != precheck.Warn || !strings.Contains(got.Detail, x.says)) {
			t.Errorf("a job that asks for %s is told %s %q, want %q", x.ttl, got.State, got.Detail, x.says)
		}
	}
}
