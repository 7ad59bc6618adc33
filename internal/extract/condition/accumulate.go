package condition

import (
	"math"
	"math/big"
	"math/bits"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/trail"
)

// did sums up a user's events of one kind.
type did struct {
	count       int
	first, last int64 // microseconds, UTC
	days        int
	day         int32 // the latest
	before      bool  // the day before day has an event too
}

// add adds the next event of the trail. Times ascend, but if the clock is put back at
// midnight, the local date of the next event may be the day before.
func (d *did) add(ev *trail.Event) {
	if d.count++; d.count == 1 {
		d.first, d.day, d.days = ev.Time, ev.Date, 1
	}
	d.last = ev.Time
	switch {
	case ev.Date > d.day:
		d.before = ev.Date == d.day+1
		d.day = ev.Date
		d.days++
	case ev.Date < d.day && !d.before:
		d.before = true
		d.days++
	}
}

// seen sums up the values of one field. Its type separates whole numbers and times from
// doubles.
type seen struct {
	field       uint32
	typ         behaviour.Type
	count       int
	ordered     int // number of values that are not NaN
	total       whole128
	totalDouble float64
	least, most extreme
}

// An extreme is a value in the form of its type.
type extreme struct {
	whole  int64 // also microseconds, and days
	double float64
}

func (c *seen) begin() { *c = seen{field: c.field, typ: c.typ} }

// add adds the field of an event.
func (c *seen) add(b *trail.Batch, ev *trail.Event) error {
	v := b.Value(b.Refs[ev.Refs+c.field])
	if v == nil {
		return nil
	}
	if n := c.typ.Size(); n != len(v) && n != 0 {
		return broken(c.typ, v)
	}
	c.count++
	switch c.typ {
	case behaviour.Int64:
		n := behaviour.ToInt64(v)
		c.total.add(n)
		c.addWhole(n)
	case behaviour.Timestamp:
		c.addWhole(behaviour.ToInt64(v))
	case behaviour.Day:
		c.addWhole(int64(behaviour.ToDate(v)))
	case behaviour.Double:
		c.addDouble(behaviour.ToDouble(v))
	}
	return nil
}

func (c *seen) addWhole(n int64) {
	if c.ordered++; c.ordered == 1 {
		c.least.whole, c.most.whole = n, n
		return
	}
	c.least.whole, c.most.whole = min(c.least.whole, n), max(c.most.whole, n)
}

func (c *seen) addDouble(v float64) {
	c.totalDouble += v
	if math.IsNaN(v) {
		return
	}
	if c.ordered++; c.ordered == 1 {
		c.least.double, c.most.double = v, v
		return
	}
	c.least.double, c.most.double = min(c.least.double, v), max(c.most.double, v)
}

func (c *seen) sum() float64 {
	if c.typ == behaviour.Double {
		return c.totalDouble
	}
	return c.total.double()
}

// value returns x in the form that expressions use.
func (c *seen) value(x extreme, zone *time.Location) any {
	switch c.typ {
	case behaviour.Timestamp:
		return time.UnixMicro(x.whole)
	case behaviour.Day:
		return behaviour.Date(x.whole).Start(zone)
	case behaviour.Double:
		return x.double
	}
	return int(x.whole)
}

// A whole128 is a sum of int64s. It has room for 2^63 of them.
type whole128 struct {
	hi int64
	lo uint64
}

func (s *whole128) add(n int64) {
	lo, carry := bits.Add64(s.lo, uint64(n), 0)
	s.lo = lo
	s.hi += n>>63 + int64(carry)
}

// double returns the double nearest to s.
func (s whole128) double() float64 {
	if s.hi == int64(s.lo)>>63 {
		return float64(int64(s.lo))
	}
	exact := new(big.Int).Lsh(big.NewInt(s.hi), 64)
	exact.Or(exact, new(big.Int).SetUint64(s.lo))
	f, _ := new(big.Float).SetInt(exact).Float64()
	return f
}
