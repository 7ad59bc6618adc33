package hbase

import (
	"math/rand/v2"
	"time"
)

// backoff is how long to wait before the n-th further attempt: up to minBackoff
// doubled n-1 times and at most maxBackoff, with full jitter so that many who
// failed together do not come back together.
func backoff(n int) time.Duration {
	most := maxBackoff
	if n < 1 {
		n = 1
	}
	if n <= 7 { // 100 ms << 7 is over 10 s
		most = min(most, minBackoff<<(n-1))
	}
	return rand.N(most) + time.Millisecond
}
