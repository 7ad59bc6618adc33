package job

import (
	"regexp"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
)

// namedFormats lists the formats of times that are not layouts.
var namedFormats = []string{record.EpochSeconds, record.EpochMillis, record.EpochMicros, record.RFC3339}

// javaLayout matches the letters of Java's SimpleDateFormat for year, month, day and hour. A
// Go layout treats them as literal text.
var javaLayout = regexp.MustCompile(`yyyy|MM|dd|HH`)

// timeFormat reads the format of a time. Empty means the default. yearElsewhere is set if the
// text does not need a year.
func (b *builder) timeFormat(v value, yearElsewhere bool) string {
	format, ok := v.word()
	if !ok || slices.Contains(namedFormats, format) {
		return format
	}
	if javaLayout.MatchString(format) {
		v.wrong("%q is how Java writes a format: write 2006-01-02 15:04:05 as Go does or %%Y-%%m-%%d %%H:%%M:%%S as strftime does", format)
		return format
	}
	if near, ok := behaviour.Nearest(format, namedFormats); ok {
		v.wrong("%q is no time format, did you mean %s?", format, near)
		return format
	}
	if err := record.CheckTimeFormat(format); err != nil {
		v.wrong("%v: write 2006-01-02 15:04:05 as Go does, %%Y-%%m-%%d %%H:%%M:%%S as strftime does, or one of %s", err, strings.Join(namedFormats, ", "))
		return format
	}
	if !yearElsewhere && !record.FormatHasYear(format) {
		b.noYear = append(b.noYear, v)
	}
	return format
}

// ofTimes reports whether a field of a type may have the key, which only times and dates have. It reports a key that the field must not have.
func ofTimes(v value, key string, typ behaviour.Type) bool {
	if v.given() && typ != behaviour.Timestamp && typ != behaviour.Day {
		v.wrong("only a timestamp or a date has a %s, and this field's type is %s", key, typ)
		return false
	}
	return true
}
