package ratelimit

import (
	"sync"
	"time"
)

// A Stopwatch sums the time during which at least one goroutine did something: if two
// goroutines wait during the same second, it counts one second. The zero Stopwatch is
// ready to use.
type Stopwatch struct {
	mu    sync.Mutex
	doing int
	since time.Time
	sum   time.Duration
}

// Start begins a measurement; stop ends it.
func (s *Stopwatch) Start() (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doing == 0 {
		s.since = time.Now()
	}
	s.doing++
	return s.stop
}

func (s *Stopwatch) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doing--
	if s.doing == 0 {
		s.sum += time.Since(s.since)
	}
}

// Elapsed returns the sum so far, running measurements included.
func (s *Stopwatch) Elapsed() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doing > 0 {
		return s.sum + time.Since(s.since)
	}
	return s.sum
}
