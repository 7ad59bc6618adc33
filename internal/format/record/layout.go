package record

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/ncruces/go-strftime"
)

// Formats of times that are not layouts.
const (
	EpochSeconds = "epoch_s"
	EpochMillis  = "epoch_ms"
	EpochMicros  = "epoch_us"
	RFC3339      = "rfc3339"
)

// A timeFormat reads times that are written in one format. Only one goroutine may use it.
type timeFormat struct {
	iso       bool  // the format is empty
	rfc3339   bool  // the format is rfc3339
	perSecond int64 // units per second if the format is an epoch
	layout    string
	parts     []part // of layout, if it consists of numbers at fixed places
	between   byte   // the byte between date and time if the layout is 2006-01-02 15:04:05 or has a T there
	runs      bool   // a run of spaces and tabs in a text is a space

	hasYear bool
	hasZone bool           // an offset or an abbreviation
	abbrev  bool           // an abbreviation and no offset, so zone has to know the abbreviation
	zone    *time.Location // the zone that explains abbreviations
	year    int64          // the year of texts without one; 0 uses near
	near    int64          // the day that a time without a year is closest to
}

// examples match the parts of a time that no layout of Go has, and have the part of a layout in its place.
var examples = []struct {
	what   string
	expr   *regexp.Regexp
	layout string
}{
	{"year", regexp.MustCompile(`(?:^|[^0-9])((?:19|20)[0-9]{2})(?:[^0-9]|$)`), "2006"},
	{"month", regexp.MustCompile(`\b(January|February|March|April|May|June|July|August|September|October|November|December)\b`), "January"},
	{"month", regexp.MustCompile(`\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b`), "Jan"},
}

// checkExample returns an error if a layout of Go is an example of a time, such as 31-Dec-2014. Its digits would mean other parts of a time.
func checkExample(layout string) error {
	for _, e := range examples {
		for _, m := range e.expr.FindAllStringSubmatch(layout, -1) {
			if m[1] != e.layout {
				return fmt.Errorf("time format %q: it is an example of a time, and a format has the %s %s in the place of %s", layout, e.what, e.layout, m[1])
			}
		}
	}
	return nil
}

// CheckTimeFormat returns an error if a format of Time or Column cannot be read.
func CheckTimeFormat(format string) error {
	if !strings.Contains(format, "%") {
		if err := checkExample(format); err != nil {
			return err
		}
	}
	_, err := compileFormat(format)
	return err
}

// FormatHasYear reports whether a format that CheckTimeFormat accepts contains the year.
func FormatHasYear(format string) bool {
	f, err := compileFormat(format)
	return err == nil && f.hasYear
}

func compileFormat(format string) (*timeFormat, error) {
	switch format {
	case "":
		return &timeFormat{iso: true, hasYear: true}, nil
	case RFC3339:
		return &timeFormat{rfc3339: true, hasYear: true}, nil
	case EpochSeconds, "%s":
		return &timeFormat{perSecond: 1, hasYear: true}, nil
	case EpochMillis:
		return &timeFormat{perSecond: 1000, hasYear: true}, nil
	case EpochMicros:
		return &timeFormat{perSecond: 1_000_000, hasYear: true}, nil
	}
	layout := format
	if strings.Contains(format, "%") {
		var err error
		if layout, err = strftime.Layout(format); err != nil {
			return nil, fmt.Errorf("time format %q: %s", format, strings.TrimSpace(err.Error())) // the library's text may end in a blank
		}
	}
	f := &timeFormat{layout: layout, parts: compileLayout(layout)}
	if layout == time.DateTime || layout == "2006-01-02T15:04:05" {
		f.between = layout[len(time.DateOnly)]
	}
	if err := f.probe(); err != nil {
		return nil, fmt.Errorf("time format %q: %w", format, err)
	}
	return f, nil
}

// probe determines which parts of a time the layout has. It formats times that differ in one
// part only. 2006 and 2017 have the same calendar, and the days and months below fall on the
// same weekdays.
func (f *timeFormat) probe() error {
	at := func(y int, m time.Month, d int, zone *time.Location) string {
		return time.Date(y, m, d, 11, 12, 13, 0, zone).Format(f.layout)
	}
	base := at(2006, time.March, 15, time.UTC)
	if base == at(2006, time.March, 22, time.UTC) || base == at(2006, time.November, 15, time.UTC) {
		return fmt.Errorf("names no day of the year, and the date of the path does not supply it: join the day to the time before the load")
	}
	f.hasYear = base != at(2017, time.March, 15, time.UTC)
	f.hasZone = base != at(2006, time.March, 15, time.FixedZone("ZZZ", 5*3600))
	f.abbrev = f.hasZone && at(2006, time.March, 15, time.FixedZone("ZZZ", 0)) == at(2006, time.March, 15, time.FixedZone("ZZZ", 5*3600))
	return nil
}

// units names the unit of an epoch with a number of units per second.
var units = map[int64]string{1: "seconds", 1_000: "milliseconds", 1_000_000: "microseconds"}

// describe returns the format of the times for a message.
func (f *timeFormat) describe() string {
	switch {
	case f.iso:
		return "such as 2006-01-02 15:04:05"
	case f.rfc3339:
		return "of RFC 3339"
	case f.perSecond > 0:
		return "in " + units[f.perSecond] + " since 1970"
	}
	return fmt.Sprintf("such as %q", f.layout)
}

// longestTime limits the length in bytes of a time with runs of spaces and tabs. The longest usual times are
// half as long.
const longestTime = 64

// read reads a time. A text that is no time, and has runs of spaces and tabs, is read once more with a space in
// the place of each run.
func (f *timeFormat) read(t []byte) (stamp, bool) {
	s, ok := f.readText(t)
	if ok || !f.runs {
		return s, ok
	}
	var buf [longestTime]byte
	if even, changed := evenBlanks(buf[:0], t); changed {
		return f.readText(even)
	}
	return s, false
}

// evenBlanks appends t to dst with a space in the place of each run of spaces and tabs. changed is false if this is
// the same text, or if the result is longer than the capacity of dst.
func evenBlanks(dst, t []byte) (even []byte, changed bool) {
	for i, c := range t {
		if c == ' ' || c == '\t' {
			if i > 0 && (t[i-1] == ' ' || t[i-1] == '\t') {
				changed = true
				continue
			}
			changed = changed || c == '\t'
			c = ' '
		}
		if len(dst) == cap(dst) {
			return nil, false
		}
		dst = append(dst, c)
	}
	return dst, changed
}

// readText reads a text as it is.
func (f *timeFormat) readText(t []byte) (stamp, bool) {
	switch {
	case f.iso:
		return readISO(t)
	case f.perSecond > 0:
		return readEpoch(t, f.perSecond)
	case f.rfc3339:
		return readRFC3339(t)
	case len(t) == len(time.DateTime) && t[10] == f.between:
		if s, ok := readISO(t); ok {
			return s, true
		}
	case f.parts != nil:
		if s, ok := f.readParts(t); ok {
			return s, true
		}
	}
	return f.readLayout(string(t))
}

// readLayout reads a time with package time.
func (f *timeFormat) readLayout(t string) (stamp, bool) {
	zone := time.UTC
	if f.hasZone {
		zone = f.zone
	}
	v, err := time.ParseInLocation(f.layout, t, zone)
	if err != nil {
		return stamp{}, false
	}
	if f.abbrev {
		if f.invented(v) {
			return stamp{}, false
		}
		v = f.counted(v)
	}
	s := stampOf(v, f.hasZone)
	if f.hasYear {
		return s, true
	}
	days, ok := f.fit(int64(v.Month()), int64(v.Day()))
	s.wall = days*secondsOfDay + floorMod(s.wall, secondsOfDay)
	return s, ok
}

// invented reports whether package time did not know the abbreviation of v's zone. In that
// case it makes up a zone of this name at UTC.
func (f *timeFormat) invented(v time.Time) bool {
	name, offset := v.Zone()
	return offset == 0 && v.Location() != f.zone && v.Location() != time.UTC && !strings.HasPrefix(name, "GMT")
}

// counted returns v with the offset of a zone such as GMT+3 taken off. Package time reads the offset,
// and does not count it.
func (f *timeFormat) counted(v time.Time) time.Time {
	if name, offset := v.Zone(); v.Location() != f.zone && strings.HasPrefix(name, "GMT") {
		return v.Add(-time.Duration(offset) * time.Second)
	}
	return v
}

// fit returns the day for a month and day without a year.
func (f *timeFormat) fit(m, d int64) (days int64, ok bool) {
	if f.year != 0 {
		return civil(f.year, m, d)
	}
	y := int64(time.Unix(f.near*secondsOfDay, 0).UTC().Year())
	for _, year := range []int64{y, y - 1, y + 1} {
		v, exists := civil(year, m, d)
		if exists && (!ok || distance(v, f.near) < distance(days, f.near)) {
			days, ok = v, true
		}
	}
	return days, ok
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

func floorMod(a, b int64) int64 {
	r := a % b
	if r < 0 {
		r += b
	}
	return r
}

// A part is a piece of a layout with numbers at fixed places: one of the elements below, or a
// literal character.
type part struct {
	element  element
	literal  byte
	decimals int // digits of a fraction; 0 is any number of digits, or no fraction
}

type element int

const (
	literal element = iota
	year
	monthOfYear
	dayOfMonth
	hour
	minute
	second
	fraction
	offset      // +0800
	offsetColon // +08:00
	offsetZ     // +0800 or Z
	offsetZColon
)

// elements are the pieces of layouts that compileLayout supports. A longer element precedes
// an element that is its beginning.
var elements = []struct {
	text    string
	element element
}{
	{"2006", year}, {"01", monthOfYear}, {"02", dayOfMonth}, {"15", hour}, {"04", minute}, {"05", second},
	{"-07:00", offsetColon}, {"-0700", offset}, {"Z07:00", offsetZColon}, {"Z0700", offsetZ},
}

// compileLayout cuts a layout into parts. It returns nil if the layout has anything else.
func compileLayout(layout string) []part {
	var out []part
	for layout != "" {
		p, n := nextPart(layout, len(out) > 0 && out[len(out)-1].element == second)
		if n == 0 {
			return nil
		}
		out = append(out, p)
		layout = layout[n:]
	}
	return out
}

func nextPart(layout string, afterSecond bool) (part, int) {
	for _, e := range elements {
		if strings.HasPrefix(layout, e.text) {
			return part{element: e.element}, len(e.text)
		}
	}
	if strings.HasPrefix(layout, "-07") || strings.HasPrefix(layout, "Z07") {
		return part{}, 0
	}
	c := layout[0]
	if (c == '.' || c == ',') && len(layout) > 1 && (layout[1] == '0' || layout[1] == '9') {
		n := 1 + len(layout[1:]) - len(strings.TrimLeft(layout[1:], layout[1:2]))
		if !afterSecond || n < len(layout) && layout[n]-'0' <= 9 {
			return part{}, 0
		}
		if layout[1] == '9' {
			return part{element: fraction}, n
		}
		return part{element: fraction, decimals: n - 1}, n
	}
	if strings.IndexByte("-/:., T", c) < 0 && c < 0x80 {
		return part{}, 0
	}
	return part{literal: c}, 1
}

// A reading is a time some of whose parts have been read.
type reading struct {
	stamp
	year, month, day int64
}

// readParts reads a text if it is certain to read it as package time would. Otherwise it
// returns false.
func (f *timeFormat) readParts(t []byte) (stamp, bool) {
	r := reading{month: 1, day: 1}
	for i, p := range f.parts {
		n, ok := r.read(t, p)
		if !ok {
			return r.stamp, false
		}
		t = t[n:]
		// package time accepts a fraction after the seconds even if the layout has none.
		if p.element == second && (i+1 == len(f.parts) || f.parts[i+1].element != fraction) {
			r.micros, n = readFraction(t)
			t = t[n:]
		}
	}
	if len(t) > 0 {
		return r.stamp, false
	}
	days, ok := int64(0), false
	if f.hasYear {
		days, ok = civil(r.year, r.month, r.day)
	} else {
		days, ok = f.fit(r.month, r.day)
	}
	r.wall += days * secondsOfDay
	return r.stamp, ok
}

// read reads one part at the beginning of t and returns its length.
func (r *reading) read(t []byte, p part) (n int, ok bool) {
	switch p.element {
	case literal:
		return 1, len(t) > 0 && t[0] == p.literal
	case fraction:
		r.micros, n = readFraction(t)
		return n, p.decimals == 0 || n == p.decimals+1
	case offset, offsetColon, offsetZ, offsetZColon:
		return r.readZone(t, p.element)
	case year:
		if len(t) < 4 {
			return 0, false
		}
		r.year = digits2(t, 0)*100 + digits2(t, 2)
		return 4, r.year <= 9999
	}
	if len(t) < 2 {
		return 0, false
	}
	v := digits2(t, 0)
	switch p.element {
	case monthOfYear:
		r.month = v
	case dayOfMonth:
		r.day = v
	case hour:
		return 2, r.add(v, 24, 3600)
	case minute:
		return 2, r.add(v, 60, 60)
	case second:
		return 2, r.add(v, 60, 1)
	}
	return 2, true
}

// add adds v units to the time of day. It returns false if v is not below most.
func (s *stamp) add(v, most, unit int64) bool {
	s.wall += v * unit
	return v < most
}

// readZone reads the offset at the beginning of t.
func (s *stamp) readZone(t []byte, e element) (n int, ok bool) {
	switch {
	case (e == offsetZ || e == offsetZColon) && len(t) > 0 && t[0] == 'Z':
		n = 1
	case e == offset || e == offsetZ:
		n = 5
	default:
		n = 6
	}
	if len(t) < n {
		return 0, false
	}
	s.offset, s.zoned = readOffset(t[:n])
	return n, s.zoned
}
