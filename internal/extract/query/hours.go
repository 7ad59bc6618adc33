package query

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"usertrail/internal/format/layout"
)

// Hours are a part of the local day. The zero value is the whole day.
type Hours struct {
	some     bool // not the whole day
	from, to int  // full hours; from 22 to 6 is over midnight
	zone     *time.Location
}

// parseHours parses FROM-TO, such as 18-24 or 22-6. The empty text is the whole day.
func parseHours(s, zone string) (Hours, error) {
	if s == "" {
		return Hours{}, nil
	}
	z, err := time.LoadLocation(zone)
	if err != nil {
		return Hours{}, fmt.Errorf("the table's zone: %w", err)
	}
	from, to, ok := strings.Cut(s, "-")
	h := Hours{some: true, zone: z}
	for _, p := range []struct {
		text string
		hour *int
	}{{from, &h.from}, {to, &h.to}} {
		n, err := strconv.Atoi(p.text)
		if err != nil || n < 0 || n > 24 {
			ok = false
		}
		*p.hour = n
	}
	if ok && h.from == 0 && h.to == 24 {
		return Hours{}, nil
	}
	if !ok || h.from%24 == h.to%24 {
		return Hours{}, fmt.Errorf("%q: write FROM-TO in full hours of the day, 0 to 24, such as 18-24, or 22-6 over midnight", s)
	}
	return h, nil
}

// Has reports whether a time in microseconds is in h.
func (h *Hours) Has(micros int64) bool {
	if !h.some {
		return true
	}
	hour := time.UnixMicro(micros).In(h.zone).Hour()
	if h.from < h.to {
		return h.from <= hour && hour < h.to
	}
	return h.from <= hour || hour < h.to
}

// within returns t from its first to its last moment that is in h. If no moment of t is in h,
// First comes after Last.
func (h *Hours) within(t layout.Times) layout.Times {
	for t.First <= t.Last && !h.Has(t.First) {
		t.First = h.after(t.First)
	}
	for t.First <= t.Last && !h.Has(t.Last) {
		t.Last = h.before(t.Last)
	}
	return t
}

// after returns the end of the local hour of a time, or the time at which the offset of the
// zone changes, if that is earlier.
func (h *Hours) after(micros int64) int64 {
	at := time.UnixMicro(micros).In(h.zone)
	next := at.Add(time.Hour - intoHour(at)).UnixMicro()
	if _, end := at.ZoneBounds(); !end.IsZero() {
		next = min(next, end.UnixMicro())
	}
	return next
}

// before returns the last moment before the local hour of a time, or before the offset of the
// zone changed, if that is later.
func (h *Hours) before(micros int64) int64 {
	at := time.UnixMicro(micros).In(h.zone)
	began := at.Add(-intoHour(at)).UnixMicro()
	if start, _ := at.ZoneBounds(); !start.IsZero() {
		began = max(began, start.UnixMicro())
	}
	return began - 1
}

// intoHour returns the time since the beginning of the local hour.
func intoHour(at time.Time) time.Duration {
	return time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second + time.Duration(at.Nanosecond())
}
