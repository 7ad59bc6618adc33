package job

import (
	"regexp"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
)

// namedFormats are the formats of times that are not a layout.
var namedFormats = []string{record.EpochSeconds, record.EpochMillis, record.EpochMicros, record.RFC3339}

// javaLayout is what SimpleDateFormat and its kin write for year, month, day or
// hour. To Go these letters are only themselves.
var javaLayout = regexp.MustCompile(`yyyy|MM|dd|HH`)

// timeFormat reads how a time is written; empty is the default. yearElsewhere
// says that the year need not be in the text.
func (b *builder) timeFormat(v value, yearElsewhere bool) string {
	format, ok := v.word()
	if !ok || slices.Contains(namedFormats, format) {
		return format
	}
	if javaLayout.MatchString(format) {
		v.wrong("%q is how Java writes a format: write 2006-01-02 15:04:05 as Go does or %%Y-%%m-%%d %%H:%%M:%%S as strftime does", format)
		return format
	}
	if near, ok := nearest(format, namedFormats); ok {
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

// fieldFormat reads how a field that is a time or date is written.
func (b *builder) fieldFormat(v value, typ behaviour.Type) string {
	if v.given() && typ != behaviour.Timestamp && typ != behaviour.Day {
		v.wrong("only a timestamp or a date has a format, and this field's type is %s", typ)
		return ""
	}
	return b.timeFormat(v, false)
}
