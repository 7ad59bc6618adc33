package hbase

import (
	"log/slog"
	"sync/atomic"
	"time"

	"usertrail/internal/run/ratelimit"
)

// Held describes how much a client held back to protect the servers.
type Held struct {
	Busy  int64         // how often a server became too busy
	Back  time.Duration // time in which calls waited because of busy servers
	Paced time.Duration // time in which calls waited for Config.Limiter
}

// Held returns how much the client has held back so far.
func (c *Client) Held() Held {
	return Held{Busy: c.overload.times.Load(), Back: c.overload.waiting.Elapsed(), Paced: c.cfg.Limiter.Waited()}
}

// An overload counts and logs when the servers of a client are too busy.
type overload struct {
	log     *slog.Logger
	times   atomic.Int64
	waiting ratelimit.Stopwatch
}

// began records that a server has become busy, and the sign of it.
func (s *overload) began(addr, why string) {
	s.times.Add(1)
	s.log.Info("server is busy: calling it less", "server", addr, "why", why)
}

// over logs that a server is not busy any more.
func (s *overload) over(addr string) {
	s.log.Info("server is not busy any more", "server", addr)
}
