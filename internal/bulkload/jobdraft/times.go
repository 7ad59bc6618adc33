package jobdraft

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
)

// layouts are the forms of a time that are tried, in addition to epochs, the more
// usual first. If the texts fit two forms that differ only in the order of day and month,
// the first form is taken.
var layouts = []string{
	"", // 2006-01-02 15:04:05 and its like, the date alone too
	"2006/01/02 15:04:05", "2006/01/02 15:04", "2006-01-02 15:04", "2006-01-02T15:04", "2006.01.02 15:04:05",
	"20060102150405", "20060102 15:04:05", "20060102 150405", "20060102T150405", "20060102T150405Z0700",
	"2006/1/2 15:04:05", "2006/1/2 15:04", "2006-1-2 15:04:05",
	"02/Jan/2006:15:04:05 -0700", "02/Jan/2006:15:04:05",
	"02/01/2006 15:04:05", "01/02/2006 15:04:05", "02/01/2006 15:04", "01/02/2006 15:04",
	"2/1/2006 15:04:05", "1/2/2006 15:04:05", "2/1/2006 15:04", "1/2/2006 15:04",
	"02.01.2006 15:04:05", "02.01.2006 15:04", "02-01-2006 15:04:05", "01-02-2006 15:04:05",
	"01/02/2006 03:04:05 PM", "1/2/2006 3:04:05 PM", "1/2/2006 3:04 PM",
	"02-Jan-2006 15:04:05", "02 Jan 2006 15:04:05", "Jan 2, 2006 15:04:05", "Jan 2 2006 15:04:05",
	"Mon Jan _2 15:04:05 2006", "Mon Jan _2 15:04:05 MST 2006", "Mon Jan 02 15:04:05 -0700 2006",
	"Mon, 02 Jan 2006 15:04:05 MST", "Mon, 02 Jan 2006 15:04:05 -0700", "02 Jan 06 15:04 -0700",
	"2006年01月02日 15时04分05秒", "2006年01月02日 15:04:05", "2006年1月2日 15:04:05",
	"Jan _2 15:04:05", "01-02 15:04:05", "01/02 15:04:05", "02/01 15:04:05", "02/Jan 15:04:05",
	"2006/01/02", "2006/1/2", "20060102", "2006.01.02", "02/01/2006", "01/02/2006", "02.01.2006", "02-01-2006", "01-02-2006",
	"2006年01月02日", "2006年1月2日", "02-Jan-2006", "02 Jan 2006",
}

// epochs are the numbers that may be times, by how many digits they have.
var epochs = map[int]string{10: record.EpochSeconds, 13: record.EpochMillis, 16: record.EpochMicros}

// Times of other years are taken for numbers that are no times.
var (
	firstYear = behaviour.DateOf(1990, 1, 1)
	lastYear  = behaviour.DateOf(2100, 12, 31)
)

// someDay is what times without a year are read by where the path has no day.
var someDay = behaviour.DateOf(2016, 7, 1)

// A stamped is a text that may be a time, in a file of a day.
type stamped struct {
	text string
	day  *behaviour.Date
}

// A timing is a format that reads nearly all of some texts.
type timing struct {
	format   string
	read     int  // texts that it reads
	outside  int  // of these, times more than a day away from the day of the path
	furthest int  // days off, of the furthest
	clock    bool // it tells the time of day
	zoned    bool // it tells the zone
	offsets  map[int64]int
	hours    map[int]int // how many would be of the day of their path, were the zone so many hours east
	rank     int
}

// epoch reports whether the texts are numbers that could be anything.
func (t *timing) epoch() bool { return strings.HasPrefix(t.format, "epoch_") }

// A clockmaker reads times, by format. It is used by one goroutine.
type clockmaker map[string]func(string, behaviour.Date) (record.Written, bool)

// clockmakers are those that nobody uses: to make one takes longer than its work.
var clockmakers = sync.Pool{New: func() any { return clockmaker{} }}

// reader is what reads times of a format, nil if it is none.
func (c clockmaker) reader(format string) func(string, behaviour.Date) (record.Written, bool) {
	read, ok := c[format]
	if !ok {
		read, _ = record.TimeReader(format)
		c[format] = read
	}
	return read
}

// mostOf is the share of texts that a format must read: a few records are bad
// everywhere.
const mostOf = 0.97

// bestTimes are the formats that read most of the texts, the likeliest first.
func bestTimes(texts []stamped) []timing {
	if len(texts) == 0 {
		return nil
	}
	c := clockmakers.Get().(clockmaker)
	defer clockmakers.Put(c)
	formats := layouts
	if e, ok := epochs[len(wholePart(texts[0].text))]; ok {
		formats = append([]string{e}, layouts...)
	}
	var out []timing
	for rank, format := range formats {
		if t, ok := tryFormat(c.reader(format), format, texts); ok {
			t.rank = rank
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b timing) int {
		return cmp.Or(cmp.Compare(a.outside, b.outside), -cmp.Compare(a.read, b.read), cmp.Compare(a.rank, b.rank))
	})
	return out
}

// wholePart is the digits of a number before its fraction, "" if it is none.
func wholePart(text string) string {
	whole, fraction, _ := strings.Cut(text, ".")
	if strings.Trim(whole+fraction, "0123456789") != "" {
		return ""
	}
	return whole
}

func tryFormat(read func(string, behaviour.Date) (record.Written, bool), format string, texts []stamped) (timing, bool) {
	t := timing{format: format, zoned: true, offsets: map[int64]int{}, hours: map[int]int{}}
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
			if t.read == 0 && i >= 4 {
				return t, false
			}
			continue
		}
		t.read++
		t.note(w, s.day)
	}
	return t, float64(t.read) >= mostOf*float64(len(texts))
}

// note judges one time that was read.
func (t *timing) note(w record.Written, day *behaviour.Date) {
	t.clock = t.clock || w.Wall%86400 != 0
	t.zoned = t.zoned && w.Zoned
	t.offsets[w.Offset]++
	if day == nil {
		return
	}
	away := int(w.Day() - *day)
	if away = max(away, -away); away > 1 {
		t.outside++
	}
	t.furthest = max(t.furthest, away)
	for h := -12; h <= 14; h++ {
		if (record.Written{Wall: w.Wall - w.Offset + int64(h)*3600}).Day() == *day {
			t.hours[h]++
		}
	}
}

// swapped is the format with day and month the other way round, "" if none reads
// as much.
func swapped(all []timing) string {
	for _, t := range all[1:] {
		if t.outside == all[0].outside && t.read == all[0].read && sameLetters(t.format, all[0].format) {
			return t.format
		}
	}
	return ""
}

// sameLetters reports whether two formats differ in order alone.
func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return a != "" && string(x) == string(y)
}

// zones are those that need no summer time to be named by their offset.
var zones = map[int]string{
	0: "UTC", 3: "Europe/Moscow", 4: "Asia/Dubai", 5: "Asia/Karachi", 7: "Asia/Bangkok", 8: "Asia/Shanghai", 9: "Asia/Tokyo", -3: "America/Sao_Paulo",
}

// zoneAt is a zone so many hours east of UTC.
func zoneAt(hours int) string {
	if z, ok := zones[hours]; ok {
		return z
	}
	return fmt.Sprintf("Etc/GMT%+d", -hours) // Etc counts the other way round
}
