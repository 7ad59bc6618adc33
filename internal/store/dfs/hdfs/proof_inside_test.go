package hdfs

import (
	"testing"
	"time"
)

// TestAClockThatIsSetProvesNoLock freezes a holder for longer than a check stays valid. The
// wall clock is set in the meantime, or the machine is suspended.
func TestAClockThatIsSetProvesNoLock(t *testing.T) {
	for _, c := range []struct {
		what         string
		wall, steady time.Duration
		want         bool
	}{
		{"a moment ago", time.Second, time.Second, true},
		{"frozen", time.Hour, time.Hour, false},
		{"suspended", time.Hour, time.Second, false},
		{"frozen, and the clock was set back as far", time.Second, time.Hour, false},
		{"frozen, and the clock was set back further", -time.Hour, time.Hour, false},
		{"the clock was set back", -time.Hour, time.Second, false},
		{"the clock was set forward", time.Hour, time.Second, false},
	} {
		if got := believed(c.wall, c.steady); got != c.want {
			t.Errorf("%s: believed is %t", c.what, got)
		}
	}
}
