// Package ratelimit limits how much a program asks of servers in a second, over all its
// goroutines. Package hbase calls it before each request.
//
//	gets=5000/s,puts=20000/s,bytes=50MiB/s
//
// A request waits for its own size before it is sent. The size of its response is known
// only when the response arrives; later requests wait for it. Since the Limiter was made, a
// program has never sent more than the limit allows for that time. It can have received
// more only by the responses to requests that were in flight.
package ratelimit

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"usertrail/internal/run/pipe"
)

// An Amount is an amount of work of servers. In Limits it is the maximum for each second.
type Amount struct {
	Gets  int64 // rows requested, or returned by a scan
	Puts  int64 // cells put
	Bytes int64 // bytes of requests and responses
}

// Limits are maxima for each second; 0 is no limit.
type Limits Amount

// A Limiter enforces limits. Many goroutines may use it at once. A nil Limiter has no limits.
type Limiter struct {
	limits            Limits
	gets, puts, bytes *bound
	waiting           Stopwatch
}

// New returns a Limiter, or nil if l has no limit.
func New(l Limits) *Limiter {
	if l == (Limits{}) {
		return nil
	}
	return &Limiter{limits: l, gets: newBound(l.Gets), puts: newBound(l.Puts), bytes: newBound(l.Bytes)}
}

// Wait waits until the limits allow a and everything that was taken before it. If ctx
// ends first, Wait returns its cause.
func (l *Limiter) Wait(ctx context.Context, a Amount) error {
	if l == nil {
		return nil
	}
	d := l.take(a)
	if d <= 0 {
		return nil
	}
	defer l.waiting.Start()()
	return pipe.Sleep(ctx, d)
}

// Owe adds an amount without waiting, such as a response that has arrived. Later calls of
// Wait wait for it.
func (l *Limiter) Owe(a Amount) {
	if l != nil {
		l.take(a)
	}
}

// take reserves a and returns how long the caller has to wait for it.
func (l *Limiter) take(a Amount) time.Duration {
	return max(l.gets.take(a.Gets), l.puts.take(a.Puts), l.bytes.take(a.Bytes))
}

// Waited returns the time during which at least one goroutine waited in Wait.
func (l *Limiter) Waited() time.Duration {
	if l == nil {
		return 0
	}
	return l.waiting.Elapsed()
}

// parts is the number of requests among which the amount of a second is divided, at
// least, so that a low limit does not cause long pauses.
const parts = 4

// Share returns the most that one request should have; 0 is no limit.
func (l *Limiter) Share() Limits {
	if l == nil {
		return Limits{}
	}
	return Limits{Gets: share(l.limits.Gets), Puts: share(l.limits.Puts), Bytes: share(l.limits.Bytes)}
}

func share(n int64) int64 {
	if n == 0 {
		return 0
	}
	return max(n/parts, 1)
}

// A bound enforces one limit. A nil bound has no limit.
type bound struct {
	mu    sync.Mutex // keeps the reservations of one take together
	burst int
	limit *rate.Limiter
}

// rest is the divisor for unused amounts: while nothing is used, a bound saves up 1/rest of the
// amount of a second.
const rest = 50

// newBound returns a bound without saved-up amount.
func newBound(perSecond int64) *bound {
	if perSecond == 0 {
		return nil
	}
	burst := int(max(perSecond/rest, 1))
	b := &bound{burst: burst, limit: rate.NewLimiter(rate.Limit(perSecond), burst)}
	b.limit.AllowN(time.Now(), burst)
	return b
}

// take reserves n, which may be larger than the burst of the limiter, and returns how
// long the caller has to wait.
func (b *bound) take(n int64) time.Duration {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for ; n > int64(b.burst); n -= int64(b.burst) {
		b.limit.ReserveN(now, b.burst)
	}
	return b.limit.ReserveN(now, int(n)).DelayFrom(now)
}
