// Package pace bounds how much a program asks of servers in a second, whichever of
// its goroutines asks. It stands before the calls of package hbase.
//
//	gets=5000/s,puts=20000/s,bytes=50MiB/s
//
// What a request brings along is waited for before it is sent; what its answer
// brings is known only when it is there, and the requests after it wait for that. So
// from when a Pace was made on, no more is sent than the bound and the time allow, and
// of what comes only the answers under way are ahead of it.
package pace

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"usertrail/internal/pipe"
)

// An Amount is what is asked of servers, or, as Limits, the most of it in a second.
type Amount struct {
	Gets  int64 // rows asked for, or brought by a scan
	Puts  int64 // cells put
	Bytes int64 // of requests and answers
}

// Limits are bounds for each second; 0 is without bound.
type Limits Amount

// A Pace shares limits out. It may be used by many goroutines at once; the nil Pace
// has no bounds.
type Pace struct {
	limits            Limits
	gets, puts, bytes *bound
	waiting           Stopwatch
}

// New returns a Pace; nil where nothing is bounded.
func New(l Limits) *Pace {
	if l == (Limits{}) {
		return nil
	}
	return &Pace{limits: l, gets: newBound(l.Gets), puts: newBound(l.Puts), bytes: newBound(l.Bytes)}
}

// Wait waits until a may be asked for, and all that was asked for before. It returns
// why ctx ended where that comes first.
func (p *Pace) Wait(ctx context.Context, a Amount) error {
	if p == nil {
		return nil
	}
	d := p.take(a)
	if d <= 0 {
		return nil
	}
	defer p.waiting.Start()()
	return pipe.Sleep(ctx, d)
}

// Owe adds what has come without having been waited for.
func (p *Pace) Owe(a Amount) {
	if p != nil {
		p.take(a)
	}
}

// take takes a of what there is, or will be, and returns how long that is from now.
func (p *Pace) take(a Amount) time.Duration {
	return max(p.gets.take(a.Gets), p.puts.take(a.Puts), p.bytes.take(a.Bytes))
}

// Waited is for how long at least one goroutine waited.
func (p *Pace) Waited() time.Duration {
	if p == nil {
		return 0
	}
	return p.waiting.Elapsed()
}

// parts is into how many requests a second's worth is cut, at least, so that what is
// slow is not also rough.
const parts = 4

// Share is how much one request should have at most; 0 is without bound.
func (p *Pace) Share() Limits {
	if p == nil {
		return Limits{}
	}
	return Limits{Gets: share(p.limits.Gets), Puts: share(p.limits.Puts), Bytes: share(p.limits.Bytes)}
}

func share(n int64) int64 {
	if n == 0 {
		return 0
	}
	return max(n/parts, 1)
}

// A bound is one of the limits; the nil bound is none.
type bound struct {
	mu    sync.Mutex // what one takes is not cut by another
	burst int
	limit *rate.Limiter
}

// rest is what part of a second's worth is kept while nobody takes it.
const rest = 50

// newBound begins with nothing to take.
func newBound(perSecond int64) *bound {
	if perSecond == 0 {
		return nil
	}
	burst := int(max(perSecond/rest, 1))
	b := &bound{burst: burst, limit: rate.NewLimiter(rate.Limit(perSecond), burst)}
	b.limit.AllowN(time.Now(), burst)
	return b
}

// take takes n, which may be more than there ever is at once.
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
