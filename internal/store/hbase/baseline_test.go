package hbase

import (
	"testing"
	"time"
)

// A clock returns the timings of calls that follow each other.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Unix(1_700_000_000, 0)} }

func (c *clock) timing(took time.Duration) timing {
	f := timing{c.now, took}
	c.now = c.now.Add(took + time.Millisecond)
	return f
}

// settled has seen enough calls of 100 units in 100 ms.
func settled(t *testing.T, c *clock) *baseline {
	t.Helper()
	u := new(baseline)
	for range baselineCalls {
		if u.slow(c.timing(100*time.Millisecond), 100) {
			t.Fatal("slow, though nothing else is known")
		}
	}
	return u
}

func TestAServerIsSlowWhenTwoCallsInARowTakeAMultiple(t *testing.T) {
	c := newClock()
	u := settled(t, c)
	long := 600 * time.Millisecond
	if u.slow(c.timing(long), 100) {
		t.Error("slow after one call")
	}
	if !u.slow(c.timing(long), 100) {
		t.Error("not slow after two")
	}
	if !u.slow(c.timing(long), 100) {
		t.Error("not slow after three")
	}
	u.slow(c.timing(110*time.Millisecond), 100)
	if u.slow(c.timing(long), 100) {
		t.Error("slow after one call that followed a good one")
	}
}

func TestOnePauseOfAServerIsNotSlowness(t *testing.T) {
	c := newClock()
	u := settled(t, c)
	together := timing{c.now, 3 * time.Second}
	for range 6 {
		if u.slow(together, 100) {
			t.Fatal("slow, though all of the calls were under way at the same time")
		}
	}
}

func TestWhatIsLargerMayTakeLonger(t *testing.T) {
	c := newClock()
	u := settled(t, c)
	for range 3 {
		if u.slow(c.timing(2*time.Second), 2000) {
			t.Error("20 times as much in 20 times the time is slow")
		}
		if u.slow(c.timing(400*time.Millisecond), 1) {
			t.Error("what nobody would notice is slow")
		}
	}
}

func TestWhatHasBeenSlowForLongIsUsual(t *testing.T) {
	c := newClock()
	u := settled(t, c)
	slow := 0
	for began := c.now; c.now.Sub(began) < 3*baselineFor; {
		if u.slow(c.timing(time.Second), 100) {
			slow++
		}
	}
	if slow < 60 {
		t.Errorf("%d calls were slow, want 60 at least", slow)
	}
	for range 10 {
		if u.slow(c.timing(time.Second), 100) {
			t.Error("still slow after a quarter of an hour")
		}
	}
}
