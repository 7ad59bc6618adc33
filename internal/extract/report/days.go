package report

import (
	"time"

	"usertrail/internal/behaviour"
)

// mostLines is the maximum number of lines of Days. With more, Days uses a longer unit. A
// month still has a line for each day.
const mostLines = 31

// days counts events by date and number of the behaviour.
type days map[behaviour.Date][]int64

func (d days) add(date behaviour.Date, kind, kinds int) {
	day, ok := d[date]
	if !ok {
		day = make([]int64, kinds)
		d[date] = day
	}
	day[kind]++
}

func (d days) merge(o days) {
	for date, more := range o {
		day, ok := d[date]
		if !ok {
			d[date] = more
			continue
		}
		for i, n := range more {
			day[i] += n
		}
	}
}

// draw sums up the dates of a span in periods of the smallest unit with few enough periods.
// The span may cut the first and the last period.
func (d days) draw(span behaviour.Span, shown shown) Days {
	out := Days{Unit: Year}
	for _, u := range []Unit{Day, Week, Month} {
		if len(u.cut(span, mostLines+1)) <= mostLines {
			out.Unit = u
			break
		}
	}
	for _, p := range out.Unit.cut(span, 0) {
		line := Period{Span: p, Events: make([]int64, len(shown.kinds))}
		for date := p.From; date <= p.To; date++ {
			shown.fold(line.Events, d[date])
		}
		for _, n := range line.Events {
			line.Total += n
		}
		out.Periods = append(out.Periods, line)
	}
	return out
}

// cut divides a span into periods, and stops after most of them; 0 is no limit.
func (u Unit) cut(span behaviour.Span, most int) []behaviour.Span {
	var all []behaviour.Span
	for from := span.From; from <= span.To && (most == 0 || len(all) < most); {
		next := u.after(from)
		all = append(all, behaviour.Span{From: from, To: min(next-1, span.To)})
		from = next
	}
	return all
}

// after returns the start of the period that follows the period of d.
func (u Unit) after(d behaviour.Date) behaviour.Date {
	y, m, _ := d.Civil()
	switch u {
	case Day:
		return d + 1
	case Week:
		fromMonday := (int(weekday(d)) + 6) % 7
		return d + behaviour.Date(7-fromMonday)
	case Month:
		return behaviour.DateOf(y, m+1, 1)
	}
	return behaviour.DateOf(y+1, time.January, 1)
}

func weekday(d behaviour.Date) time.Weekday {
	y, m, day := d.Civil()
	return time.Date(y, m, day, 0, 0, 0, 0, time.UTC).Weekday()
}
