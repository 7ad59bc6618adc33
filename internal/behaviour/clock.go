package behaviour

import (
	"strings"
	"time"
)

// A Clock converts local times of a zone into instants and back, both in seconds since
// 1970-01-01. It remembers the last period between two changes of the zone's offset, because
// nearly all times of a file are in one period. Only one goroutine may use a Clock.
//
// A local time that occurs twice means the first occurrence. A local time in the gap when the
// clock is put forward is read with the offset before the gap.
type Clock struct {
	zone *time.Location

	from, to int64 // the instants of the period
	offset   int64 // in the period, seconds east of UTC

	// The range of local times that occur in this period and in no earlier one.
	wallFrom, wallTo int64
}

// forever is beyond every accepted time, in seconds, in both directions.
const forever = 1 << 40

const secondsOfDay = 86400

// lookBack is larger than any offset from UTC.
const lookBack = 2 * secondsOfDay

// NewClock returns the clock of a zone.
func NewClock(zone *time.Location) *Clock { return &Clock{zone: zone} }

// ParseLocal is time.ParseInLocation, except that it reads a text without an offset by a
// Clock, as loads read times. A layout must have an offset, or no zone at all.
func ParseLocal(layout, text string, zone *time.Location) (time.Time, error) {
	t, err := time.Parse(layout, text)
	if err != nil || strings.Contains(layout, "Z07:00") {
		return t, err
	}
	at := NewClock(zone).Instant(t.Unix())
	return time.Unix(at, int64(t.Nanosecond())).In(zone), nil
}

// Instant returns the instant at which a clock of the zone shows wall.
func (c *Clock) Instant(wall int64) int64 {
	if wall >= c.wallFrom && wall < c.wallTo {
		return wall - c.offset
	}
	return c.search(wall)
}

// Wall returns the local time of an instant.
func (c *Clock) Wall(instant int64) int64 {
	if instant < c.from || instant >= c.to {
		c.load(instant)
	}
	return instant + c.offset
}

// WallMicros returns the local time of an instant, both in microseconds, and the offset of the
// zone at that instant, in seconds east of UTC.
func (c *Clock) WallMicros(instant int64) (wall, offset int64) {
	seconds := floorDiv(instant, 1e6)
	offset = c.Wall(seconds) - seconds
	return instant + offset*1e6, offset
}

// search scans the periods in order, from a period before wall to the first period in
// which wall occurs.
func (c *Clock) search(wall int64) int64 {
	c.load(wall - lookBack)
	before := c.offset
	for {
		at := wall - c.offset
		switch {
		case at < c.from:
			return wall - before
		case at < c.to:
			return at
		}
		before = c.offset
		c.load(c.to)
	}
}

// load sets the remembered period to the period of an instant.
func (c *Clock) load(instant int64) {
	t := time.Unix(instant, 0).In(c.zone)
	_, offset := t.Zone()
	c.offset = int64(offset)
	c.from, c.to = -forever, forever
	start, end := t.ZoneBounds()
	before := offset
	if !start.IsZero() {
		c.from = start.Unix()
		_, before = start.Add(-time.Second).Zone()
	}
	if !end.IsZero() {
		c.to = end.Unix()
	}
	if c.to <= instant {
		c.to = c.lastDay(instant)
	}
	c.wallFrom = c.from + int64(max(offset, before))
	c.wallTo = c.to + c.offset
}

// lastDay returns the end of the period of an instant for which package time returns an
// end before the instant. Package time does so on 31 December of leap years, in years for
// which the zone has only a rule: its years end a day early. Its offset is right, and
// valid until the end of the day in UTC.
func (c *Clock) lastDay(instant int64) int64 {
	midnight := (floorDiv(instant, secondsOfDay) + 1) * secondsOfDay
	if _, offset := time.Unix(midnight-1, 0).In(c.zone).Zone(); int64(offset) != c.offset {
		return instant + 1
	}
	return midnight
}
