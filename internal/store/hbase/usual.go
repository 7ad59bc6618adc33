package hbase

import (
	"fmt"
	"sync"
	"time"
)

// A flight is the time in which a call was under way. It begins when the window had a
// place for the call.
type flight struct {
	sent time.Time
	took time.Duration
}

func (f flight) landed() time.Time { return f.sent.Add(f.took) }

// A kind is a set of calls whose durations can be compared.
type kind int

const (
	multiGets kind = iota // by rows
	multiPuts             // by bytes
	scanPages             // by bytes
	kinds
)

// A usual is the best duration of calls of one kind on one server: the shortest call
// of the last minutes, and the shortest time per unit. The units are rows or bytes. A
// call is slow if it takes a multiple of both.
type usual struct {
	mu    sync.Mutex
	now   least
	was   least
	since time.Time // of now
	first time.Time // when the first slow call landed; zero if the last was not slow
}

// A least holds the shortest duration of some calls, per call and per unit.
type least struct {
	calls int
	call  time.Duration
	unit  float64 // ns
}

const (
	// usualFor is the time for which a least counts, at least. If a server has been
	// slow for more than twice this time, its slow calls are the usual ones.
	usualFor = 5 * time.Minute

	// usualCalls is the number of calls that a usual needs.
	usualCalls = 16

	// slowFactor is well above the effect of a cold cache, a flush or a burst of the
	// client's own calls. A call shorter than slowFloor is never slow, because no user
	// would notice it.
	slowFactor = 5
	slowFloor  = 500 * time.Millisecond
)

// slow records a successful call and reports whether the server is slow. A server is
// slow if a slow call was sent after another slow call had landed. Calls that are under
// way together in a server's pause are slow together and count as one.
func (u *usual) slow(f flight, units int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if f.landed().Sub(u.since) > usualFor {
		u.was, u.now, u.since = u.now, least{}, f.landed()
	}
	usually := max(u.expect(units), slowFloor/slowFactor)
	u.now.note(f.took, units)
	if f.took < slowFactor*usually {
		u.first = time.Time{}
		return false
	}
	if u.first.IsZero() {
		u.first = f.landed()
	}
	return f.sent.After(u.first)
}

// expect returns the best duration of a call of so many units. While it is not known,
// expect returns a duration so long that no call is slow.
func (u *usual) expect(units int) time.Duration {
	l := u.now.with(u.was)
	if l.calls < usualCalls {
		return time.Hour
	}
	return max(l.call, time.Duration(l.unit*float64(units)))
}

func (l *least) note(took time.Duration, units int) {
	unit := float64(took) / float64(max(units, 1))
	*l = l.with(least{calls: 1, call: took, unit: unit})
}

func (l least) with(m least) least {
	switch {
	case l.calls == 0:
		return m
	case m.calls == 0:
		return l
	}
	return least{l.calls + m.calls, min(l.call, m.call), min(l.unit, m.unit)}
}

// went records a successful call.
func (s *server) went(k kind, f flight, units int) {
	if !s.usual[k].slow(f, units) {
		s.window.grow()
		return
	}
	// The slow calls may be our own reads of data that is in no cache. Fewer calls at
	// once would then take even longer in total, so the window keeps some places.
	s.window.shrink(f.sent, (s.window.most+2)/3, fmt.Sprintf("a call took %s", f.took.Round(time.Millisecond)))
}
