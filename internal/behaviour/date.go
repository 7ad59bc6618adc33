package behaviour

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// A Date is a day of the calendar, as days since 1970-01-01.
type Date int32

// The range of dates of a row. A row's date has eight digits.
const (
	MinDate Date = -719162 // 0001-01-01
	MaxDate Date = 2932896 // 9999-12-31
)

// ParseDate reads YYYY-MM-DD.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < 1 {
		return 0, fmt.Errorf("%q is not a date: %s", s, whyNoDate(s))
	}
	return Date(t.Unix() / 86400), nil
}

// whyNoDate returns the reason why a text is no date: its month has fewer days, or it has another form.
func whyNoDate(s string) string {
	const form = "write YYYY-MM-DD, such as 2014-09-01"
	if len(s) != len(time.DateOnly) || s[7] != '-' {
		return form
	}
	if n, err := strconv.ParseUint(s[5:7], 10, 8); err == nil && s[4] == '-' && (n < 1 || n > 12) {
		return fmt.Sprintf("there is no month %d: %s", n, form)
	}
	month, err := time.Parse("2006-01", s[:7])
	day, notNumber := strconv.ParseUint(s[8:], 10, 8)
	if err != nil || notNumber != nil || month.Year() < 1 {
		return form
	}
	last := month.AddDate(0, 1, -1).Day()
	return fmt.Sprintf("%s %d has %d days, and no day %d", month.Month(), month.Year(), last, day)
}

// DateOf returns the date of a calendar day.
func DateOf(year int, month time.Month, day int) Date {
	return Date(floorDiv(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix(), 86400))
}

// DateAt returns the local date of a time in microseconds.
func DateAt(micros int64, zone *time.Location) Date {
	y, m, d := time.UnixMicro(micros).In(zone).Date()
	return DateOf(y, m, d)
}

// Civil returns the year, month and day of d.
func (d Date) Civil() (int, time.Month, int) {
	return time.Unix(int64(d)*86400, 0).UTC().Date()
}

// Start returns the beginning of d in zone, which is midnight. If the clock shows midnight
// twice, it is the first one. If the clock skips midnight, it is the instant of the skip. A
// skipped day begins with the next day.
func (d Date) Start(zone *time.Location) time.Time {
	y, m, day := d.Civil()
	t := time.Date(y, m, day, 0, 0, 0, 0, zone)
	if DateAt(t.UnixMicro(), zone) < d {
		_, t = t.ZoneBounds()
	} else if set, _ := t.ZoneBounds(); !set.IsZero() && DateAt(set.UnixMicro()-1, zone) >= d {
		return d.midnight(set.Add(-time.Second))
	}
	return t
}

// End returns the end of d in zone, which is the beginning of the next day. If the clock then
// goes back over midnight, End returns the second beginning of the next day.
func (d Date) End(zone *time.Location) time.Time {
	t := (d + 1).Start(zone)
	if _, set := t.ZoneBounds(); !set.IsZero() && DateAt(set.UnixMicro(), zone) <= d {
		return (d + 1).midnight(set)
	}
	return t
}

// midnight returns the midnight that begins d, by the zone's offset at a given time.
func (d Date) midnight(at time.Time) time.Time {
	_, offset := at.Zone()
	return time.Unix(int64(d)*86400-int64(offset), 0).In(at.Location())
}

// Before reports whether first is set and d comes before it.
func (d Date) Before(first *Date) bool { return first != nil && d < *first }

func (d Date) String() string {
	return time.Unix(int64(d)*86400, 0).UTC().Format(time.DateOnly)
}

// MarshalText writes YYYY-MM-DD.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads YYYY-MM-DD.
func (d *Date) UnmarshalText(b []byte) error {
	v, err := ParseDate(string(b))
	*d = v
	return err
}

// A Span is the days from From to To, both included.
type Span struct {
	From Date `json:"from"`
	To   Date `json:"to"`
}

// Has reports whether d is in s.
func (s Span) Has(d Date) bool { return s.From <= d && d <= s.To }

// Micros returns the first and the last microsecond of s's days in zone.
func (s Span) Micros(zone *time.Location) (first, last int64) {
	return s.From.Start(zone).UnixMicro(), s.To.End(zone).UnixMicro() - 1
}

// Middle returns the day in the middle of s.
func (s Span) Middle() Date { return s.From + (s.To-s.From)/2 }

// Days returns the number of days in s.
func (s Span) Days() int { return int(s.To-s.From) + 1 }

// Overlaps reports whether s and o have a day in common.
func (s Span) Overlaps(o Span) bool { return s.From <= o.To && o.From <= s.To }

// CoveredBy reports whether each day of s is in one of the spans. It sorts spans.
func (s Span) CoveredBy(spans []Span) bool { return len(s.Gaps(spans)) == 0 }

// Gaps returns the days of s that are in none of the spans, as spans in order. It sorts spans.
func (s Span) Gaps(spans []Span) (out []Span) {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	next := s.From
	for _, o := range spans {
		if o.From > s.To {
			break
		}
		if o.To < o.From {
			continue
		}
		if o.From > next {
			out = append(out, Span{From: next, To: o.From - 1})
		}
		next = max(next, o.To+1)
	}
	if next <= s.To {
		out = append(out, Span{From: next, To: s.To})
	}
	return out
}

// SpansOf returns days as Join does.
func SpansOf(days []Date) []Span {
	spans := make([]Span, len(days))
	for i, d := range days {
		spans[i] = Span{From: d, To: d}
	}
	return Join(spans)
}

// Join returns the days of spans in order, with at least one day between two spans. It never returns nil. It sorts spans, and uses
// their memory.
func Join(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.From <= out[n-1].To+1 {
			out[n-1].To = max(out[n-1].To, s.To)
		} else {
			out = append(out, s)
		}
	}
	if out == nil {
		out = []Span{}
	}
	return out
}

// HasDay reports whether d is in one of the spans, which are as Join returns them.
func HasDay(spans []Span, d Date) bool {
	_, found := slices.BinarySearchFunc(spans, d, func(s Span, d Date) int {
		switch {
		case s.To < d:
			return -1
		case s.From > d:
			return 1
		}
		return 0
	})
	return found
}

// AllDays is the span of every date.
var AllDays = Span{From: MinDate, To: MaxDate}

// NoDays is the span without days.
var NoDays = Span{From: math.MaxInt32, To: math.MinInt32}

// Add extends s so that it includes o.
func (s *Span) Add(o Span) { s.From, s.To = min(s.From, o.From), max(s.To, o.To) }

// Common returns the days that are in s and in o. If there are none, its To is before its From.
func (s Span) Common(o Span) Span { return Span{From: max(s.From, o.From), To: min(s.To, o.To)} }

// AddDay extends s so that it includes d.
func (s *Span) AddDay(d Date) { s.Add(Span{From: d, To: d}) }

func (s Span) String() string {
	if s.From == s.To {
		return s.From.String()
	}
	return s.From.String() + ".." + s.To.String()
}

// Millis returns a time in microseconds as a cell's timestamp: in whole milliseconds, rounded
// down, also before 1970.
func Millis(micros int64) int64 { return floorDiv(micros, 1000) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
