package textfile

import (
	"bytes"
	"math"
	"strconv"

	"usertrail/internal/behaviour"
)

// appendCSV appends a string, quoted if necessary. An empty string is quoted, because an
// empty value without quotes is null.
func appendCSV(dst, s []byte) []byte {
	if len(s) > 0 && !blank(s[0]) && !blank(s[len(s)-1]) && !bytes.ContainsAny(s, "\",\r\n") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for {
		at := bytes.IndexByte(s, '"')
		if at < 0 {
			break
		}
		dst = append(append(dst, s[:at+1]...), '"')
		s = s[at+1:]
	}
	return append(append(dst, s...), '"')
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

const hexDigits = "0123456789abcdef"

// appendJSON appends a JSON string. It escapes only the characters that need it.
func appendJSON(dst, s []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i, c := range s {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(append(dst, `\u00`...), hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}

func appendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

func appendBool(dst []byte, v bool) []byte { return strconv.AppendBool(dst, v) }

// double appends a number in a form that no reader mistakes for an integer.
func (d *dialect) double(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return d.strange(dst, v)
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
	if !bytes.ContainsAny(dst[from:], ".e") {
		dst = append(dst, ".0"...)
	}
	return dst
}

func appendStrangeCSV(dst []byte, v float64) []byte {
	switch {
	case v > 0:
		return append(dst, "inf"...)
	case v < 0:
		return append(dst, "-inf"...)
	}
	return append(dst, "NaN"...)
}

func appendStrangeJSON(dst []byte, v float64) []byte {
	switch {
	case v > 0:
		return append(dst, `"Infinity"`...)
	case v < 0:
		return append(dst, `"-Infinity"`...)
	}
	return append(dst, `"NaN"`...)
}

const (
	secondMicros = 1e6
	dayMicros    = 86400 * secondMicros
)

// A clock writes times and dates. It keeps the text of the last day, because neighbouring
// values of a column often have the same day.
type clock struct {
	known bool
	day   int64
	text  []byte // of day
}

// appendDate appends a day since 1970-01-01.
func (c *clock) appendDate(dst []byte, day int64) []byte {
	if !c.known || c.day != day {
		c.known, c.day, c.text = true, day, append(c.text[:0], behaviour.Date(day).String()...)
	}
	return append(dst, c.text...)
}

// appendTime appends a time in microseconds, and then zone.
func (c *clock) appendTime(dst []byte, micros int64, zone string) []byte {
	dst, rest := c.appendSeconds(dst, micros, 'T')
	dst = append(dst, '.')
	return append(appendDigits(dst, rest, secondMicros/10), zone...)
}

// appendSeconds appends a time in microseconds to the second, with between between the date and the time
// of day. It returns the microseconds of the second.
func (c *clock) appendSeconds(dst []byte, micros int64, between byte) (_ []byte, rest int64) {
	day := micros / dayMicros
	rest = micros % dayMicros
	if rest < 0 {
		day, rest = day-1, rest+dayMicros
	}
	dst = append(c.appendDate(dst, day), between)
	seconds := rest / secondMicros
	dst = append(appendDigits(dst, seconds/3600, 10), ':')
	dst = append(appendDigits(dst, seconds/60%60, 10), ':')
	return appendDigits(dst, seconds%60, 10), rest % secondMicros
}

// appendDigits appends v with as many digits as unit, a power of ten, allows.
func appendDigits(dst []byte, v, unit int64) []byte {
	for ; unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+v/unit%10))
	}
	return dst
}
