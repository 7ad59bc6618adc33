package report

import (
	"strings"
	"time"
)

// Label returns a short name of a period: days with their weekday, whole months and years by
// their number, and without the year if Title has it.
func (d Days) Label(p Period) string {
	from, to := p.From.String(), p.To.String()
	skip := 0
	if d.year() != "" {
		skip = len("2006-")
	}
	switch whole := d.Unit.after(p.From) == p.To+1; {
	case p.From == p.To:
		return from[skip:] + " " + weekday(p.From).String()[:3]
	case d.Unit == Month && whole && strings.HasSuffix(from, "-01"):
		return from[:len("2006-01")]
	case d.Unit == Year && whole && strings.HasSuffix(from, "-01-01"):
		return from[:len("2006")]
	}
	same := skip
	for _, n := range []int{len("2006-"), len("2006-01-")} {
		if from[:n] == to[:n] {
			same = n
		}
	}
	return from[skip:] + " – " + to[same:]
}

// year returns the year of all periods, if they are days or weeks of one year, and else "".
func (d Days) year() string {
	first, last := d.Periods[0].From.String(), d.Periods[len(d.Periods)-1].To.String()
	if n := len("2006"); first[:n] == last[:n] && (d.Unit == Day || d.Unit == Week) {
		return first[:n]
	}
	return ""
}

// Title returns the header of the column of periods.
func (d Days) Title() string {
	unit := strings.ToUpper(string(d.Unit[:1])) + string(d.Unit[1:])
	if y := d.year(); y != "" {
		return unit + " of " + y
	}
	return unit
}

// Weekend reports whether a period is a Saturday or Sunday.
func (p Period) Weekend() bool {
	w := weekday(p.From)
	return p.From == p.To && (w == time.Saturday || w == time.Sunday)
}
