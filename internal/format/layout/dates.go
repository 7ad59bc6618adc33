package layout

import (
	"fmt"
	"math"
	"time"

	"usertrail/internal/behaviour"
)

// dates returns the local dates of times as behaviour.DateAt does, in a tenth of the time: it
// remembers the zone's offset from UTC, and the times between which this offset holds.
type dates struct {
	zone string // IANA name

	loc        *time.Location // of zone, once it was needed
	first, end int64          // seconds since 1970-01-01 UTC in which offset holds
	offset     int64          // seconds
}

// at returns the local date of a time in microseconds.
func (d *dates) at(micros int64) (behaviour.Date, error) {
	seconds := time.UnixMicro(micros).Unix()
	if d.loc == nil || seconds < d.first || seconds >= d.end {
		if err := d.seek(micros); err != nil {
			return 0, err
		}
	}
	local := seconds + d.offset
	day := local / 86400
	if local%86400 < 0 {
		day--
	}
	return behaviour.Date(day), nil
}

// seek sets the offset to the zone's offset at a time.
func (d *dates) seek(micros int64) error {
	if d.loc == nil {
		loc, err := time.LoadLocation(d.zone)
		if err != nil {
			return fmt.Errorf("layout: zone of the table: %w", err)
		}
		d.loc = loc
	}
	t := time.UnixMicro(micros).In(d.loc)
	_, offset := t.Zone()
	first, end := t.ZoneBounds()
	d.offset, d.first, d.end = int64(offset), math.MinInt64, math.MaxInt64
	if !first.IsZero() {
		d.first = first.Unix()
	}
	if !end.IsZero() {
		d.end = end.Unix()
	}
	return nil
}
