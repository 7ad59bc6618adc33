package jobdraft

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
)

// layouts are the forms of a time that are tried, in addition to epochs, the more
// usual first. If the texts fit two forms that differ only in the order of day and month,
// the first form is taken.
var layouts = []string{
	"", // 2006-01-02 15:04:05 and similar forms, and the date alone
	"2006/01/02 15:04:05", "2006/01/02 15:04", "2006-01-02 15:04", "2006-01-02T15:04", "2006.01.02 15:04:05",
	"2006-01-02 15", "2006/01/02 15", "20060102 15", "2006010215",
	"20060102150405", "20060102 15:04:05", "20060102 150405", "20060102T150405", "20060102T150405Z0700",
	"2006/1/2 15:04:05", "2006/1/2 15:04", "2006-1-2 15:04:05",
	"02/Jan/2006:15:04:05 -0700", "02/Jan/2006:15:04:05",
	"02/01/2006 15:04:05", "01/02/2006 15:04:05", "02/01/2006 15:04", "01/02/2006 15:04",
	"2/1/2006 15:04:05", "1/2/2006 15:04:05", "2/1/2006 15:04", "1/2/2006 15:04",
	"02.01.2006 15:04:05", "02.01.2006 15:04", "02-01-2006 15:04:05", "01-02-2006 15:04:05",
	"01/02/2006 03:04:05 PM", "02/01/2006 03:04:05 PM", "1/2/2006 3:04:05 PM", "2/1/2006 3:04:05 PM", "1/2/2006 3:04 PM", "2/1/2006 3:04 PM",
	"2/1/06, 15:04", "1/2/06, 15:04", "2/1/06 15:04", "1/2/06 15:04", "2/1/06 15:04:05", "1/2/06 15:04:05", "1/2/06, 3:04 PM", "2/1/06, 3:04 PM", "1/2/06 3:04 PM", "2/1/06 3:04 PM",
	"2/1/2006, 15:04", "1/2/2006, 15:04", "2/1/2006, 15:04:05", "1/2/2006, 15:04:05", "1/2/2006, 3:04 PM", "2/1/2006, 3:04 PM", "1/2/2006, 3:04:05 PM", "2/1/2006, 3:04:05 PM", "06/1/2 15:04", "06/1/2 15:04:05",
	"2.1.2006 15:04", "2.1.06 15:04", "2.1.2006, 15:04:05",
	"02-Jan-2006 15:04:05", "02 Jan 2006 15:04:05", "Jan 2, 2006 15:04:05", "Jan 2 2006 15:04:05",
	"2-Jan-2006 15:04", "2-Jan-2006 3:04 PM", "2-Jan-2006 3:04:05 PM", "2-Jan-06 3.04.05 PM", "2006-01-02-15.04.05", "2006-01-02 3:04:05 PM", "2006-01-02 3:04 PM",
	"2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "Jan 2, 2006 15:04", "Jan 2, 2006 3:04 PM", "Jan 2, 2006 3:04:05 PM", "Jan 2, 2006, 3:04 PM", "Jan 2, 2006, 3:04:05 PM",
	"2 January 2006 15:04:05", "2 January 2006 15:04", "January 2, 2006 15:04:05", "January 2, 2006 15:04", "January 2, 2006 3:04 PM", "Monday, January 2, 2006 3:04 PM",
	"02/01/2006 15h04", "2006/01/02 15.04.05", "15:04 02/01/2006", "15:04 01/02/2006", "15:04:05 02/01/2006", "15:04:05 01/02/2006",
	"Mon Jan _2 15:04:05 2006", "Mon Jan _2 15:04:05 MST 2006", "Mon Jan 02 15:04:05 -0700 2006",
	"Mon, 02 Jan 2006 15:04:05 MST", "Mon, 02 Jan 2006 15:04:05", "Mon, 02 Jan 2006 15:04:05 -0700", "02 Jan 06 15:04 -0700",
	"2006年01月02日 15时04分05秒", "2006年01月02日 15:04:05", "2006年1月2日 15:04:05", "2006年1月2日 15:04", "2006年1月2日15:04",
	"1月2日 15:04:05", "1月2日 15:04", "1月2日15:04",
	"060102 15:04:05", "060102 15:04", "060102 150405", "020106 15:04:05", "020106 15:04", "020106 150405",
	"Jan _2 15:04:05", "01-02 15:04:05", "01/02 15:04:05", "02/01 15:04:05", "02/Jan 15:04:05",
	"2006/01/02", "2006/1/2", "20060102", "2006.01.02", "02/01/2006", "01/02/2006", "02.01.2006", "02-01-2006", "01-02-2006",
	"2006年01月02日", "2006年1月2日", "1月2日", "2/1/2006", "1/2/2006", "2/1/06", "1/2/06", "2.1.2006", "02-Jan-2006", "02 Jan 2006",
}

// epochs maps a number of digits to the epoch that such numbers may be.
var epochs = map[int]string{10: record.EpochSeconds, 13: record.EpochMillis, 16: record.EpochMicros}

// Numbers that would be times of other years are not considered times.
var (
	firstYear = behaviour.DateOf(1990, 1, 1)
	lastYear  = behaviour.DateOf(2100, 12, 31)
)

// someDay is the reference for times without a year if the path has no day.
var someDay = behaviour.DateOf(2016, 7, 1)

// A stamped is a text that may be a time, in a file of a day.
type stamped struct {
	text string
	day  *behaviour.Date
}

// A timing is a format that reads nearly all of some texts.
type timing struct {
	format   string
	read     int             // number of texts that it reads
	outside  int             // number of these that are more than a day away from the day of the path
	furthest int             // largest distance in days
	clock    bool            // it has the time of day
	zoned    bool            // it has the zone
	zones    map[string]bool // names of zones in the texts
	earliest time.Time
	offsets  map[int64][]int64 // times in Unix seconds by their offset, in seconds east of UTC
	own      int               // number of texts that are on the day of their path by their own offset
	hours    map[int]int       // number of texts on the day of their path, by the zone's hours east
	rank     int
}

// epoch reports whether the format is an epoch, whose texts are plain numbers.
func (t *timing) epoch() bool { return strings.HasPrefix(t.format, "epoch_") }

// A clockmaker holds readers of times, by format. Only one goroutine may use it.
type clockmaker map[string]func(string, behaviour.Date) (record.Written, bool)

// clockmakers holds unused clockmakers, because making one is slower than using it.
var clockmakers = sync.Pool{New: func() any { return clockmaker{} }}

// reader returns a reader of times of a format, nil if the format is not valid.
func (c clockmaker) reader(format string) func(string, behaviour.Date) (record.Written, bool) {
	read, ok := c[format]
	if !ok {
		read, _ = record.TimeReader(format)
		c[format] = read
	}
	return read
}

// mostRead is the share of texts that a format must read to be the format of a time. The other
// texts are bad records.
const mostRead = 0.9

// monthDay is the form of a day that is too short to be distinguished from a number.
const monthDay = "0102"

// firstTexts is the number of texts of which a format must read one.
const firstTexts = 5

// literals are characters that a time has if its layout has them.
var literals = []string{":", "/", ".", "月"}

// bestTimes returns the formats that read most of the texts, the most likely first.
func bestTimes(texts []stamped) []timing {
	if len(texts) == 0 {
		return nil
	}
	bare, zones := cutZones(texts)
	c := clockmakers.Get().(clockmaker)
	defer clockmakers.Put(c)
	formats := layouts
	if e, ok := epochs[len(wholePart(texts[0].text))]; ok {
		formats = append([]string{e}, layouts...)
	}
	absent := slices.DeleteFunc(slices.Clone(literals), func(c string) bool {
		return slices.ContainsFunc(texts[:min(firstTexts, len(texts))], func(s stamped) bool { return strings.Contains(s.text, c) })
	})
	var out []timing
	for rank, format := range formats {
		if slices.ContainsFunc(absent, func(c string) bool { return strings.Contains(format, c) }) {
			continue // tryFormat would read none of the first texts
		}
		read, cut := bare, zones
		if strings.Contains(format, "MST") {
			read, cut = texts, nil
		}
		t, ok := tryFormat(c.reader(format), format, read)
		if !ok || !t.takeZones(cut) {
			continue
		}
		if len(cut) > 0 && t.zoned {
			// Only the names have the offsets.
			if t, ok = tryFormat(c.reader(t.format), t.format, texts); !ok {
				continue
			}
		}
		t.rank = rank
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b timing) int {
		return cmp.Or(cmp.Compare(a.outside, b.outside), -cmp.Compare(a.read, b.read), cmp.Compare(a.late(), b.late()), cmp.Compare(a.rank, b.rank))
	})
	return out
}

// late returns 1 for an epoch from which ten digits such as 2014090110 are years in the future.
// They are a day and an hour.
func (t *timing) late() int {
	if t.format == record.EpochSeconds && t.earliest.Year() >= 2033 {
		return 1
	}
	return 0
}

// zoneName matches a time with the name of a zone after it.
var zoneName = regexp.MustCompile(`^(.*[0-9]) ?\b(GMT[-+][0-9]{1,2}|[A-Z]{3,5})$`)

// fixedZone matches the names of zones that mean the same offset in each zone of a table.
var fixedZone = regexp.MustCompile(`^(UTC|GMT([-+][0-9]{1,2})?)$`)

// logLevels are words after a time that are no zones.
var logLevels = []string{"INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL"}

// cutZones removes the names of zones from the ends of texts, and returns the names. If a text
// has none, it returns the texts as they are.
func cutZones(texts []stamped) ([]stamped, map[string]bool) {
	zones := map[string]bool{}
	out := slices.Clone(texts)
	for i := range out {
		m := zoneName.FindStringSubmatch(out[i].text)
		if m == nil || slices.Contains(logLevels, m[2]) {
			return texts, nil
		}
		out[i].text = strings.TrimRight(m[1], " ")
		zones[m[2]] = true
	}
	return out, zones
}

// takeZones adds the names of zones to the format of texts from which they were cut. It
// returns false if the format cannot have one.
func (t *timing) takeZones(zones map[string]bool) bool {
	if len(zones) == 0 {
		return true
	}
	if t.zoned || !t.clock {
		return false
	}
	t.zones = zones
	t.zoned = true
	inISO := true
	for z := range zones {
		t.zoned = t.zoned && fixedZone.MatchString(z)
		inISO = inISO && (z == "UTC" || z == "GMT")
	}
	if t.format != "" || !inISO {
		t.format = cmp.Or(t.format, time.DateTime) + " MST"
	}
	return true
}

// wholePart returns the digits of a number before its fraction, "" if the text is not a
// number.
func wholePart(text string) string {
	whole, fraction, _ := strings.Cut(text, ".")
	if strings.Trim(whole+fraction, "0123456789") != "" {
		return ""
	}
	return whole
}

func tryFormat(read func(string, behaviour.Date) (record.Written, bool), format string, texts []stamped) (timing, bool) {
	t := timing{format: format, zoned: true}
	for i, s := range texts {
		near := someDay
		if s.day != nil {
			near = *s.day
		}
		w, ok := read(s.text, near)
		if ok && t.epoch() {
			ok = epochs[len(wholePart(s.text))] == format
		}
		if d := w.Day(); !ok || d < firstYear || d > lastYear {
			if t.read == 0 && i >= firstTexts-1 {
				return t, false
			}
			continue
		}
		if t.read++; t.read == 1 {
			t.offsets, t.hours = map[int64][]int64{}, map[int]int{}
		}
		t.note(w, s.day)
	}
	return t, t.read > 0 && float64(t.read) >= mostRead*float64(len(texts))
}

// note records one time that was read.
func (t *timing) note(w record.Written, day *behaviour.Date) {
	unix := w.Wall - w.Offset
	if at := time.Unix(unix, 0).UTC(); t.earliest.IsZero() || at.Before(t.earliest) {
		t.earliest = at
	}
	t.clock = t.clock || w.Wall%86400 != 0
	t.zoned = t.zoned && w.Zoned
	if w.Zoned {
		t.offsets[w.Offset] = append(t.offsets[w.Offset], unix)
	}
	if day == nil {
		return
	}
	away := int(w.Day() - *day)
	if away = max(away, -away); away > 1 {
		t.outside++
	}
	t.furthest = max(t.furthest, away)
	if away == 0 {
		t.own++
	}
	for h := -12; h <= 14; h++ {
		if (record.Written{Wall: unix + int64(h)*3600}).Day() == *day {
			t.hours[h]++
		}
	}
}

// otherFormat returns the first format but the first of all that reads as many texts as the first, and fits. It returns "" if there is none.
func otherFormat(all []timing, fits func(t *timing) bool) string {
	for i := range all[1:] {
		if t := &all[i+1]; t.read == all[0].read && fits(t) {
			return t.format
		}
	}
	return ""
}

// swapped returns the format with day and month exchanged, "" if no such format reads as many
// texts, as many of them on the days of their paths.
func swapped(all []timing) string {
	return otherFormat(all, func(t *timing) bool { return t.outside == all[0].outside && sameLetters(t.format, all[0].format) })
}

// longMonth returns a format with the long names of months that reads as many texts as the format with the short names, ""
// if there is none. May is both.
func longMonth(all []timing) string {
	return otherFormat(all, func(t *timing) bool {
		return strings.Contains(t.format, "January") && !strings.Contains(all[0].format, "January")
	})
}

// turned returns the format with day and month exchanged, "" if no such format reads as many texts, on the days of their paths or not.
func turned(all []timing) string {
	return otherFormat(all, func(t *timing) bool { return sameLetters(t.format, all[0].format) })
}

// turnedField is turned for a field. If most of its times are near the days of their paths, it is swapped.
func turnedField(all []timing) string {
	if all[0].outside*2 < all[0].read {
		return swapped(all)
	}
	return turned(all)
}

// sameLetters reports whether two formats differ only in order.
func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return a != "" && string(x) == string(y)
}

// zones maps offsets, in minutes east of UTC, to zones without summer time. Offsets such as -03:30 have only zones with
// summer time.
var zones = map[int64][]string{
	0: {"UTC"}, 3 * 60: {"Europe/Moscow"}, 3*60 + 30: {"Asia/Tehran"}, 4 * 60: {"Asia/Dubai"}, 4*60 + 30: {"Asia/Kabul"}, 5 * 60: {"Asia/Karachi"}, 5*60 + 30: {"Asia/Kolkata"}, 5*60 + 45: {"Asia/Kathmandu"},
	6*60 + 30: {"Asia/Yangon"}, 7 * 60: {"Asia/Bangkok"}, 8 * 60: {"Asia/Shanghai"}, 8*60 + 45: {"Australia/Eucla"}, 9 * 60: {"Asia/Tokyo"}, 9*60 + 30: {"Australia/Darwin"},
	10*60 + 30: {"Australia/Adelaide", "Australia/Lord_Howe"}, 12*60 + 45: {"Pacific/Chatham"}, 13*60 + 45: {"Pacific/Chatham"},
	-2*60 - 30: {"America/St_Johns"}, -3 * 60: {"America/Sao_Paulo"}, -3*60 - 30: {"America/St_Johns"}, -9*60 - 30: {"Pacific/Marquesas"},
}

// summerZones maps the two offsets of a zone with summer time, in minutes east of UTC, to a zone.
var summerZones = map[[2]int64]string{
	{0, 60}: "Europe/London", {60, 120}: "Europe/Berlin", {120, 180}: "Europe/Helsinki", {600, 660}: "Australia/Sydney", {570, 630}: "Australia/Adelaide", {720, 780}: "Pacific/Auckland",
	{-210, -150}: "America/St_Johns", {-240, -180}: "America/Halifax", {-300, -240}: "America/New_York", {-360, -300}: "America/Chicago", {-420, -360}: "America/Denver", {-480, -420}: "America/Los_Angeles",
}

// zonesOf maps abbreviations to zones that use them. CST is Chinese or American time.
var zonesOf = map[string][]string{
	"CST": {"Asia/Shanghai", "America/Chicago"}, "EST": {"America/New_York"}, "EDT": {"America/New_York"}, "CDT": {"America/Chicago"}, "MDT": {"America/Denver"},
	"PST": {"America/Los_Angeles"}, "PDT": {"America/Los_Angeles"}, "CET": {"Europe/Berlin"}, "CEST": {"Europe/Berlin"}, "EET": {"Europe/Helsinki"}, "EEST": {"Europe/Helsinki"},
	"BST": {"Europe/London"}, "JST": {"Asia/Tokyo"}, "KST": {"Asia/Seoul"}, "IST": {"Asia/Kolkata"}, "MSK": {"Europe/Moscow"}, "HKT": {"Asia/Hong_Kong"}, "AEST": {"Australia/Sydney"}, "AEDT": {"Australia/Sydney"},
}

// zoneAt returns a zone that has an offset, in seconds east of UTC, at each of the times. It returns "" if no such zone
// is known.
func zoneAt(offset int64, times []int64) string {
	known := zones[offset/60]
	if offset%3600 == 0 {
		known = append(slices.Clone(known), fmt.Sprintf("Etc/GMT%+d", -offset/3600)) // the signs of Etc zones are reversed
	}
	for _, zone := range known {
		if hasOffset(zone, offset, times) {
			return zone
		}
	}
	return ""
}

// hasOffset reports whether a zone exists and has an offset at each of the times, in Unix seconds.
func hasOffset(zone string, offset int64, times []int64) bool {
	loc, err := time.LoadLocation(zone)
	return err == nil && !slices.ContainsFunc(times, func(t int64) bool {
		_, o := time.Unix(t, 0).In(loc).Zone()
		return int64(o) != offset
	})
}

// offsetText returns an offset in seconds as +05:30.
func offsetText(offset int64) string {
	return time.Unix(0, 0).In(time.FixedZone("", int(offset))).Format("-07:00")
}
