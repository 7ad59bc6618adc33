package layout

import (
	"fmt"
	"time"

	"usertrail/internal/behaviour"
)

// Times in rows of text are in UTC and whole seconds, as time.DateTime writes them:
//
//	2013-04-01 00:00:00
//
// A local time would occur twice when a clock is put back. In the years 1 to 9999 all texts
// have the same length, and sort like the times.
const utcTextLen = len(time.DateTime)

// The times that have a text, in microseconds.
const (
	minUTCText = int64(behaviour.MinDate) * 86400 * 1e6
	maxUTCText = int64(behaviour.MaxDate+1)*86400*1e6 - 1
)

// fitsUTCText reports a time, in microseconds, that has no text.
func fitsUTCText(micros int64) error {
	if micros < minUTCText || micros > maxUTCText {
		return fmt.Errorf("time %s is not in the years 1 to 9999 of UTC, which a row of this layout can tell", time.UnixMicro(micros).UTC().Format(time.RFC3339Nano))
	}
	return nil
}

// appendUTCText appends the text of a time in microseconds, without fractions of a second.
func appendUTCText(dst []byte, micros int64) []byte {
	return time.UnixMicro(micros).UTC().AppendFormat(dst, time.DateTime)
}

// parseUTCText reads what appendUTCText wrote, as microseconds, and refuses all else.
func parseUTCText(b []byte) (int64, bool) {
	if len(b) != utcTextLen || b[4] != '-' || b[7] != '-' || b[10] != ' ' || b[13] != ':' || b[16] != ':' {
		return 0, false
	}
	year, ok1 := parseDigits(b[:4])
	month, ok2 := parseDigits(b[5:7])
	day, ok3 := parseDigits(b[8:10])
	hour, ok4 := parseDigits(b[11:13])
	minute, ok5 := parseDigits(b[14:16])
	second, ok6 := parseDigits(b[17:])
	date, ok7 := dateOf(year, month, day)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || !ok7 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	return (int64(date)*86400 + int64(hour*3600+minute*60+second)) * 1e6, true
}

// dateOf is the date of a day that the calendar has.
func dateOf(year, month, day uint64) (behaviour.Date, bool) {
	if year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, false
	}
	date := behaviour.DateOf(int(year), time.Month(month), int(day))
	if day > 28 {
		_, _, same := date.Civil()
		return date, same == int(day)
	}
	return date, true
}

// appendDigits appends v in n digits, at most 19.
func appendDigits(dst []byte, v uint64, n int) []byte {
	dst = append(dst, "0000000000000000000"[:n]...)
	for i := len(dst) - 1; v > 0; i-- {
		dst[i] = byte('0' + v%10)
		v /= 10
	}
	return dst
}

// parseDigits reads up to 19 digits.
func parseDigits(b []byte) (uint64, bool) {
	v := uint64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + uint64(c-'0')
	}
	return v, true
}

// idDigits is how many digits a column ID has in a row of text.
const idDigits = 19

// parseID reads a column ID.
func parseID(b []byte) (int64, bool) {
	v, ok := parseDigits(b)
	return int64(v), ok && len(b) == idDigits && int64(v) >= 0
}

// A utcRange is the texts of the first and the last second of times.
type utcRange struct{ first, last []byte }

// utcRangeOf is the range of t, or false if no time in t has a text.
func utcRangeOf(t Times) (utcRange, bool) {
	t.First, t.Last = max(t.First, minUTCText), min(t.Last, maxUTCText)
	if t.First > t.Last {
		return utcRange{}, false
	}
	return utcRange{appendUTCText(nil, t.First), appendUTCText(nil, t.Last)}, true
}
