package jobdraft

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"usertrail/internal/behaviour"
)

// Names of months and weekdays. {date} reads none of them, and paths of other days have other names.
var (
	monthNames = []string{
		"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
		"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
		"januar", "februar", "märz", "maerz", "mai", "juni", "juli", "oktober", "dezember", "mär", "okt", "dez",
		"janvier", "février", "fevrier", "mars", "avril", "juin", "juillet", "août", "aout", "septembre", "octobre", "novembre", "décembre", "decembre",
		"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
	}
	weekdayNames = []string{
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
		"mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun",
		"montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag",
		"lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche",
		"lunes", "martes", "miércoles", "miercoles", "jueves", "viernes", "sábado", "sabado", "domingo",
	}
)

// dayWords are words before the number of a month or a day: monat09.
var dayWords = []string{"month", "monat", "mois", "mes", "mese", "maand", "day", "tag", "jour", "dia", "giorno", "dag", "m", "d"}

// periodNames are words before a number of the calendar: KW09, Q1.
var periodNames = append([]string{"kw", "cw", "wk", "week", "woche", "semaine", "semana", "w", "q"}, dayWords...)

// yearWords are words before the number of a year: jahr2014.
var yearWords = []string{"year", "jahr", "annee", "année", "ano", "año", "anno", "jaar", "y"}

// Characters after the numbers of a day and of a time of day: 2014年02月26日03时.
const (
	dayUnits   = "年月日년월일"
	clockUnits = "时時点分秒시분초"
)

// Only a draft needs the following: they are not made at each start of the command.
var (
	// calendarWords maps each name to the list that has it.
	calendarWords = sync.OnceValue(func() map[string]*[]string {
		out := map[string]*[]string{}
		for _, list := range []*[]string{&monthNames, &weekdayNames, &periodNames} {
			for _, name := range *list {
				out[name] = list
			}
		}
		return out
	})
	// periodWord matches a word with a number of the calendar.
	periodWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?i)((19|20)[0-9]{2})?([a-z]{2,}[0-9]{1,2}|w[0-9]{2}|q[1-4])$`)
	})
	// lostDays match days in forms that a job does not read: a number may have one digit, the day may be the number in the name of
	// a file, other folders may be between the year and the month, or it is the day of the year. The groups are the numbers that are not in the paths of later days.
	lostDays = sync.OnceValue(func() []*regexp.Regexp {
		return []*regexp.Regexp{
			regexp.MustCompile(`(?:^|[^0-9])((?:19|20)[0-9]{2})(?:(?:[-_. ]|[年년] ?|[年년]?` + newFolder + `)([0-9]{1,2})|(0[1-9]|1[0-2]))[^0-9]+[0-9]{1,2}(?:[^0-9]|$)`),
			regexp.MustCompile(`(?:^|[^0-9])((?:19|20)[0-9]{2})(?:/[^/0-9]+)+/(0[1-9]|1[0-2])[-_/][0-9]{2}(?:[^0-9]|$)`),
			regexp.MustCompile(`(?:^|[^0-9])[0-9]{1,2}[-_./]([0-9]{1,2})[-_./]((?:19|20)[0-9]{2})(?:[^0-9]|$)`),
			regexp.MustCompile(`(?:^|[^0-9])((?:19|20)[0-9]{2}-?[0-3][0-9]{2})(?:[^0-9]|$)`),
		}
	})
	// unitNumber matches the number before a unit of a date or a time of day.
	unitNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+([` + dayUnits + clockUnits + `])`) })
)

// nameIn returns the list of the calendar's names that has a word, without the digits around it.
func nameIn(word string) *[]string {
	return calendarWords()[strings.ToLower(strings.Trim(word, "0123456789"))]
}

// isMonth reports whether a word is the name of a month, also with numbers next to it: 26Feb2014.
func isMonth(word string) bool { return nameIn(word) == &monthNames }

// isDayWord reports whether a word is a name or a unit of the parts of a date.
func isDayWord(word string) bool {
	word = strings.ToLower(word)
	return slices.Contains(dayWords, word) || slices.Contains(yearWords, word) || strings.Trim(word, dayUnits+clockUnits) == ""
}

// markLostDay replaces the year and the month of a day that a job does not read, and reports whether the path has one.
func markLostDay(rel string) (marked string, ok bool) {
	if centuries(rel) == 0 {
		return rel, false
	}
	for _, expr := range lostDays() {
		m := expr.FindStringSubmatchIndex(rel)
		if m == nil {
			continue
		}
		var b strings.Builder
		at := 0
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				b.WriteString(rel[at:m[i]] + wild)
				at = m[i+1]
			}
		}
		return b.String() + rel[at:], true
	}
	return rel, false
}

// markNumbers replaces the numbers in a word that are parts of a date: numbers before a unit, and the year of the day of the
// path, also with the month after it. day is nil if the path has none.
func markNumbers(word string, day *behaviour.Date) string {
	if !strings.ContainsAny(word, "0123456789") {
		return word
	}
	word = unitNumber().ReplaceAllString(word, wild+"$1")
	if day == nil {
		return word
	}
	text := day.String()
	year, month := text[:4], text[:4]+text[5:7]
	return digits.ReplaceAllStringFunc(word, func(n string) string {
		if n == year || n == month {
			return wild
		}
		return n
	})
}

// ofCalendar reports whether a word of a path names a part of the calendar. all are the words of the path: a word such as Q1
// is a quarter only if the path has a day or a number, too.
func ofCalendar(word string, all []string) bool {
	switch nameIn(word) {
	case &monthNames:
		return true
	case &weekdayNames:
		return !strings.ContainsAny(word, "0123456789")
	case &periodNames:
		return periodWord().MatchString(word) && slices.ContainsFunc(all, func(w string) bool { return w == wild || strings.HasPrefix(w, opened) })
	}
	return false
}

// A calendar has the places of the words that name a part of the calendar. A place is a path without the word. It is false
// if another path has a word of another kind there: then mar and play are behaviours.
type calendar map[string]bool

// calendarOf returns the calendar of paths.
func calendarOf(paths []placed) calendar {
	c := calendar{}
	each := func(visit func(all []string, at int, is bool)) {
		for i := range paths {
			all := cutPath(paths[i].parts)
			for at, w := range all {
				if w[0] != opened[0] && strings.ContainsFunc(w, unicode.IsLetter) {
					visit(all, at, ofCalendar(w, all))
				}
			}
		}
	}
	each(func(all []string, at int, is bool) {
		if is {
			c[without(all, at)] = true
		}
	})
	if len(c) == 0 {
		return nil
	}
	each(func(all []string, at int, is bool) {
		if place := without(all, at); !is && c[place] {
			c[place] = false
		}
	})
	return c
}

// cutPath returns the words of a path and the characters between them.
func cutPath(parts []string) []string {
	var out []string
	for i, p := range parts {
		if i > 0 {
			out = append(out, "/")
		}
		out = append(out, cutWords(p)...)
	}
	return out
}

// without returns the place of a word in its path.
func without(all []string, at int) string {
	return strings.Join(all[:at], "") + "\x00" + strings.Join(all[at+1:], "")
}

// markIn replaces the words of a path that name a part of the calendar. They vary like numbers.
func (c calendar) markIn(p *placed) {
	if len(c) == 0 {
		return
	}
	all := cutPath(p.parts)
	marked := slices.Clone(all)
	for at, w := range all {
		if ofCalendar(w, all) && c[without(all, at)] {
			marked[at] = wild
			p.lost = p.lost || p.day == nil && isMonth(w)
		}
	}
	p.parts = strings.Split(strings.Join(marked, ""), "/")
}
