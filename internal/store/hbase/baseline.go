package hbase

import (
	"fmt"
	"sync"
	"time"
)

// A timing is the time in which a call was in flight. It begins when the window had a
// place for the call.
type timing struct {
	sent time.Time
	took time.Duration
}

func (f timing) ended() time.Time { return f.sent.Add(f.took) }

// A kind is a set of calls whose durations can be compared.
type kind int

const (
	multiGets kind = iota // by rows
	multiPuts             // by bytes
	scanPages             // by bytes
	kinds
)

// A baseline is the best duration of calls of one kind on one server: the shortest call
// of the last minutes, and the shortest time per unit. The units are rows or bytes. A
// call is slow if it takes a multiple of both.
type baseline struct {
	mu    sync.Mutex
	now   shortest
	was   shortest
	since time.Time // of now
	first time.Time // end of the first slow call; zero if the last call was not slow
}

// A shortest holds the shortest duration of some calls, per call and per unit.
type shortest struct {
	calls int
	call  time.Duration
	unit  float64 // ns
}

const (
	// baselineFor is the least time for which a shortest duration counts. If a server has
	// been slow for more than twice this time, its slow calls are the baseline.
	baselineFor = 5 * time.Minute

	// baselineCalls is the number of calls that a baseline needs.
	baselineCalls = 16

	// slowFactor is well above the effect of a cold cache, a flush or a burst of the
	// client's own calls. A call shorter than slowFloor is never slow, because no user
	// would notice it.
	slowFactor = 5
	slowFloor  = 500 * time.Millisecond
)

// slow records a successful call and reports whether the server is slow. A server is
// slow if a slow call was sent after the end of another slow call. Calls that are in flight
// together in a server's pause are slow together and count as one.
func (u *baseline) slow(f timing, units int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if f.ended().Sub(u.since) > baselineFor {
		u.was, u.now, u.since = u.now, shortest{}, f.ended()
	}
	usually := max(u.expect(units), slowFloor/slowFactor)
	u.now.note(f.took, units)
	if f.took < slowFactor*usually {
		u.first = time.Time{}
		return false
	}
	if u.first.IsZero() {
		u.first = f.ended()
	}
	return f.sent.After(u.first)
}

// expect returns the best duration of a call of so many units. While it is not known,
// expect returns a duration so long that no call is slow.
func (u *baseline) expect(units int) time.Duration {
	l := u.now.with(u.was)
	if l.calls < baselineCalls {
		return time.Hour
	}
	return max(l.call, time.Duration(l.unit*float64(units)))
}

func (l *shortest) note(took time.Duration, units int) {
	unit := float64(took) / float64(max(units, 1))
	*l = l.with(shortest{calls: 1, call: took, unit: unit})
}

func (l shortest) with(m shortest) shortest {
	switch {
	case l.calls == 0:
		return m
	case m.calls == 0:
		return l
	}
	return shortest{l.calls + m.calls, min(l.call, m.call), min(l.unit, m.unit)}
}

// succeeded records a successful call, and changes the window by its duration.
func (s *server) succeeded(k kind, f timing, units int) {
	if !s.baselines[k].slow(f, units) {
		s.window.grow()
		return
	}
	// The slow calls may be our own reads of data that is in no cache. Fewer calls at
	// once would then take even longer in total, so the window keeps some places.
	s.window.shrink(f.sent, (s.window.most+2)/3, fmt.Sprintf("a call took %s", f.took.Round(time.Millisecond)))
}
