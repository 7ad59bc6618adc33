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

// dateTime is the format of a date with its time.
const dateTime = "2006-01-02 15:04:05.999999"

// local returns an instant as text in a time zone. In the hour that a clock repeats, the text ends in the offset from UTC.
func local(micros int64, zone *time.Location, format string) string {
	t := time.UnixMicro(micros).In(zone)
	if repeated(t) {
		format += "-07:00"
	}
	return t.Format(format)
}

// repeated reports whether the local time of t occurs twice, because the clock is set back.
func repeated(t time.Time) bool {
	since, until := t.ZoneBounds()
	if !until.IsZero() && !t.Add(back(t, until)).Before(until) {
		return true
	}
	return !since.IsZero() && t.Add(-back(since.Add(-1), t)).Before(since)
}

// back returns by how much the clock is set back between two instants. It is negative if the clock is set forward.
func back(before, after time.Time) time.Duration {
	_, was := before.Zone()
	_, is := after.Zone()
	return time.Duration(was-is) * time.Second
}
