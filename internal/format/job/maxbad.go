package job

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// A MaxBad is the number of bad records that a file may have: a count, or a share of the
// records read. The zero MaxBad allows none.
type MaxBad struct {
	count    int64 // used if share is false
	millions int64 // millionths of the records read, used if share is true
	share    bool
}

// DefaultMaxBad is one percent.
var DefaultMaxBad = MaxBad{millions: million / 100, share: true}

const million = 1_000_000

// ParseMaxBad reads N or N%, with at most four digits after the point.
func ParseMaxBad(s string) (MaxBad, error) {
	number, share := strings.CutSuffix(s, "%")
	if !share {
		n, err := strconv.ParseUint(number, 10, 62)
		if err != nil {
			return MaxBad{}, fmt.Errorf("%q is neither a number of records nor a percentage such as 1%%", s)
		}
		return MaxBad{count: int64(n)}, nil
	}
	whole, point, dotted := strings.Cut(strings.TrimSpace(number), ".")
	// Four digits after the point of a percentage are millionths.
	n, err := strconv.ParseUint(whole+(point + "0000")[:max(4, len(point))], 10, 62)
	if err != nil || whole == "" || dotted && point == "" || len(point) > 4 || n > million {
		return MaxBad{}, fmt.Errorf("%q is not a percentage from 0%% to 100%% with at most four digits after the point", s)
	}
	return MaxBad{millions: int64(n), share: true}, nil
}

// Exceeded reports whether bad records among the read ones are more than m allows.
func (m MaxBad) Exceeded(read, bad int64) bool {
	if !m.share {
		return bad > m.count
	}
	badHi, badLo := bits.Mul64(uint64(bad), million)
	maxHi, maxLo := bits.Mul64(uint64(read), uint64(m.millions))
	return badHi > maxHi || badHi == maxHi && badLo > maxLo
}

func (m MaxBad) String() string {
	if !m.share {
		return strconv.FormatInt(m.count, 10)
	}
	return strconv.FormatFloat(float64(m.millions)/(million/100), 'f', -1, 64) + "%"
}
