package metamorphic_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"usertrail/internal/behaviour"
)

// Conditions are the conditions of an extract, in addition to the rule for active users.
type Conditions struct {
	Where   []Claim  `json:"where,omitempty"` // at least one must hold
	Not     bool     `json:"not,omitempty"`   // none must hold
	First   bool     `json:"first,omitempty"` // only events that where and hours keep make a user active
	Hours   []int    `json:"hours,omitempty"` // from and to
	Having  []Claim  `json:"having,omitempty"`
	Without []string `json:"without,omitempty"`
	Steps   []Leg    `json:"steps,omitempty"`
	Latest  int      `json:"latest,omitempty"` // number of events of each user in the result; 0 is all
}

// A Claim compares a value: a field of a behaviour, or an aggregate of it.
type Claim struct {
	Kind  string `json:"kind"`
	Field string `json:"field,omitempty"`
	Of    string `json:"of,omitempty"` // count, days, min or max; empty is the field of an event
	Op    string `json:"op"`
	Value string `json:"value"`
}

// A Leg is a step of --sequence.
type Leg struct {
	Kind   string `json:"kind"`
	Within int    `json:"within,omitempty"` // hours after the previous step; 0 is any time
}

// flags returns the conditions as flags.
func (c *Conditions) flags() []string {
	if c == nil {
		return nil
	}
	var out []string
	add := func(name, value string) {
		if value != "" {
			out = append(out, name, value)
		}
	}
	where := joined(c.Where, " || ")
	if c.Not {
		where = "!(" + where + ")"
	}
	add("--where", where)
	add("--having", joined(c.Having, " && "))
	add("--without", behaviour.Flag(c.Without))
	var legs []string
	for _, l := range c.Steps {
		text := strconv.Quote(l.Kind)
		if l.Within > 0 {
			text += fmt.Sprintf(" within %dh", l.Within)
		}
		legs = append(legs, text)
	}
	add("--sequence", strings.Join(legs, " -> "))
	if c.Latest > 0 {
		add("--latest", strconv.Itoa(c.Latest))
	}
	if c.First {
		out = append(out, "--where-first")
	}
	if len(c.Hours) == 2 {
		add("--hours", fmt.Sprintf("%d-%d", c.Hours[0], c.Hours[1]))
	}
	return out
}

// distinctCount is the aggregate that counts different values.
const distinctCount = "count distinct"

func joined(claims []Claim, with string) string {
	var out []string
	for i := range claims {
		out = append(out, claims[i].String())
	}
	return strings.Join(out, with)
}

// String returns a claim in the form of --where or --having.
func (c *Claim) String() string {
	value := c.Value
	if universe[c.Field] == "string" && (c.Of == "" || c.Of == "min" || c.Of == "max") {
		value = strconv.Quote(value)
	}
	what := c.Kind
	if !behaviour.IsWord(what) {
		what = "[" + strconv.Quote(what) + "]"
	}
	if c.Field != "" {
		what += "." + c.Field
	}
	switch c.Of {
	case "":
	case distinctCount:
		what = "count(distinct " + what + ")"
	default:
		what = c.Of + "(" + what + ")"
	}
	return what + " " + c.Op + " " + value
}

// wrong reports whether a condition names a behaviour or a field that the table does not
// have.
func (c *Conditions) wrong(t *table) bool {
	if c == nil {
		return false
	}
	j := Job{Kinds: t.kinds}
	for _, claim := range slices.Concat(c.Where, c.Having) {
		if k := j.kind(claim.Kind); k == nil || claim.Field != "" && !k.takes(claim.Field) {
			return true
		}
	}
	return slices.ContainsFunc(c.Without, func(k string) bool { return j.kind(k) == nil }) ||
		slices.ContainsFunc(c.Steps, func(l Leg) bool { return j.kind(l.Kind) == nil })
}

// judged returns the behaviours that conditions need to judge a user.
func (c *Conditions) judged() []string {
	var out []string
	for _, claim := range c.Having {
		out = append(out, claim.Kind)
	}
	for _, l := range c.Steps {
		out = append(out, l.Kind)
	}
	return out
}

// compared applies an operator to the order of two values.
func compared(order int, op string) bool {
	switch op {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	}
	return order >= 0
}

// order compares two texts of one type.
func order(kind, a, b string) int {
	switch kind {
	case "int64":
		return cmp.Compare(atoi(a), atoi(b))
	case "double":
		return cmp.Compare(atof(a), atof(b))
	case "bool":
		return cmp.Compare(a, b) // false comes before true
	}
	return strings.Compare(a, b)
}

func atof(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err) // generated here
	}
	return f
}

// holds reports whether a claim about an event holds. It is false for a field without a
// value.
func (c *Claim) holds(e *event) bool {
	v, ok := e.values[c.Field]
	return e.kind == c.Kind && ok && compared(order(universe[c.Field], v, c.Value), c.Op)
}

// keeps reports whether an event is kept.
func (c *Conditions) keeps(e *event, zone string) bool {
	if len(c.Where) > 0 && slices.ContainsFunc(c.Where, func(claim Claim) bool { return claim.holds(e) }) == c.Not {
		return false
	}
	if len(c.Hours) != 2 {
		return true
	}
	r := Record{Micros: e.micros}
	from, to, at := c.Hours[0], c.Hours[1], r.when(zone).Hour()
	if from > to {
		return at >= from || at < to
	}
	return from <= at && at < to
}

// holdsFor reports whether a claim about a user holds.
func (c *Claim) holdsFor(trail []event) bool {
	n, dates, different, best := 0, map[string]bool{}, map[string]bool{}, ""
	for i := range trail {
		e := &trail[i]
		v, ok := e.values[c.Field]
		if e.kind != c.Kind || c.Field != "" && !ok {
			continue
		}
		n++
		dates[e.date] = true
		different[v] = true
		if o := 0; c.Of == "min" || c.Of == "max" {
			if n > 1 {
				o = order(universe[c.Field], v, best)
			}
			if n == 1 || c.Of == "min" && o < 0 || c.Of == "max" && o > 0 {
				best = v
			}
		}
	}
	switch {
	case c.Of == "days":
		return compared(cmp.Compare(len(dates), atoi(c.Value)), c.Op)
	case c.Of == "count":
		return compared(cmp.Compare(n, atoi(c.Value)), c.Op)
	case c.Of == distinctCount:
		return compared(cmp.Compare(len(different), atoi(c.Value)), c.Op)
	}
	return n > 0 && compared(order(universe[c.Field], best, c.Value), c.Op)
}

// goes reports whether a trail has the legs from leg on, after the event with index at. at is
// -1 for none.
func (c *Conditions) goes(trail []event, leg, at int) bool {
	if leg == len(c.Steps) {
		return true
	}
	l := c.Steps[leg]
	for next := at + 1; next < len(trail); next++ {
		late := leg > 0 && l.Within > 0 && trail[next].micros-trail[at].micros > int64(l.Within)*hour
		if trail[next].kind == l.Kind && !late && c.goes(trail, leg+1, next) {
			return true
		}
	}
	return false
}

// byTime sorts the events of one user as in a trail. Equal events are in any order.
func byTime(a, b event) int {
	return cmp.Or(cmp.Compare(a.micros, b.micros), cmp.Compare(kindIDs[a.kind], kindIDs[b.kind]))
}

// result returns whether the user is active, by the user's events in the span, and the events
// of the result.
func (s *Step) result(own []event, zone string) (active bool, out []event) {
	c := s.Conditions
	if c == nil {
		c = new(Conditions)
	}
	var kept []event
	for _, e := range own {
		if c.keeps(&e, zone) {
			kept = append(kept, e)
		}
	}
	by := own
	if c.First {
		by = kept
	}
	kinds := map[string]bool{}
	for _, e := range by {
		if slices.Contains(s.Types, e.kind) {
			kinds[e.kind] = true
		}
	}
	never := !slices.ContainsFunc(own, func(e event) bool { return slices.Contains(c.Without, e.kind) })
	if len(kinds) < needed(s) || !never {
		return false, nil
	}
	judged := slices.DeleteFunc(slices.Clone(kept), func(e event) bool {
		return !slices.Contains(s.Types, e.kind) && !slices.Contains(c.judged(), e.kind)
	})
	slices.SortFunc(judged, byTime)
	if slices.ContainsFunc(c.Having, func(claim Claim) bool { return !claim.holdsFor(judged) }) || !c.goes(judged, 0, -1) {
		return true, nil
	}
	return true, slices.DeleteFunc(judged, func(e event) bool { return !slices.Contains(s.Types, e.kind) })
}

// conditions generates conditions. It returns none if the table has too few behaviours.
func (d *drawer) conditions(t *table, types []string) *Conditions {
	c := new(Conditions)
	var fields []Claim
	for _, k := range t.kinds {
		for _, f := range k.Fields {
			if slices.Contains(types, k.Name) {
				fields = append(fields, Claim{Kind: k.Name, Field: f})
			}
		}
	}
	for range 1 + d.r.IntN(2) {
		switch d.r.IntN(7) {
		case 0, 1:
			if len(fields) > 0 {
				c.Where = append(c.Where, about(d.r, one(d.r, fields...)))
				c.Not = d.r.IntN(4) == 0
			}
		case 2:
			c.Having = append(c.Having, d.total(one(d.r, t.kinds...)))
		case 3:
			c.Without = some(d.r, slices.DeleteFunc(t.names(), func(k string) bool { return slices.Contains(types, k) }), 1)
		case 4:
			c.Steps = []Leg{{Kind: one(d.r, t.names()...)}}
			for range 1 + d.r.IntN(2) {
				c.Steps = append(c.Steps, Leg{one(d.r, t.names()...), one(d.r, 0, 1, 24, 48)})
			}
		case 5:
			c.Hours = one(d.r, []int{8, 10}, []int{10, 24}, []int{16, 18}, []int{17, 9})
		case 6:
			c.Latest = 1 + d.r.IntN(3)
		}
	}
	c.First = (c.Where != nil || c.Hours != nil) && d.r.IntN(2) == 0
	return c
}

// latest returns the number of events of each user in the result; 0 is all.
func (s *Step) latest() int {
	if s.Conditions == nil {
		return 0
	}
	return s.Conditions.Latest
}

// areLatest checks that rows are the latest n events of each user. Among events with equal
// time and behaviour, the column IDs decide, which the model does not have.
func areLatest(rows []row, events []event, n int) error {
	out := map[string]int{}
	first := map[string]*row{}
	for i := range rows {
		r := &rows[i]
		out[r.user]++
		if first[r.user] == nil {
			first[r.user] = r
		}
	}
	all, later := map[string]int{}, map[string]int{}
	must, may := map[string]int{}, map[string]int{}
	for _, e := range events {
		all[e.user]++
		f := first[e.user]
		if f == nil {
			return fmt.Errorf("no event of %q comes out", e.user)
		}
		may[e.String()]++
		if byTime(e, f.event) > 0 {
			must[e.String()]++
			later[e.user]++
		}
	}
	for i := range rows {
		key := rows[i].String()
		must[key]--
		if may[key]--; may[key] < 0 {
			return fmt.Errorf("%s comes out, and must not", key)
		}
	}
	for key, n := range must {
		if n > 0 {
			return fmt.Errorf("%s is missing among the latest", key)
		}
	}
	for user := range all {
		if want := min(all[user], n); out[user] != want {
			return fmt.Errorf("%d events of %q come out, want %d: %d are later than the first", out[user], user, want, later[user])
		}
	}
	return nil
}

// about generates a claim about a field.
func about(r *rand.Rand, c Claim) Claim {
	c.Op, c.Value = one(r, "==", "!=", "<", ">="), one(r, values[universe[c.Field]]...)
	if universe[c.Field] == "bool" {
		c.Op = "=="
	}
	return c
}

// total generates a claim about all of a user's events of a behaviour.
func (d *drawer) total(k Kind) Claim {
	c := Claim{Kind: k.Name, Of: one(d.r, "count", "days"), Op: one(d.r, "==", "<", ">="), Value: one(d.r, "0", "1", "2")}
	if len(k.Fields) == 0 || d.r.IntN(2) == 0 {
		return c
	}
	c.Field = one(d.r, k.Fields...)
	if n := universe[c.Field]; n != "int64" && n != "double" || d.r.IntN(3) == 0 {
		c.Of = one(d.r, "count", distinctCount)
		return c
	}
	c = about(d.r, Claim{Kind: c.Kind, Field: c.Field})
	c.Of = one(d.r, "min", "max")
	return c
}
