package jobdraft

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A daySpelling is a way to write a day in a path.
type daySpelling struct {
	expr  *regexp.Regexp // groups: the preceding character, then the parts, and the texts between
	parts string         // the meaning of the groups: y, Y (two digits), m, d, or - for a text between
	guess bool           // other readings are as likely
}

// Patterns of the text between the parts of a day.
var (
	// newFolder is the beginning of a new folder, whose name may be such as month=09 or monat09.
	newFolder = `/(?:[A-Za-z_]+=|(?i:` + strings.Join(dayWords, "|") + `)[-_]?)?`
	between   = `([-_.]|[年년]?(?:` + newFolder + `)?)`
	// afterMonth is between with the name of the month before a new folder: 02-Feb/26.
	afterMonth = `([-_.]|[月월]?|(?:[-_. ]?\pL+)?` + newFolder + `)`
)

// daySpellings are tried in this order. The characters before and after a day are not digits. Only a draft needs them.
var daySpellings = sync.OnceValue(func() []daySpelling {
	return []daySpelling{
		{regexp.MustCompile(`(^|[^0-9])((?:19|20)[0-9]{2})` + between + `([0-9]{2})` + afterMonth + `([0-9]{2})(?:[^0-9]|$)`), "y-m-d", false},
		{regexp.MustCompile(`(^|[^0-9])([0-9]{2})([-_.]?)([0-9]{2})([-_.]?)((?:19|20)[0-9]{2})(?:[^0-9]|$)`), "d-m-y", true},
		{regexp.MustCompile(`(^|[^0-9])([0-9]{2})([-_.]?)([0-9]{2})([-_.]?)((?:19|20)[0-9]{2})(?:[^0-9]|$)`), "m-d-y", true},
		// A day followed by hours and minutes, 2014090113 or 20140901130500.
		{regexp.MustCompile(`(^|[^0-9])((?:19|20)[0-9]{2})()([0-9]{2})()([0-9]{2})(?:[0-9]{2}){1,3}(?:[^0-9]|$)`), "y-m-d", false},
		{regexp.MustCompile(`(^|[^0-9])([0-9]{2})([-_.]?)([0-9]{2})([-_.]?)([0-9]{2})(?:[^0-9]|$)`), "Y-m-d", true},
		{regexp.MustCompile(`(^|[^0-9])([0-9]{2})([-_.]?)([0-9]{2})([-_.]?)([0-9]{2})(?:[^0-9]|$)`), "d-m-Y", true},
	}
})

// placeholders are the parts of a day, as a job writes them.
var placeholders = map[byte]string{'y': "yyyy", 'Y': "yy", 'm': "MM", 'd': "dd"}

// A dayIn is a day in a path.
type dayIn struct {
	from, to int
	text     string // in the notation of a job: {date:yyyyMMdd}
	day      time.Time
	mixed    bool // other characters before the month than before the day, in one folder or name
}

// daysIn finds the days in a path that have one spelling.
func (s *daySpelling) daysIn(rel string) []dayIn {
	var out []dayIn
	for at := 0; at < len(rel); {
		m := s.expr.FindStringSubmatchIndex(rel[at:])
		if m == nil {
			break
		}
		first, last := at+m[4], at+m[len(m)-1]
		d, ok := s.read(rel[at:], m)
		if !ok {
			// 2014/2014-02-26 has a day after the first number.
			at = first + len(digits.FindString(rel[first:]))
			continue
		}
		d.from, d.to = first, last
		out = append(out, d)
		at = last
	}
	return out
}

// read returns the day of a match, if it exists in the calendar. A guess is not mixed.
func (s *daySpelling) read(rel string, m []int) (dayIn, bool) {
	var y, mon, d int
	var texts []string // between the parts
	var whole, pieces strings.Builder
	var cut bool // only pieces can have the texts between the parts
	for i := range s.parts {
		text := rel[m[4+2*i]:m[5+2*i]]
		n, _ := strconv.Atoi(text)
		switch s.parts[i] {
		case 'y':
			y = n
		case 'Y':
			y = 2000 + n
		case 'm':
			mon = n
		case 'd':
			d = n
		default:
			name, _, folder := strings.Cut(text, "/")
			name = strings.TrimLeft(name, "-_. ")
			if name != "" && !strings.Contains(dayUnits, name) && !isMonth(name) {
				return dayIn{}, false
			}
			cut = cut || folder || name != ""
			texts = append(texts, text)
			whole.WriteString(text)
			pieces.WriteString(text)
			continue
		}
		p := placeholders[s.parts[i]]
		whole.WriteString(p)
		pieces.WriteString("{date:" + p + "}")
	}
	out := dayIn{text: pieces.String(), day: time.Date(y, time.Month(mon), d, 0, 0, 0, 0, time.UTC), mixed: !cut && texts[0] != texts[1]}
	switch {
	case cut:
	case whole.String() == "yyyy-MM-dd":
		out.text = "{date}"
	default:
		out.text = "{date:" + whole.String() + "}"
	}
	ok := out.day.Year() == y && int(out.day.Month()) == mon && out.day.Day() == d
	return out, ok && !(s.guess && out.mixed)
}

// markDays replaces the days in a path by the notation of a job, and returns the day of the path. If a path has several
// different days, the name of the file has the day, because a folder often has the day on which files arrived. Other days
// become wildcards. If the name has no day or several different days, it is a path of a span, and all its days become wildcards.
func (s *daySpelling) markDays(rel string) (marked string, day dayIn, ok bool) {
	days := s.daysIn(rel)
	if len(days) == 0 {
		return rel, day, false
	}
	name := strings.LastIndexByte(rel, '/')
	day, ok = oneDay(days)
	if !ok {
		day, ok = oneDay(slices.DeleteFunc(slices.Clone(days), func(d dayIn) bool { return d.from < name }))
	}
	var b strings.Builder
	at := 0
	for _, d := range days {
		b.WriteString(rel[at:d.from])
		if ok && d.day.Equal(day.day) {
			b.WriteString(mark(d.text))
		} else {
			b.WriteString(wild + strings.Repeat("/"+wild, strings.Count(rel[d.from:d.to], "/")))
		}
		at = d.to
	}
	b.WriteString(rel[at:])
	return b.String(), day, ok
}

// markSpan replaces the days in a path of a span, and reports whether it is one: a spelling with four digits of the year reads several
// different days, and no spelling that is not a guess reads one day that is not mixed: 2014-03.03 in 26.02.2014-03.03.2014.
func markSpan(rel string) (marked string, ok bool) {
	if centuries(rel) < 2 {
		return rel, false
	}
	for i := range daySpellings() {
		s := &daySpellings()[i]
		if s.parts[0] == 'Y' || strings.HasSuffix(s.parts, "Y") {
			continue
		}
		text, day, one := s.markDays(rel)
		switch {
		case one && !s.guess && !day.mixed:
			return rel, false
		case !one && text != rel && !ok:
			marked, ok = text, true
		}
	}
	return marked, ok
}

// centuries returns the number of places in a path that may be the beginning of a year. Most paths have no two, so that no expression is tried.
func centuries(rel string) int { return strings.Count(rel, "19") + strings.Count(rel, "20") }

// oneDay returns the first of days, and whether all are the same day.
func oneDay(days []dayIn) (day dayIn, ok bool) {
	if len(days) == 0 || slices.ContainsFunc(days, func(d dayIn) bool { return !d.day.Equal(days[0].day) }) {
		return day, false
	}
	return days[0], true
}

// chooseDays returns the spelling of the day in most paths that are not of a span, nil if they have none. Of several guesses it takes the one whose
// days are closest together, because logs are of days in a row. It is unsure if another spelling matches as many. equal is set if another
// spelling reads the same days.
func chooseDays(files []file) (spelling *daySpelling, unsure, equal bool) {
	files = slices.DeleteFunc(slices.Clone(files), func(f file) bool {
		_, ok := markSpan(f.rel)
		return ok
	})
	best, shortest := 0, time.Duration(0)
	for i := range daySpellings() {
		s := &daySpellings()[i]
		n, span := s.count(files)
		switch {
		case n > best:
			best, shortest, spelling, unsure = n, span, s, s.guess && s.parts[0] == 'Y'
		case n == best && n > 0 && s.guess && spelling.guess:
			unsure = true
			if span < shortest {
				shortest, spelling = span, s
			}
		}
	}
	for i := range daySpellings() {
		s := &daySpellings()[i]
		equal = equal || unsure && s != spelling && s.guess && s.readsSameDays(files, spelling)
	}
	return spelling, unsure, equal
}

// readsSameDays reports whether two spellings read the same days in all paths.
func (s *daySpelling) readsSameDays(files []file, other *daySpelling) bool {
	return !slices.ContainsFunc(files, func(f file) bool {
		_, a, ok := s.markDays(f.rel)
		_, b, is := other.markDays(f.rel)
		return ok != is || ok && !a.day.Equal(b.day)
	})
}

// count returns the number of paths that have a day in one spelling, and the time from the first to the last day.
func (s *daySpelling) count(files []file) (n int, span time.Duration) {
	var first, last time.Time
	for _, f := range files {
		_, d, ok := s.markDays(f.rel)
		if !ok {
			continue
		}
		if n++; n == 1 || d.day.Before(first) {
			first = d.day
		}
		if d.day.After(last) {
			last = d.day
		}
	}
	return n, last.Sub(first)
}
