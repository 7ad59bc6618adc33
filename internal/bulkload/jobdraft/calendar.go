package jobdraft

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
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

// periodNames are words before the number of a week or a quarter: KW09, Q1.
var periodNames = []string{"kw", "cw", "wk", "week", "woche", "semaine", "semana", "w", "q"}

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
	// periodWord matches the number of a week or a quarter.
	periodWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?i)((19|20)[0-9]{2})?([a-z]{2,}[0-9]{1,2}|w[0-9]{2}|q[1-4])$`)
	})
	// shortDay matches a day in which a number may have one digit.
	shortDay = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(^|[^0-9])((19|20)[0-9]{2}[-_./][0-9]{1,2}[-_./][0-9]{1,2}|[0-9]{1,2}[-_./][0-9]{1,2}[-_./](19|20)[0-9]{2})([^0-9]|$)`)
	})
)

// nameIn returns the list of the calendar's names that has a word, without the digits around it.
func nameIn(word string) *[]string {
	return calendarWords()[strings.ToLower(strings.Trim(word, "0123456789"))]
}

// isMonth reports whether a word is the name of a month, also with numbers next to it: 26Feb2014.
func isMonth(word string) bool { return nameIn(word) == &monthNames }

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
