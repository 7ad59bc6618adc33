package hbase

import (
	"fmt"
	"sync"
	"time"
)

// A flight is when a call was under way, from when it had its turn.
type flight struct {
	sent time.Time
	took time.Duration
}

func (f flight) landed() time.Time { return f.sent.Add(f.took) }

// A kind is of calls that can be compared with each other.
type kind int

const (
	multiGets kind = iota // by rows
	multiPuts             // by bytes
	scanPages             // by bytes
	kinds
)

// A usual is how long calls of one kind take on one server while nothing is in
// their way: the shortest of the last minutes, and the shortest for each of the
// units that they are counted by. A call is slow that takes a multiple of both.
type usual struct {
	mu    sync.Mutex
	now   least
	was   least
	since time.Time // of now
	first time.Time // when the first slow call landed; zero if the last was not slow
}

// A least is the least of some calls.
type least struct {
	calls int
	call  time.Duration
	unit  float64 // ns
}

const (
	// usualFor is how long a least counts, at least: what has been slow for longer
	// than twice that is usual by now.
	usualFor = 5 * time.Minute

	// usualCalls is how many calls make a usual.
	usualCalls = 16

	// slowFactor is well above what a cache that has cooled, a flush or a burst of
	// our own does, and slowFloor what nobody would notice.
	slowFactor = 5
	slowFloor  = 500 * time.Millisecond
)

// slow notes a call that went well and says whether the server is slow: two calls one
// after the other were. All that are under way in a server's pause are slow together
// and say so once.
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

// expect is how long a call of so many units takes at best; too long for any to be
// slow while that is not known.
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

// went is told of a call that went well.
func (s *server) went(k kind, f flight, units int) {
	if !s.usual[k].slow(f, units) {
		s.window.grow()
		return
	}
	// What is slow may be our own reads of what is on no cache; fewer of them at once
	// take longer still, so some stay.
	s.window.shrink(f.sent, (s.window.most+2)/3, fmt.Sprintf("a call took %s", f.took.Round(time.Millisecond)))
}
