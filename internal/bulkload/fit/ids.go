package fit

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"usertrail/internal/bulkload"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/split"
)

// sampledIDs is the number of IDs of a range whose keys are sampled to find split points: a thousand
// for each region of a table of many regions.
const sampledIDs = 1 << 17

// An IDRange is a range of numbered user IDs: a common prefix and then a number. The number has leading
// zeros if the first and the last ID have equally many digits.
type IDRange struct {
	prefix      string
	first, last uint64
	digits      int // 0 if the numbers have no leading zeros and differ in length
}

// maxDigits is the maximum number of digits. A uint64 holds the sum of two such numbers.
const maxDigits = 18

// ParseIDs reads FIRST..LAST, such as 0000000001..0062951396 or u1..u50000.
func ParseIDs(s string) (IDRange, error) {
	first, last, ok := strings.Cut(s, "..")
	wrong := func(why string) (IDRange, error) {
		return IDRange{}, fmt.Errorf("%w: --ids %q %s: write FIRST..LAST, such as 0000000001..0062951396", bulkload.ErrRequest, s, why)
	}
	if !ok {
		return wrong("has no two dots")
	}
	prefix, a := cutNumber(first)
	other, b := cutNumber(last)
	r := IDRange{prefix: prefix}
	switch {
	case a == "" || b == "" || len(a) > maxDigits || len(b) > maxDigits:
		return wrong(fmt.Sprintf("does not end in numbers of up to %d digits", maxDigits))
	case prefix != other:
		return wrong("has two different beginnings")
	case len(a) == len(b):
		r.digits = len(a)
	case a[0] == '0' || b[0] == '0':
		return wrong("has leading zeros, but numbers of different lengths")
	}
	var err1, err2 error
	r.first, err1 = strconv.ParseUint(a, 10, 64)
	r.last, err2 = strconv.ParseUint(b, 10, 64)
	if err1 != nil || err2 != nil || r.first > r.last {
		return wrong("does not ascend")
	}
	return r, nil
}

// cutNumber cuts a text before its last digits.
func cutNumber(s string) (prefix, digits string) {
	i := len(s)
	for i > 0 && '0' <= s[i-1] && s[i-1] <= '9' {
		i--
	}
	return s[:i], s[i:]
}

// IDs cuts a table for a range of IDs into n regions.
func IDs(j *job.Job, ids IDRange, n int) (Fit, error) {
	l, err := layout.ByName(j.Layout)
	if err != nil {
		return Fit{}, err
	}
	if !l.Traits().Together {
		return Fit{}, fmt.Errorf("%w: --ids: rows of the layout %s do not begin with their users: write --from and --to, so that the logs are read", bulkload.ErrRequest, l.Name())
	}
	for _, n := range []uint64{ids.first, ids.last} {
		if err := fitsID(j, l, ids.id(n)); err != nil {
			return Fit{}, err
		}
	}
	count := ids.last - ids.first + 1
	step := ids.step(count)
	samples := make([]split.Sample, 0, min(count, sampledIDs))
	for at := uint64(0); len(samples) < cap(samples); at = (at + step) % count {
		samples = append(samples, split.Sample{Key: l.AppendUserKey(nil, ids.id(ids.first+at)), Weight: 1})
	}
	return fit(l, samples, n), nil
}

// id returns the ID with a number.
func (r IDRange) id(n uint64) []byte { return fmt.Appendf(nil, "%s%0*d", r.prefix, r.digits, n) }

// fitsID returns an error if the layout cannot hold an ID.
func fitsID(j *job.Job, l layout.Layout, id []byte) error {
	zone, err := time.LoadLocation(j.Schema.Zone)
	if err != nil {
		return fmt.Errorf("%w: zone of the table: %w", job.ErrJob, err)
	}
	if err := l.Fits(j.Schema, &behaviour.Record{User: id, Date: behaviour.DateAt(0, zone)}); err != nil {
		return fmt.Errorf("%w: --ids: %w", bulkload.ErrRequest, err)
	}
	return nil
}

// step returns the distance from one sampled ID to the next. After the last ID the sample
// continues at the first. Keys begin with the last digits of an ID, so a round step would
// sample only some of the keys. This step is near the golden section of count and has no common
// divisor with it. The sample therefore visits every ID before it repeats one, and is even at
// every size.
func (r IDRange) step(count uint64) uint64 {
	if count <= sampledIDs {
		return 1
	}
	step := count/1_618_033*1_000_000 + count%1_618_033*1_000_000/1_618_033
	for new(big.Int).GCD(nil, nil, new(big.Int).SetUint64(step), new(big.Int).SetUint64(count)).Cmp(big.NewInt(1)) != 0 {
		step++
	}
	return step
}
