package show

import (
	"time"

	"usertrail/internal/behaviour"
)

// begins is the first instant, in microseconds, at which the date is d or later.
// Where a clock that is put back shows midnight twice, it is the first of the two.
func begins(d behaviour.Date, zone *time.Location) int64 {
	start := d.Start(zone)
	since, _ := start.ZoneBounds()
	if since.IsZero() {
		return start.UnixMicro()
	}
	before := since.Add(-time.Microsecond)
	if behaviour.DateAt(before.UnixMicro(), zone) < d {
		return start.UnixMicro()
	}
	_, offset := before.In(zone).Zone()
	return (int64(d)*86400 - int64(offset)) * 1e6
}

// earliest is the first date that any instant from micros on has.
func earliest(micros int64, zone *time.Location) behaviour.Date {
	t := time.UnixMicro(micros).In(zone)
	d := behaviour.DateAt(micros, zone)
	if _, until := t.ZoneBounds(); !until.IsZero() {
		d = min(d, behaviour.DateAt(until.UnixMicro(), zone))
	}
	return d
}
