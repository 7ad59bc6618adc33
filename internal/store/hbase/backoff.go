package hbase

import (
	"math/rand/v2"
	"time"
)

// backoff returns a random pause before the n-th further attempt. The bound of the
// pause is minBackoff doubled n-1 times, at most maxBackoff. Full jitter prevents calls
// that failed together from returning together.
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
