package hbase

import (
	"log/slog"
	"sync/atomic"
	"time"

	"usertrail/internal/pace"
)

// Held is how much a client did less than it could have, for the servers' sake.
type Held struct {
	Busy  int64         // how often a server came to have too much to do
	Back  time.Duration // for which calls waited for that
	Paced time.Duration // for which they waited for Config.Pace
}

// Held is what the client held back so far.
func (c *Client) Held() Held {
	return Held{Busy: c.strain.times.Load(), Back: c.strain.waiting.Elapsed(), Paced: c.cfg.Pace.Waited()}
}

// A strain is what all servers of a client tell of having too much to do.
type strain struct {
	log     *slog.Logger
	times   atomic.Int64
	waiting pace.Stopwatch
}

// began is told that a server has become busy, and how that shows.
func (s *strain) began(addr, why string) {
	s.times.Add(1)
	s.log.Info("server is busy: calling it less", "server", addr, "why", why)
}

// over is told that a server is as it was.
func (s *strain) over(addr string) {
	s.log.Info("server is not busy any more", "server", addr)
}
