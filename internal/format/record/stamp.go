package record

import (
	"time"

	"usertrail/internal/behaviour"
)

// A stamp is a time as the text has it.
type stamp struct {
	wall   int64 // the local time, in seconds since 1970-01-01 00:00:00
	micros int64 // 0..999999 after it
	zoned  bool  // the text has the clock's offset
	offset int64 // in seconds east of UTC, if zoned
}

const secondsOfDay = 86400

// The seconds that a table can hold: from 0001-01-01 to 9999-12-31, UTC.
const (
	minSecond = int64(behaviour.MinDate) * secondsOfDay
	maxSecond = (int64(behaviour.MaxDate)+1)*secondsOfDay - 1
)

// month has, for each month, the days of the year before it and its own days, in a year
// without 29 February.
var month = [13]struct{ before, days int64 }{
	{}, {0, 31}, {31, 28}, {59, 31}, {90, 30}, {120, 31}, {151, 30},
	{181, 31}, {212, 31}, {243, 30}, {273, 31}, {304, 30}, {334, 31},
}

// civil returns the number of days from 1970-01-01 to a calendar day, and whether the day
// exists.
func civil(y, m, d int64) (days int64, ok bool) {
	if y < 1 || m < 1 || m > 12 || d < 1 {
		return 0, false
	}
	leap := y%4 == 0 && (y%100 != 0 || y%400 == 0)
	last := month[m].days
	days = (y-1)*365 + (y-1)/4 - (y-1)/100 + (y-1)/400 + month[m].before + d - 1
	if leap && m == 2 {
		last++
	}
	if leap && m > 2 {
		days++
	}
	return days + int64(behaviour.MinDate), d <= last
}

// digits2 reads two digits. For anything else it returns a value over 99.
func digits2(t []byte, at int) int64 {
	a, b := t[at]-'0', t[at+1]-'0'
	if a > 9 || b > 9 {
		return 1 << 20
	}
	return int64(a)*10 + int64(b)
}

// readDate reads 2006-01-02 at the beginning of t, as days since 1970-01-01.
func readDate(t []byte) (days int64, ok bool) {
	if len(t) < 10 || t[4] != '-' || t[7] != '-' {
		return 0, false
	}
	y := digits2(t, 0)*100 + digits2(t, 2)
	if y > 9999 {
		return 0, false
	}
	return civil(y, digits2(t, 5), digits2(t, 8))
}

// readClock reads 15:04:05 at the beginning of t, as seconds.
func readClock(t []byte) (seconds int64, ok bool) {
	if len(t) < 8 || t[2] != ':' || t[5] != ':' {
		return 0, false
	}
	h, m, s := digits2(t, 0), digits2(t, 3), digits2(t, 6)
	return h*3600 + m*60 + s, h < 24 && m < 60 && s < 60
}

// readFraction reads a fraction such as .5 or ,000001 at the beginning of t as
// microseconds. n is its length, 0 if there is none.
func readFraction(t []byte) (micros int64, n int) {
	if len(t) < 2 || t[0] != '.' && t[0] != ',' || t[1]-'0' > 9 {
		return 0, 0
	}
	n = 1
	for unit := int64(100_000); n < len(t) && t[n]-'0' <= 9; n++ {
		micros += int64(t[n]-'0') * unit
		unit /= 10
	}
	return micros, n
}

// readOffset reads Z, UTC, GMT, +08:00 or +0800 as seconds east. t must have nothing else.
func readOffset(t []byte) (seconds int64, ok bool) {
	switch {
	case len(t) == 1:
		return 0, t[0] == 'Z' || t[0] == 'z'
	case len(t) == 3:
		return 0, string(t) == "UTC" || string(t) == "GMT"
	}
	if len(t) != 5 && (len(t) != 6 || t[3] != ':') || t[0] != '+' && t[0] != '-' {
		return 0, false
	}
	h, m := digits2(t, 1), digits2(t, len(t)-2)
	seconds = h*3600 + m*60
	if t[0] == '-' {
		seconds = -seconds
	}
	return seconds, h < 24 && m < 60
}

// readISO reads 2006-01-02. A blank or T and 15:04:05 may follow, and then a fraction and an
// offset.
func readISO(t []byte) (s stamp, ok bool) {
	days, ok := readDate(t)
	if !ok {
		return s, false
	}
	s.wall = days * secondsOfDay
	if len(t) == 10 {
		return s, true
	}
	if t[10] != ' ' && t[10] != 'T' && t[10] != 't' {
		return s, false
	}
	seconds, ok := readClock(t[11:])
	if !ok {
		return s, false
	}
	s.wall += seconds
	if len(t) == 19 {
		return s, true
	}
	micros, n := readFraction(t[19:])
	s.micros = micros
	rest := t[19+n:]
	if len(rest) == 0 {
		return s, true
	}
	if rest[0] == ' ' {
		rest = rest[1:]
	}
	s.offset, s.zoned = readOffset(rest)
	return s, s.zoned
}

// readRFC3339 is readISO for a time with all parts that RFC 3339 requires.
func readRFC3339(t []byte) (stamp, bool) {
	s, ok := readISO(t)
	n := len(t)
	if !ok || !s.zoned || n < 20 || t[10] == ' ' {
		return s, false
	}
	if c := t[n-1]; c == 'Z' || c == 'z' {
		return s, t[n-2] != ' '
	}
	return s, t[n-3] == ':' && t[n-7] != ' '
}

// readEpoch reads a time since 1970-01-01 UTC as a number of units, with or without a
// fraction. perSecond is the number of units in a second.
func readEpoch(t []byte, perSecond int64) (s stamp, ok bool) {
	at, negative := 0, false
	if len(t) > 0 && (t[0] == '-' || t[0] == '+') {
		at, negative = 1, t[0] == '-'
	}
	first, v := at, int64(0)
	for ; at < len(t) && t[at]-'0' <= 9; at++ {
		if v = v*10 + int64(t[at]-'0'); v > maxSecond*1_000_000 {
			return s, false
		}
	}
	fraction, n := readFraction(t[at:])
	if at == first || at+n != len(t) || v/perSecond > maxSecond {
		return s, false
	}
	micros := v*(1_000_000/perSecond) + fraction/perSecond
	if negative {
		micros = -micros
	}
	s.zoned = true
	s.wall, s.micros = micros/1_000_000, micros%1_000_000
	if s.micros < 0 {
		s.wall, s.micros = s.wall-1, s.micros+1_000_000
	}
	return s, true
}

// stampOf returns the stamp of a time that package time has read. zoned is set if its offset
// comes from the text.
func stampOf(t time.Time, zoned bool) stamp {
	s := stamp{wall: t.Unix(), micros: int64(t.Nanosecond() / 1000), zoned: zoned}
	if zoned {
		_, offset := t.Zone()
		s.offset = int64(offset)
		s.wall += s.offset
	}
	return s
}
