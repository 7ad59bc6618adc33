package job

import (
	"regexp"
	"strings"
	"time"

	"github.com/ncruces/go-strftime"

	"usertrail/internal/behaviour"
)

// namedFormats are the formats that are not a layout.
var namedFormats = []string{"epoch_s", "epoch_ms", "epoch_us", "rfc3339"}

// javaLayout is what SimpleDateFormat and its kin write for year, month or day.
var javaLayout = regexp.MustCompile(`yyyy|MM|dd|HH`)

// Times of which each of the last three differs from the first in one part.
var (
	someTime     = time.Date(2011, 6, 7, 14, 35, 49, 0, time.UTC)
	anotherYear  = time.Date(2023, 6, 7, 14, 35, 49, 0, time.UTC)
	anotherMonth = time.Date(2011, 8, 7, 14, 35, 49, 0, time.UTC)
	anotherDay   = time.Date(2011, 6, 18, 14, 35, 49, 0, time.UTC)
)

// checkTimeFormat notes a format that is none, or that says no day, and returns
// whether a time so written names its year.
func checkTimeFormat(v value, format string) (year bool) {
	for _, named := range namedFormats {
		if format == named {
			return true
		}
	}
	layout, err := goLayout(format)
	if err != nil {
		v.wrong("%q: %v; times in seconds are epoch_s", format, err)
		return true
	}
	if javaLayout.MatchString(layout) {
		v.wrong("%q is how Java writes a format: write 2006-01-02 15:04:05 as Go does or %%Y-%%m-%%d %%H:%%M:%%S as strftime does", format)
		return true
	}
	text := someTime.Format(layout)
	if text == layout {
		near, ok := nearest(format, namedFormats)
		if ok {
			v.wrong("%q is no time format, did you mean %s?", format, near)
		} else {
			v.wrong("%q is no time format: write 2006-01-02 15:04:05 as Go does, %%Y-%%m-%%d %%H:%%M:%%S as strftime does, or one of %s", format, strings.Join(namedFormats, ", "))
		}
		return true
	}
	if _, err := time.Parse(layout, text); err != nil {
		v.wrong("%q writes times that it cannot read: %q", format, text)
		return true
	}
	if anotherMonth.Format(layout) == text || anotherDay.Format(layout) == text {
		v.wrong("%q names no day of the year", format)
		return true
	}
	return anotherYear.Format(layout) != text
}

// goLayout turns a strftime format into Go's way of writing it.
func goLayout(format string) (string, error) {
	if !strings.Contains(format, "%") {
		return format, nil
	}
	return strftime.Layout(format)
}

// readFieldFormat reads how a field that is a time or date is written.
func readFieldFormat(v value, typ behaviour.Type) string {
	format, ok := v.word()
	if !ok {
		return ""
	}
	if typ != behaviour.Timestamp && typ != behaviour.Day {
		v.wrong("only a timestamp or a date has a format, and this field is a %s", typ)
		return ""
	}
	if !checkTimeFormat(v, format) {
		v.wrong("%q names no year", format)
	}
	return format
}
