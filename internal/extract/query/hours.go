package query

import (
	"encoding/csv"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
)

// Hours are a part of the local day, for each behaviour. The zero value is the whole day.
type Hours struct {
	some   bool      // not the whole day of every behaviour
	every  dayPart   // of behaviours that are not named
	byKind []dayPart // nil if no behaviour is named
	named  []int     // behaviours with hours of their own
	zone   *time.Location
}

// A dayPart is a range of full hours of the day. 22 to 6 is over midnight. The zero value is the whole day.
type dayPart struct{ from, to int }

// parseHours parses a list of FROM-TO and BEHAVIOUR:FROM-TO, such as 18-24, 22-6 or play:20-23,order:8-12.
// FROM-TO alone is for the behaviours that the list does not name. The empty text is the whole day.
func parseHours(s string, schema *behaviour.Schema) (h Hours, err error) {
	if s == "" {
		return h, nil
	}
	if h.zone, err = time.LoadLocation(schema.Zone); err != nil {
		return h, fmt.Errorf("the table's zone: %w", err)
	}
	list, err := csv.NewReader(strings.NewReader(s)).Read()
	if err != nil {
		return h, fmt.Errorf("%q: write FROM-TO or BEHAVIOUR:FROM-TO, separated by commas: %w", s, err)
	}
	named := map[int]dayPart{}
	for _, item := range list {
		kind, at := -1, strings.LastIndexByte(item, ':')
		if at >= 0 {
			var ok bool
			if kind, ok = schema.Find(item[:at]); !ok {
				return h, noBehaviour(s, item, item[:at], schema)
			}
		}
		part, err := parseDayPart(item[at+1:])
		if err != nil {
			if _, ok := schema.Find(item); ok && at < 0 {
				return h, fmt.Errorf("%q: the hours of %s are missing: write %s:FROM-TO, such as %s:18-24", s, item, item, item)
			}
			return h, err
		}
		if _, twice := named[kind]; twice {
			return h, fmt.Errorf("%q: each behaviour has its hours once", s)
		}
		named[kind] = part
	}
	h.every = named[-1]
	delete(named, -1)
	h.named = slices.Sorted(maps.Keys(named))
	if len(named) > 0 {
		h.byKind = slices.Repeat([]dayPart{h.every}, len(schema.Kinds))
	}
	h.some = h.every != dayPart{}
	for kind, part := range named {
		h.byKind[kind] = part
		h.some = h.some || part != dayPart{}
	}
	return h, nil
}

// minutes matches a text that ends in a time with minutes, such as 18:00-20:30 and play:18-20:30, or in a
// range that begins with one.
const minutes = `(^|[:-])[0-9]{1,2}:[0-9]{2}(-[0-9]{1,2})?$`

// noBehaviour returns the error of an item of the list s, whose part before the last colon is no behaviour.
func noBehaviour(s, item, name string, schema *behaviour.Schema) error {
	if regexp.MustCompile(minutes).MatchString(item) {
		return wrongHours(item)
	}
	return fmt.Errorf("%q: the table has %w", s, schema.Unknown(name))
}

// wrongHours returns the error of a text that is no range of hours.
func wrongHours(s string) error {
	return fmt.Errorf("%q: write FROM-TO in full hours of the day, 0 to 24, such as 18-24, or 22-6 over midnight; for one behaviour play:18-24", s)
}

// parseDayPart parses FROM-TO.
func parseDayPart(s string) (p dayPart, err error) {
	from, to, ok := strings.Cut(s, "-")
	for _, part := range []struct {
		text string
		hour *int
	}{{from, &p.from}, {to, &p.to}} {
		n, err := strconv.Atoi(part.text)
		if err != nil || n < 0 || n > 24 {
			ok = false
		}
		*part.hour = n
	}
	if ok && p.from == 0 && p.to == 24 {
		return dayPart{}, nil
	}
	if !ok || p.from%24 == p.to%24 {
		return p, wrongHours(s)
	}
	return p, nil
}

// Has reports whether h has a time in microseconds of an event of a kind.
func (h *Hours) Has(kind int, micros int64) bool {
	switch {
	case !h.some:
		return true
	case h.byKind != nil:
		return h.byKind[kind].has(micros, h.zone)
	}
	return h.every.has(micros, h.zone)
}

func (p dayPart) has(micros int64, zone *time.Location) bool {
	if p == (dayPart{}) {
		return true
	}
	hour := time.UnixMicro(micros).In(zone).Hour()
	if p.from < p.to {
		return p.from <= hour && hour < p.to
	}
	return p.from <= hour || hour < p.to
}

// within returns t from its first to its last moment that is in h. If no moment of t is in h,
// First comes after Last. If h has hours of single behaviours, within returns t.
func (h *Hours) within(t layout.Times) layout.Times {
	if h.byKind != nil {
		return t
	}
	for t.First <= t.Last && !h.every.has(t.First, h.zone) {
		t.First = h.after(t.First)
	}
	for t.First <= t.Last && !h.every.has(t.Last, h.zone) {
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
