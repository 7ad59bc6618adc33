package jobdraft

import (
	"cmp"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
)

// timed is the share of rows that must have a time.
const timed = 0.9

// A timeSource is the source of the time, and its format.
type timeSource struct {
	column  string // "" if none was found
	pattern string
	timing
	turns  bool // a format with day and month exchanged reads it, too
	noYear bool
	year   int   // 0 is none
	taken  []int // the columns of the sheet that it uses
	unsure []string
}

// doubtOrder adds the comment that a format with day and month exchanged reads the times, too. It adds none if other is
// "".
func (w *timeSource) doubtOrder(other string) {
	if other != "" {
		w.unsure = append(w.unsure, otherWayRound(other))
	}
}

// otherWayRound returns the comment that day and month may be as in another format.
func otherWayRound(other string) string {
	return fmt.Sprintf("day and month may be the other way round, as in %q", other)
}

// doubtMonth adds the comment that the names of months may be long ones. It adds none if other is "".
func (w *timeSource) doubtMonth(other string) {
	if other != "" {
		w.unsure = append(w.unsure, fmt.Sprintf("May is the short and the long name of the month: if later logs have names such as June, write %q", other))
	}
}

// timeSourceOf finds the time among the columns.
func (s *sheet) timeSourceOf(columns []column, f *format) timeSource {
	var found []int
	ordered := map[int]bool{}
	for i, c := range columns {
		if len(c.times) > 0 && float64(c.filled) >= timed*float64(len(s.rows)) {
			found, ordered[i] = append(found, i), s.ordered(i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int {
		return cmp.Compare(columns[a].timeRank(ordered[a]), columns[b].timeRank(ordered[b]))
	})
	best := -1
	if len(found) > 0 {
		best = found[0]
	}
	if best < 0 || !columns[best].times[0].clock {
		if w, ok := s.pairOf(columns, f); ok {
			return w
		}
	}
	if best < 0 {
		w := s.monthDays(columns)
		if w.column != "" {
			w.doubtClock(s, columns)
		}
		return w
	}
	c := columns[best]
	w := timeSource{column: c.name, timing: c.times[0], turns: turned(c.times) != "", taken: []int{best}}
	w.doubtOrder(swapped(c.times))
	w.doubtMonth(longMonth(c.times))
	if c.times[0].epoch() && hint(c.name, timeWords) < 0 && !c.times[0].near() && !ordered[best] {
		w.unsure = append(w.unsure, "these may be numbers that are no times")
	}
	if len(found) > 1 && hint(c.name, timeWords) < 0 {
		var others []string
		for _, i := range found[1:] {
			others = append(others, columns[i].name)
		}
		w.unsure = append(w.unsure, "other columns hold times, too: "+wordsOf(others))
	}
	if !c.times[0].clock {
		w.doubtClock(s, columns)
	}
	return w
}

// monthDays finds a column that is called a time and holds days without a year, such as 0829.
func (s *sheet) monthDays(columns []column) timeSource {
	c := clockmakers.Get().(clockmaker)
	defer clockmakers.Put(c)
	for i := range columns {
		if hint(s.names[i], timeWords) < 0 || columns[i].filled == 0 {
			continue
		}
		texts := s.texts(i)
		if t, ok := tryFormat(c.reader(monthDay), monthDay, texts); ok && fewWrong(len(texts)-t.read, len(texts)) {
			return timeSource{column: columns[i].name, timing: t, taken: []int{i}}
		}
	}
	return timeSource{}
}

// ordered reports whether the texts of a column are in order. Most texts must have one length.
// Programs write a log in the order of time.
func (s *sheet) ordered(column int) bool {
	texts := s.texts(column)
	up := 0
	for i := 1; i < len(texts); i++ {
		if len(texts[i-1].text) == len(texts[i].text) && texts[i-1].text <= texts[i].text {
			up++
		}
	}
	return len(texts) > 2 && float64(up) >= mostRead*float64(len(texts)-1)
}

// near reports whether the times are on the days of their paths.
func (t *timing) near() bool { return len(t.hours) > 0 && t.outside*100 <= t.read }

// timeRank orders columns that hold times. Columns with a usual name, with a time of day and
// in the order of the lines come first.
func (c *column) timeRank(ordered bool) int {
	rank := hint(c.name, timeWords)
	if rank < 0 {
		rank = len(timeWords)
	}
	t := &c.times[0]
	if !t.clock {
		rank += 1000
	}
	if !ordered {
		rank += 100
	}
	if rank >= len(timeWords) && t.epoch() && !t.near() {
		rank += 2000
	}
	return rank
}

// isRegister returns why a sheet of a class is no log, "" if it is one: no column holds a
// time, or each row is about another person and has only a day. whole is the sheet of all
// classes.
func (s *sheet) isRegister(columns []column, w *timeSource) string {
	if w.column == "" {
		return "no column holds a time"
	}
	if w.clock || len(w.hours) > 0 || len(s.rows) < 20 {
		return ""
	}
	for i, c := range columns {
		if (hint(c.name, userWords) >= 0 || hint(c.name, maybeUsers) >= 0) && c.distinct == len(s.rows) && s.idLike(i) && c.typ != behaviour.Double {
			return fmt.Sprintf("each %s has one line, and no time of day", c.name)
		}
	}
	return ""
}
