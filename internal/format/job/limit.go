package job

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// A Limit is a number of the records that a file may have: a count, or a share of the records
// read. The zero Limit allows none.
type Limit struct {
	count    int64 // used if share is false
	millions int64 // millionths of the records read, used if share is true
	share    bool
}

var (
	// DefaultMaxBad is one percent.
	DefaultMaxBad = Limit{millions: million / 100, share: true}
	// DefaultMaxSkipped is ten percent.
	DefaultMaxSkipped = Limit{millions: million / 10, share: true}
)

const million = 1_000_000

// ParseLimit reads N or N%, with at most four digits after the point.
func ParseLimit(s string) (Limit, error) {
	number, share := strings.CutSuffix(s, "%")
	if !share {
		n, err := strconv.ParseUint(number, 10, 62)
		if err != nil {
			return Limit{}, fmt.Errorf("%q is neither a number of records nor a percentage such as 1%%", s)
		}
		return Limit{count: int64(n)}, nil
	}
	whole, point, dotted := strings.Cut(strings.TrimSpace(number), ".")
	// Four digits after the point of a percentage are millionths.
	n, err := strconv.ParseUint(whole+(point + "0000")[:max(4, len(point))], 10, 62)
	if err != nil || whole == "" || dotted && point == "" || len(point) > 4 || n > million {
		return Limit{}, fmt.Errorf("%q is not a percentage from 0%% to 100%% with at most four digits after the point", s)
	}
	return Limit{millions: int64(n), share: true}, nil
}

// Exceeded reports whether n of the read records are more than l allows.
func (l Limit) Exceeded(read, n int64) bool {
	if !l.share {
		return n > l.count
	}
	hi, lo := bits.Mul64(uint64(n), million)
	maxHi, maxLo := bits.Mul64(uint64(read), uint64(l.millions))
	return hi > maxHi || hi == maxHi && lo > maxLo
}

func (l Limit) String() string {
	if !l.share {
		return strconv.FormatInt(l.count, 10)
	}
	return strconv.FormatFloat(float64(l.millions)/(million/100), 'f', -1, 64) + "%"
}
