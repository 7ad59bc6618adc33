package testworld

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Conditions narrow a result. Each has two forms: the flag of extract, and Go code with the
// same meaning.
type Conditions struct {
	Where      Where
	WhereFirst bool
	Having     Having
	Steps      []Step
	Without    []string
	Fields     []string // KIND.FIELD
	Hours      string
	Evening    func(behaviour string, hour int) bool `json:"-"` // the meaning of Hours
	Context    int
	At         *int64 // µs
	Latest     int
}

// A Where keeps events.
type Where struct {
	Text  string
	Keeps func(r Row, hour int) bool `json:"-"`
}

// A Having keeps users by the events that were kept. Some of these may be of kinds that are
// not in the result.
type Having struct {
	Text  string
	Keeps func(rows []Row, asked []string) bool `json:"-"`
}

// A Step is a step of a sequence.
type Step struct {
	Kind   string
	Within time.Duration // after the previous step; 0 is any time
}

// Sequence returns the steps in the form of extract's flag.
func (c *Conditions) Sequence() string {
	text := ""
	for i, s := range c.Steps {
		if i > 0 {
			text += " -> "
		}
		text += s.Kind
		if s.Within > 0 {
			text += fmt.Sprintf(" within %dm", int(s.Within.Minutes()))
		}
	}
	return text
}

// number returns a row's value of a field of a kind; ok is false for null.
func number(r Row, kind, field string) (n float64, ok bool) {
	if r.Behaviour != kind || r.Values[field] == "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(r.Values[field], 64)
	if err != nil {
		panic("testworld: " + err.Error())
	}
	return n, true
}

var wheres = []Where{
	{"play.seconds >= 1 || order.price > 0", func(r Row, _ int) bool {
		s, some := number(r, "play", "seconds")
		p, priced := number(r, "order", "price")
		return some && s >= 1 || priced && p > 0
	}},
	{`!(play.seconds >= 1) && behaviour != "login"`, func(r Row, _ int) bool {
		s, some := number(r, "play", "seconds")
		return !(some && s >= 1) && r.Behaviour != "login"
	}},
	{"order.paid", func(r Row, _ int) bool { return r.Behaviour == "order" && r.Values["paid"] == "true" }},
	{`playlist.title != nil || play.title contains "a"`, func(r Row, _ int) bool {
		return r.Behaviour == "playlist" && r.Values["title"] != "" ||
			r.Behaviour == "play" && slices.Contains([]string{"a,b", `say "no"`, "crlf\r\nhere", " leading", "trailing ", "{date}"}, r.Values["title"]) && contains(r.Values["title"], 'a')
	}},
	{"hour < 12", func(_ Row, hour int) bool { return hour < 12 }},
	{"true", func(Row, int) bool { return true }},
}

func contains(s string, b byte) bool { return slices.Contains([]byte(s), b) }

func count(rows []Row, kind string) (n int) {
	for _, r := range rows {
		if r.Behaviour == kind {
			n++
		}
	}
	return n
}

var havings = []Having{
	{"count(play) >= 2", func(rows []Row, _ []string) bool { return count(rows, "play") >= 2 }},
	{"sum(order.price) > 0 || days(login) >= 2", func(rows []Row, _ []string) bool {
		sum, days := 0.0, map[string]bool{}
		for _, r := range rows {
			if p, ok := number(r, "order", "price"); ok {
				sum += p
			}
			if r.Behaviour == "login" {
				days[r.Date] = true
			}
		}
		return sum > 0 || len(days) >= 2
	}},
	{"count(distinct play.seconds) >= 2 || sum(order.price * 2 - 1) > 10", func(rows []Row, _ []string) bool {
		sum, seconds := 0.0, map[float64]bool{}
		for _, r := range rows {
			if p, ok := number(r, "order", "price"); ok {
				sum += p*2 - 1
			}
			if s, ok := number(r, "play", "seconds"); ok {
				seconds[s] = true
			}
		}
		return len(seconds) >= 2 || sum > 10
	}},
	{"count() < 10 && !(max(playlist.rating) < 1)", func(rows []Row, asked []string) bool {
		most, some := 0.0, false
		for _, r := range rows {
			if v, ok := number(r, "playlist", "rating"); ok && (!some || v > most) {
				most, some = v, true
			}
		}
		n := 0
		for _, kind := range asked {
			n += count(rows, kind)
		}
		return n < 10 && !(some && most < 1)
	}},
}

// hoursOf returns hours of those of a query's behaviours that have hours of their own, and their meaning.
func hoursOf(asked []string) (string, func(behaviour string, hour int) bool) {
	var parts []string
	own := map[string][2]int{}
	for _, part := range []struct {
		kind     string
		from, to int
	}{{"play", 18, 24}, {"order", 6, 22}} {
		if slices.Contains(asked, part.kind) {
			own[part.kind] = [2]int{part.from, part.to}
			parts = append(parts, fmt.Sprintf("%s:%d-%d", part.kind, part.from, part.to))
		}
	}
	return strings.Join(parts, ","), func(behaviour string, hour int) bool {
		h, ok := own[behaviour]
		return !ok || h[0] <= hour && hour < h[1]
	}
}

// Narrow adds generated conditions to a query.
func (w *W) Narrow(r *rand.Rand, q *Query) {
	c := &q.Conditions
	if r.IntN(2) == 0 {
		c.Where = wheres[r.IntN(len(wheres))]
		c.WhereFirst = r.IntN(3) == 0
		c.Context = []int{0, 0, 1, 3}[r.IntN(4)]
	}
	if r.IntN(3) == 0 {
		c.Having = havings[r.IntN(len(havings))]
	}
	if r.IntN(3) == 0 {
		for range 2 + r.IntN(2) {
			s := Step{Kind: kinds[r.IntN(len(kinds))].Name}
			if len(c.Steps) > 0 {
				s.Within = []time.Duration{0, time.Hour, 24 * time.Hour}[r.IntN(3)]
			}
			c.Steps = append(c.Steps, s)
		}
	}
	if r.IntN(4) == 0 {
		c.Without = []string{kinds[r.IntN(len(kinds))].Name}
	}
	switch r.IntN(9) {
	case 0, 1:
		c.Hours, c.Evening = "18-24", func(_ string, h int) bool { return h >= 18 }
	case 2:
		c.Hours, c.Evening = "22-6", func(_ string, h int) bool { return h >= 22 || h < 6 }
	case 3:
		c.Hours, c.Evening = hoursOf(q.Kinds)
	}
	if r.IntN(4) == 0 {
		at := w.any(r)
		c.At = &at
	}
	if r.IntN(4) == 0 {
		c.Latest = 1 + r.IntN(3)
	}
	if r.IntN(3) == 0 {
		for _, name := range q.Kinds {
			for _, k := range kinds {
				if k.Name == name && len(k.Fields) > 0 {
					c.Fields = append(c.Fields, name+"."+k.Fields[r.IntN(len(k.Fields))].Name)
				}
			}
		}
	}
}

// narrowed returns the part of one user's trail that is in the result. trail has every kind.
// It also returns whether the user is found and active, and the rows of a sequence's steps.
func (w *W) narrowed(trail []Row, q Query) (out []Row, found, active bool) {
	c := &q.Conditions
	var kept []bool
	did, without := map[string]bool{}, false
	for _, r := range trail {
		at, err := time.Parse("2006-01-02T15:04:05.999999Z", r.Time)
		if err != nil {
			panic("testworld: " + err.Error())
		}
		hour := at.In(w.zone).Hour()
		keep := (c.Where.Keeps == nil || c.Where.Keeps(r, hour)) && (c.Evening == nil || c.Evening(r.Behaviour, hour))
		kept = append(kept, keep)
		asked := slices.Contains(q.Kinds, r.Behaviour)
		found = found || asked
		if asked && (keep || !c.WhereFirst) {
			did[r.Behaviour] = true
		}
		without = without || slices.Contains(c.Without, r.Behaviour)
	}
	active = found && len(did) >= q.needed() && !without
	if !active {
		return nil, found, false
	}
	var left []Row
	for i, r := range trail {
		if kept[i] {
			left = append(left, r)
		}
	}
	var steps []Row
	if c.Having.Keeps != nil && !c.Having.Keeps(left, q.Kinds) || len(c.Steps) > 0 && !match(left, c.Steps, &steps) {
		return nil, true, true
	}
	return w.chosen(trail, kept, steps, q), true, true
}

// match finds the steps that end first. Among these it finds the steps whose earlier steps
// are latest. It tries all combinations.
func match(trail []Row, steps []Step, out *[]Row) bool {
	var back func(end, step int) bool // reports whether trail[end] can be step, with the steps before it
	back = func(end, step int) bool {
		if trail[end].Behaviour != steps[step].Kind {
			return false
		}
		*out = append(*out, trail[end])
		if step == 0 {
			return true
		}
		for i := end - 1; i >= 0; i-- {
			within := steps[step].Within
			if (within == 0 || micros(trail[end])-micros(trail[i]) <= within.Microseconds()) && back(i, step-1) {
				return true
			}
		}
		*out = (*out)[:len(*out)-1]
		return false
	}
	for end := range trail {
		if back(end, len(steps)-1) {
			slices.Reverse(*out)
			return true
		}
	}
	return false
}

func micros(r Row) int64 {
	at, err := time.Parse("2006-01-02T15:04:05.999999Z", r.Time)
	if err != nil {
		panic("testworld: " + err.Error())
	}
	return at.UnixMicro()
}

// chosen returns the part of an active user's trail that is in the result.
func (w *W) chosen(trail []Row, kept []bool, steps []Row, q Query) []Row {
	c := &q.Conditions
	var asked []Row
	var hit []bool
	for i, r := range trail {
		if slices.Contains(q.Kinds, r.Behaviour) {
			asked, hit = append(asked, r), append(hit, kept[i])
		}
	}
	var out []Row
	for i, r := range asked {
		near := false
		for j := max(0, i-c.Context); j <= min(len(asked)-1, i+c.Context); j++ {
			near = near || hit[j]
		}
		if near {
			out = append(out, r)
		}
	}
	if c.At != nil {
		out = lastOfEach(out, *c.At)
	}
	if c.Latest > 0 {
		out = out[max(0, len(out)-c.Latest):]
	}
	return dressed(out, steps, c.Fields)
}

// lastOfEach returns the last row of each kind at or before a time.
func lastOfEach(rows []Row, at int64) []Row {
	var out []Row
	for i, r := range rows {
		later := slices.ContainsFunc(rows[i+1:], func(o Row) bool { return o.Behaviour == r.Behaviour && micros(o) <= at })
		if micros(r) <= at && !later {
			out = append(out, r)
		}
	}
	return out
}

// dressed returns rows with only the values of the result.
func dressed(rows, steps []Row, fields []string) []Row {
	var out []Row
	for _, r := range rows {
		values := map[string]string{}
		for name, v := range r.Values {
			if len(fields) == 0 || slices.Contains(fields, r.Behaviour+"."+name) {
				values[name] = v
			}
		}
		for i, s := range steps {
			values[fmt.Sprintf("step_%d", i+1)] = s.Time
		}
		r.Values = values
		out = append(out, r)
	}
	return out
}
