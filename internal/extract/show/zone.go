package show

import (
	"time"

	"usertrail/internal/behaviour"
)

// earliest returns the first date of any instant from micros on.
func earliest(micros int64, zone *time.Location) behaviour.Date {
	t := time.UnixMicro(micros).In(zone)
	d := behaviour.DateAt(micros, zone)
	if _, until := t.ZoneBounds(); !until.IsZero() {
		d = min(d, behaviour.DateAt(until.UnixMicro(), zone))
	}
	return d
}

// latest returns the last date of any instant up to micros.
func latest(micros int64, zone *time.Location) behaviour.Date {
	t := time.UnixMicro(micros).In(zone)
	d := behaviour.DateAt(micros, zone)
	if since, _ := t.ZoneBounds(); !since.IsZero() {
		d = max(d, behaviour.DateAt(since.UnixMicro()-1, zone))
	}
	return d
}
