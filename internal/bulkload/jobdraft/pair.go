package jobdraft

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"usertrail/internal/format/record"
)

// clockAlone matches a time of day without a day.
var clockAlone = regexp.MustCompile(`^[0-9]{1,2}(:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?( ?[AaPp][Mm])?|\.[0-9]{2}(\.[0-9]{2})? ?[AaPp][Mm]|[hH][0-9]{2}([mM]([0-9]{2}[sS]?)?)?|[时点][0-9]{2}分([0-9]{2}秒)?)$`)

// clockFirst matches a text that begins with a time of day.
var clockFirst = regexp.MustCompile(`^[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?[ \t]`)

// digitClock matches a time of day that may be another number. Its first zero may be missing.
var digitClock = regexp.MustCompile(`^([01]?[0-9]|2[0-3])[0-5][0-9]([0-5][0-9])?$`)

// plainClock matches a time of day that may be a price, a version or a day: 09.24, 09.24.05, 09-24-05.
var plainClock = regexp.MustCompile(`^([01]?[0-9]|2[0-3])(\.[0-5][0-9](\.[0-5][0-9])?|-[0-5][0-9]-[0-5][0-9])$`)

// sureClock matches those of them that are nothing else: with a zero before the hour, or with more minutes than a month has days.
var sureClock = regexp.MustCompile(`^(0[0-9]\.[0-9]{2}|[0-9]{1,2}[.-](3[2-9]|[45][0-9])[.-][0-9]{2})$`)

// clocks are the forms of a time of day without a day.
var clocks = []string{
	"15:04:05", "15:04", "3:04:05 PM", "3:04 PM", "3:04:05PM", "3:04PM", "3:04:05 pm", "3:04 pm", "3:04:05pm", "3:04pm",
	"15时04分05秒", "15时04分", "15点04分05秒", "15点04分", "150405", "1504",
	"15h04", "15h04m05", "15h04m05s", "15h04m", "15H04", "15.04", "15.04.05", "15-04-05", "3.04 PM", "3.04.05 PM",
}

// durations are words of columns whose texts such as 12:30 are no times of day.
var durations = []string{"duration", "length", "elapsed", "seconds", "minutes", "lap", "dauer", "duree", "时长"}

// clockWords are names of columns that hold a time of day.
var clockWords = []string{"time", "clock", "timeofday", "logtime", "eventtime", "hora", "uhrzeit", "heure", "时间"}

// isClock reports whether a column holds times of day.
func (s *sheet) isClock(i int) bool {
	switch {
	case holds(s.names[i], durations):
		return false
	case s.most(i, digitClock.MatchString):
		return hint(s.names[i], clockWords) >= 0 || s.numbers && s.isDigitClock(i)
	case s.most(i, plainClock.MatchString):
		return hint(s.names[i], clockWords) >= 0 || slices.ContainsFunc(s.texts(i), func(t stamped) bool { return sureClock.MatchString(t.text) })
	}
	return s.most(i, clockAlone.MatchString)
}

// isDigitClock reports whether six digits of a column without a name are times of day. Many numbers that all are hours,
// minutes and seconds are nothing else if the hours differ.
func (s *sheet) isDigitClock(i int) bool {
	const texts, hours = 20, 3
	seen := map[string]bool{}
	all := s.texts(i)
	for _, t := range all {
		if len(t.text) == 6 {
			seen[t.text[:2]] = true
		}
	}
	return len(all) >= texts && len(seen) >= hours && s.most(i, func(text string) bool { return len(text) == 6 })
}

// isTimeOfDay reports whether the texts of a column are times of day or lengths, and so no users.
func (s *sheet) isTimeOfDay(i int) bool { return s.isClock(i) || s.most(i, clockAlone.MatchString) }

// clockColumn returns the first column that holds times of day, or -1.
func (s *sheet) clockColumn(columns []column) int {
	for i := range columns {
		if s.isClock(i) {
			return i
		}
	}
	return -1
}

// clockBefore returns the first column whose texts begin with a time of day, or -1.
func (s *sheet) clockBefore() int {
	for i, name := range s.names {
		if !holds(name, durations) && s.most(i, clockFirst.MatchString) {
			return i
		}
	}
	return -1
}

// doubtClock adds the comment that the job does not read the time of day, if a column has one.
func (w *timeSource) doubtClock(s *sheet, columns []column) {
	is, at := "is in the column", s.clockColumn(columns)
	if at < 0 {
		is, at = "is at the beginning of the column", s.clockBefore()
	}
	if at >= 0 {
		w.unsure = append(w.unsure, fmt.Sprintf("the time of day %s %s, and the job reads only the day: each event gets 00:00:00; a job reads a time from one column, or by a pattern from two neighbours", is, columns[at].name))
	}
}

// pairOf finds a day and, in the column after it, a time of day. One pattern selects both together in the line.
func (s *sheet) pairOf(columns []column, f *format) (timeSource, bool) {
	if f.syntax == record.JSONL {
		return timeSource{}, false
	}
	for i := range len(columns) - 1 {
		day, clock := s.texts(i), s.texts(i+1)
		if len(day) != len(clock) || float64(len(day)) < timed*float64(len(s.rows)) || len(day) == 0 {
			continue
		}
		if f.syntax == record.Blanks && strings.HasPrefix(day[0].text, "[") && strings.HasSuffix(clock[0].text, "]") {
			if times := bestTimes(joined(day, clock, "[]")); len(times) > 0 {
				w := timeSource{column: "$line", pattern: `\[([^]]+)\]`, timing: times[0], turns: turned(times) != "", taken: []int{i, i + 1}}
				w.doubtOrder(swapped(times))
				return w, true
			}
			continue
		}
		if !s.isClock(i + 1) {
			continue
		}
		days := columns[i].times
		if len(days) == 0 {
			days = shortDays(day)
		}
		times, clockFormat := pairTimes(days, joined(day, clock, ""))
		if len(times) == 0 {
			continue
		}
		if w, ok := s.takeOut(f, i, times, clockFormat); ok {
			return w, true
		}
	}
	return timeSource{}, false
}

// joined returns days with the times of day after them, without the characters of cut around them.
func joined(day, clock []stamped, cut string) []stamped {
	out := slices.Clone(day)
	for i := range out {
		out[i].text = strings.Trim(out[i].text+" "+clock[i].text, cut)
	}
	return out
}

// pairTimes returns the formats of texts that are a day and a time of day, the most likely first, and the part of the
// formats for the time of day. days are the formats of the days.
func pairTimes(days []timing, texts []stamped) (times []timing, clock string) {
	c := clockmakers.Get().(clockmaker)
	defer clockmakers.Put(c)
	for _, clock := range clocks {
		for _, day := range days {
			if day.clock || day.epoch() {
				continue
			}
			format := cmp.Or(day.format, "2006-01-02") + " " + clock
			if t, ok := tryFormat(c.reader(format), format, texts); ok {
				times = append(times, t)
			}
		}
		if len(times) > 0 {
			return times, clock
		}
	}
	times = slices.DeleteFunc(bestTimes(texts), func(t timing) bool { return !strings.HasSuffix(t.format, " "+clocks[0]) })
	return times, clocks[0]
}

// shortDays returns the formats of days of six digits, the most likely first. Such a text is a day only if a time of day is
// next to it.
func shortDays(texts []stamped) []timing {
	c := clockmakers.Get().(clockmaker)
	defer clockmakers.Put(c)
	var out []timing
	for _, format := range []string{"060102", "020106"} {
		if t, ok := tryFormat(c.reader(format), format, texts); ok {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b timing) int {
		return cmp.Or(cmp.Compare(a.outside, b.outside), -cmp.Compare(a.read, b.read))
	})
	return out
}

// takeOut returns a time that a pattern selects in the columns i and i+1 of each line. times are the formats that read
// it. takeOut tries columns without and with quotes. It returns false if neither pattern reads the lines.
func (s *sheet) takeOut(f *format, i int, times []timing, clock string) (timeSource, bool) {
	between := f.delimiter
	if f.syntax == record.Blanks {
		between = " "
	}
	w := timeSource{column: "$line", timing: times[0], turns: turned(times) != "", taken: []int{i, i + 1}}
	quoted := slices.ContainsFunc(s.lines, func(l stamped) bool { return strings.Contains(l.text, `"`) })
	for _, quote := range []string{"", `"`} {
		if quote != "" && (!quoted || f.syntax != record.CSV) {
			continue
		}
		inLine := func(format string) string {
			return strings.TrimSuffix(format, " "+clock) + quote + between + quote + clock
		}
		w.format = inLine(times[0].format)
		w.pattern = pairPattern(f, i, quote, quoted)
		if s.readsLines(w.pattern, w.format, f.syntax == record.Blanks) {
			if other := swapped(times); other != "" {
				w.doubtOrder(inLine(other))
			}
			if w.format == "2006-01-02 15:04:05" {
				w.format = ""
			}
			return w, true
		}
	}
	return timeSource{}, false
}

// readsLines reports whether a pattern selects a time of a format in most of the lines. If runs is set, a run of spaces and
// tabs is a space of the format.
func (s *sheet) readsLines(pattern, format string, runs bool) bool {
	read, err := record.TimeReader(format)
	if err != nil {
		return false
	}
	expr := regexp.MustCompile(pattern)
	n := 0
	for _, line := range s.lines {
		near := someDay
		if line.day != nil {
			near = *line.day
		}
		m := expr.FindStringSubmatch(line.text)
		if m == nil {
			continue
		}
		text := m[1]
		if runs {
			text = strings.Join(strings.Fields(text), " ")
		}
		if _, ok := read(text, near); ok {
			n++
		}
	}
	return n > 0 && float64(n) >= mostRead*float64(len(s.lines))
}

// pairPattern returns a pattern that selects columns i and i+1 of a line. quote is around both. If quoted is set,
// earlier columns of csv may have quotes, with delimiters between them.
func pairPattern(f *format, i int, quote string, quoted bool) string {
	if f.syntax == record.Blanks {
		return fmt.Sprintf(`^[ \t]*(?:\S+[ \t]+){%d}(\S+[ \t]+\S+)`, i)
	}
	between, column := regexp.QuoteMeta(f.delimiter), `.*?`
	if len([]rune(f.delimiter)) == 1 {
		column = "[^" + between + "]*"
	}
	earlier, inner := column, column
	if quoted && f.syntax == record.CSV {
		earlier = `(?:"(?:[^"]|"")*"|` + column + `)`
	}
	if quote != "" {
		inner = `[^"]*`
	}
	return fmt.Sprintf("^(?:%s%s){%d}%s(%s%s%s%s%s)%s", earlier, between, i, quote, inner, quote, between, quote, inner, quote)
}

// uncut returns the first lines of samples, without headers.
func uncut(samples []*sample, header bool) []stamped {
	var out []stamped
	for _, sm := range samples {
		n := 0
		for line := range bytes.Lines(sm.text) {
			if !bytes.HasSuffix(line, []byte("\n")) && !sm.ended {
				break
			}
			if n++; n > firstRows {
				break
			}
			if text := strings.TrimRight(string(line), "\r\n"); text != "" && (n > 1 || !header) {
				out = append(out, stamped{text, sm.day})
			}
		}
	}
	return out
}
