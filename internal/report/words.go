package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"usertrail/internal/manifest"
)

// count is a number with its thousands apart.
func count(n int64) string { return humanize.Comma(n) }

func size(bytes int64) string { return humanize.Bytes(uint64(bytes)) }

// share is a part of a whole in percent, of which nothing and everything are said
// only where they are so.
func share(n, of int64) string {
	if of == 0 {
		return "–"
	}
	p := 100 * float64(n) / float64(of)
	switch {
	case n > 0 && p < 0.1:
		return "<0.1%"
	case n < of && p > 99:
		return ">99%"
	case p > 0 && p < 9.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}

// bar is the length of a bar as a width in SVG. What is not nothing can be seen.
func bar(n, most int64) string {
	if n == 0 || most == 0 {
		return "0"
	}
	return strconv.FormatFloat(math.Max(0.3, 100*float64(n)/float64(most)), 'f', 1, 64) + "%"
}

// heatLevels is how many colours there are beside that of nothing.
const heatLevels = 8

// heat is the class of a cell's colour.
func heat(n, most int64) string {
	if n == 0 || most == 0 {
		return "h0"
	}
	return "h" + strconv.Itoa(min(heatLevels, 1+int(float64(n-1)/float64(most)*heatLevels)))
}

// per is a mean.
func per(n, of int64) string {
	if of == 0 {
		return "–"
	}
	return humanize.CommafWithDigits(float64(n)/float64(of), 1)
}

// lengthsText names a bin.
func lengthsText(b Bin) string {
	if b.From == b.To {
		return count(b.From)
	}
	return count(b.From) + "–" + count(b.To)
}

// timesText names a bin of times.
func timesText(b TimeBin) string {
	switch {
	case b.From == 0:
		return "under " + lasting(b.To)
	case b.To == 0:
		return lasting(b.From) + " and more"
	}
	from, to := lasting(b.From), lasting(b.To)
	number, unit, _ := strings.Cut(from, " ")
	if strings.HasSuffix(to, " "+unit) {
		return number + "–" + to
	}
	return from + " – " + to
}

// lasting is a time in its two largest units.
func lasting(seconds float64) string {
	const day = 24 * 60 * 60
	n := int64(math.Round(seconds))
	two := func(large int64, one string, small int64, other string) string {
		if rest := n % large / small; rest > 0 {
			return fmt.Sprintf("%s %s %d %s", count(n/large), one, rest, other)
		}
		return fmt.Sprintf("%s %s", count(n/large), one)
	}
	switch {
	case seconds < 9.95:
		return strconv.FormatFloat(math.Round(seconds*10)/10, 'f', -1, 64) + " s"
	case n < 60:
		return fmt.Sprintf("%d s", n)
	case n < 60*60:
		return two(60, "min", 1, "s")
	case n < day:
		return two(60*60, "h", 60, "min")
	}
	return two(day, "d", 60*60, "h")
}

// activeText says in words who is active.
func activeText(rule string) string {
	n, ok := strings.CutPrefix(rule, "min:")
	switch {
	case rule == "all":
		return "who did every one of these behaviours"
	case rule == "any":
		return "who did at least one of these behaviours"
	case ok:
		return "who did at least " + n + " of these behaviours"
	}
	return rule
}

// conditions are the flags of a question beside those that every one has.
func conditions(q *manifest.Question, zone *time.Location) []Condition {
	var all []Condition
	add := func(flag, text string) {
		if text != "" {
			all = append(all, Condition{flag, text})
		}
	}
	add("--where", q.Where)
	if q.WhereFirst {
		add("--where-first", "who is active is settled on what --where and --hours kept")
	}
	add("--hours", q.Hours)
	add("--having", q.Having)
	add("--sequence", q.Sequence)
	add("--without", strings.Join(q.Without, ", "))
	add("--fields", strings.Join(q.Fields, ", "))
	if q.Context > 0 {
		add("--context", count(int64(q.Context)))
	}
	if q.At != nil {
		add("--at", time.UnixMicro(*q.At).In(zone).Format("2006-01-02 15:04:05.999999"))
	}
	if q.Latest > 0 {
		add("--latest", count(int64(q.Latest)))
	}
	return all
}

// Label names a period as briefly as it can be: days with their weekday, whole
// months and years by their number, and without the year where Title says it.
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

// year is that of all periods, if it is one.
func (d Days) year() string {
	first, last := d.Periods[0].From.String(), d.Periods[len(d.Periods)-1].To.String()
	if n := len("2006"); first[:n] == last[:n] && d.Unit != Year {
		return first[:n]
	}
	return ""
}

// Title heads the column of periods.
func (d Days) Title() string {
	unit := strings.ToUpper(string(d.Unit[:1])) + string(d.Unit[1:])
	if y := d.year(); y != "" {
		return unit + " of " + y
	}
	return unit
}

// Weekend says whether a period is a day that most people do not work.
func (p Period) Weekend() bool {
	w := weekday(p.From)
	return p.From == p.To && (w == time.Saturday || w == time.Sunday)
}

// Most is the greatest number of a kind in one period, for its colour.
func (d Days) Most(kind int) int64 {
	var most int64
	for _, p := range d.Periods {
		most = max(most, p.Events[kind])
	}
	return most
}

// MostAfter is the greatest number after one kind, for its colour; the rest does
// not count, since it may be more than all others.
func (r *Report) MostAfter(kind int) int64 {
	line := r.Follows.Counts[kind]
	if r.Rest() > 0 {
		line = line[:len(line)-1]
	}
	return slices.Max(line)
}

// Most is the greatest of the bins, for the lengths of bars.
func (l Lengths) Most() int64 {
	var most int64
	for _, b := range l.Bins {
		most = max(most, b.Users)
	}
	return most
}

// Most is the greatest of the bins, for the lengths of bars.
func (g Gap) Most() int64 {
	var most int64
	for _, b := range g.Bins {
		most = max(most, b.Users)
	}
	return most
}

// Empty says whether nothing at all came out.
func (r *Report) Empty() bool { return r.Events == 0 }

// Levels are the classes of colours, from the lightest on.
func (r *Report) Levels() []string {
	var all []string
	for i := range heatLevels {
		all = append(all, heat(int64(i+1), heatLevels))
	}
	return all
}

// Many says whether tables have so many columns that these must be narrow.
func (r *Report) Many() bool { return len(r.Kinds) > 7 }

// Rest is how many behaviours are summed up.
func (r *Report) Rest() int {
	if n := len(r.Kinds); n > 0 {
		return r.Kinds[n-1].Rest
	}
	return 0
}

// OneDay says whether a single day was asked for.
func (a Asked) OneDay() bool { return a.Span.From == a.Span.To }

// Narrowed says whether fewer days are shown than were asked for.
func (r *Report) Narrowed() bool { return r.Samples.Span != r.Asked.Span }

// Drawn is how many sample trails there are.
func (r *Report) Drawn() int64 { return int64(len(r.Samples.Trails)) }

// First is how many users came to the first step.
func (s *Sequence) First() int64 { return s.Steps[0].Users }

// Before is how many users came to the step before one.
func (s *Sequence) Before(i int) int64 { return s.Steps[i-1].Users }

// Name is the behaviour of a step, by its number from 1.
func (s *Sequence) Name(step int) string { return s.Steps[step-1].Behaviour }
