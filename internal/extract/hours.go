package extract

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// hours are a stretch of the local day; all of it, unless some.
type hours struct {
	some     bool
	from, to int // from 22 to 6 goes over midnight
	zone     *time.Location
}

// parseHours reads FROM-TO, such as 18-24 or 22-6; no text is the whole day.
func parseHours(s, zone string) (hours, error) {
	if s == "" {
		return hours{}, nil
	}
	z, err := time.LoadLocation(zone)
	if err != nil {
		return hours{}, fmt.Errorf("the table's zone: %w", err)
	}
	from, to, ok := strings.Cut(s, "-")
	h := hours{some: true, zone: z}
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
		return hours{}, nil
	}
	if !ok || h.from%24 == h.to%24 {
		return hours{}, fmt.Errorf("%q: write FROM-TO in full hours of the day, 0 to 24, such as 18-24, or 22-6 over midnight", s)
	}
	return h, nil
}

// has reports whether a time in microseconds is in h.
func (h *hours) has(micros int64) bool {
	if !h.some {
		return true
	}
	hour := time.UnixMicro(micros).In(h.zone).Hour()
	if h.from < h.to {
		return h.from <= hour && hour < h.to
	}
	return h.from <= hour || hour < h.to
}
