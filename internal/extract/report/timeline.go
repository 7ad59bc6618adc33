package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/run/quantity"
)

// A Tick is a line on the axis of the time line.
type Tick struct {
	At   string // percent of the width
	Text string
}

// mostTicks is the number of labels that fit on a telephone. lastText is the percentage after
// which there is no room for a label.
const (
	mostTicks = 6
	lastText  = 90
)

// Ticks returns hours of a single day, or days or months, at equal distances as far as the
// calendar allows.
func (s Samples) Ticks() []Tick {
	days := s.Span.Days()
	var all []Tick
	add := func(n, of int, text string) {
		if 100*n > lastText*of {
			text = ""
		}
		all = append(all, Tick{percent(n, of), text})
	}
	unit, format := Month, "2006-01"
	switch {
	case days == 1:
		for h := 0; h < 24; h += 6 {
			add(h, 24, fmt.Sprintf("%02d:00", h))
		}
		return all
	case days <= 62:
		unit, format = Day, "01-02"
	}
	starts := unit.starts(s.Span)
	step := (len(starts) + mostTicks - 1) / mostTicks
	for i := 0; i < len(starts); i += step {
		y, m, d := starts[i].Civil()
		add(int(starts[i]-s.Span.From), days, time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Format(format))
	}
	return all
}

// starts returns the starts of the periods of a unit in a span.
func (u Unit) starts(span behaviour.Span) []behaviour.Date {
	var all []behaviour.Date
	for d := u.after(span.From - 1); d <= span.To; d = u.after(d) {
		all = append(all, d)
	}
	return all
}

func percent(n, of int) string {
	return strconv.FormatFloat(100*float64(n)/float64(of), 'f', 2, 64) + "%"
}

// X returns the place of a mark: the middle of its position.
func (s Samples) X(m Mark) string { return percent(2*m.Position+1, 2*s.Positions) }

// A Lane holds the marks of one kind in a trail.
type Lane struct {
	Kind  int
	Shape int // number of the marks' shape
	Color int
	Y     int
	Text  string
	Marks []Mark
}

// Sizes of a time line.
const (
	shapes = 6
	colors = 7
)

// laneHeight returns the distance of lanes in pixels. With many lanes the marks overlap a
// little.
func (r *Report) laneHeight() int {
	if r.Many() {
		return 7
	}
	return 11
}

// Lanes returns the lanes of a trail that have marks. A kind has the same height in all
// trails.
func (r *Report) Lanes(t Trail) []Lane {
	var all []Lane
	for _, m := range t.Marks {
		if n := len(all); n == 0 || all[n-1].Kind != m.Kind {
			l := r.lane(m.Kind)
			all = append(all, l)
		}
		l := &all[len(all)-1]
		l.Marks = append(l.Marks, m)
	}
	for i := range all {
		var n int64
		for _, m := range all[i].Marks {
			n += m.Events
		}
		all[i].Text = fmt.Sprintf("%s %s", count(n), r.Kinds[all[i].Kind].Title())
	}
	return all
}

func (r *Report) lane(kind int) Lane {
	return Lane{Kind: kind, Shape: kind % shapes, Color: kind % colors, Y: r.laneHeight()*kind + 6}
}

// Legend returns an empty lane for each kind.
func (r *Report) Legend() []Lane {
	var all []Lane
	for i, k := range r.Kinds {
		l := r.lane(i)
		l.Text = k.Title()
		all = append(all, l)
	}
	return all
}

// Height returns the height of a trail's time line, in pixels.
func (r *Report) Height() int { return r.laneHeight()*(len(r.Kinds)-1) + 12 }

// Describe returns a trail in words, for screen readers.
func (r *Report) Describe(t Trail) string {
	var parts []string
	for _, l := range r.Lanes(t) {
		parts = append(parts, l.Text)
	}
	return fmt.Sprintf("%s: %s", t.User, strings.Join(parts, ", "))
}

// Title returns a kind's name. The title of the rest has the number of its behaviours.
func (k Kind) Title() string {
	if k.Rest > 0 {
		return quantity.Of(int64(k.Rest), "other")
	}
	return k.Name
}
