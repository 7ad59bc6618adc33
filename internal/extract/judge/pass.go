package judge

import (
	"sync/atomic"
	"time"
)

// A cost is the time that it took to read users.
type cost struct {
	users, nanos atomic.Int64
}

func (c *cost) add(users int, since time.Time) {
	c.users.Add(int64(users))
	c.nanos.Add(int64(time.Since(since)))
}

// user returns the time for one user in nanoseconds, 0 if no user was read.
func (c *cost) user() float64 {
	if n := c.users.Load(); n > 0 {
		return float64(c.nanos.Load()) / float64(n)
	}
	return 0
}

// A pass reads a few facts about users first, so that fewer users are read whole. The pass is
// skipped if most users stay, or if it takes as long as reading the users whole. The result is
// the same.
type pass struct {
	cost
	stayed atomic.Int64
}

// trial is the number of users after which the measured times decide whether the pass
// continues.
const trial = 2 << 10

// worth reports whether the pass saves time. whole is the cost of users who stay.
func (p *pass) worth(whole *cost) bool {
	n := p.users.Load()
	if n < trial {
		return true
	}
	read := whole.user()
	return p.user()+read*float64(p.stayed.Load())/float64(n) < read || read == 0
}
