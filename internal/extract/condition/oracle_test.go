package condition_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/extract/condition"
	"usertrail/internal/trail"
)

// A subject has the events that a condition is evaluated for: one event for where, and a user's events
// for having. It records whether a whole number exceeded 64 bits.
type subject struct {
	done     []happening
	overflow bool
}

// An operand is a text and its meaning as plain Go. The result is nil if there is no value.
type operand struct {
	text string
	is   func(*subject) any
}

// A leaf is an operand that may be nil.
type leaf struct {
	operand
	can func(*subject) bool // whether the subject has the field's kind; nil is always
}

// A claim is a text and its meaning.
type claim struct {
	text  string
	holds func(*subject) bool
}

// A maker generates conditions from leaves, by the type of their values.
type maker struct {
	rng    *rand.Rand
	zone   *time.Location
	leaves map[string][]operand
	nils   []leaf

	refused bool // the last condition has a range in the wrong order, or an hour or weekday that no event has
}

// condition generates a condition.
func (m *maker) condition() claim {
	m.refused = false
	return m.claim(m.rng.IntN(4))
}

// refuse notes that hour or weekday is compared with a number that it cannot be.
func (m *maker) refuse(x, with operand) {
	n, err := strconv.ParseFloat(with.text, 64)
	if err == nil && (x.text == "hour" && (n < 0 || n > 23) || x.text == "weekday" && (n < 1 || n > 7)) {
		m.refused = true
	}
}

// refuseRange notes that the range from a to b is of constants in the wrong order.
func (m *maker) refuseRange(a, b operand) {
	from, err := strconv.Atoi(a.text)
	to, wrong := strconv.Atoi(b.text)
	m.refused = m.refused || err == nil && wrong == nil && from > to
}

func (m *maker) add(typ, text string, nullable bool, is func(*subject) any) {
	o := operand{text, is}
	m.leaves[typ] = append(m.leaves[typ], o)
	if nullable {
		m.nils = append(m.nils, leaf{operand: o})
	}
}

func (m *maker) one(words ...string) string { return words[m.rng.IntN(len(words))] }

func (m *maker) claim(depth int) claim {
	if depth > 0 {
		refused := m.refused
		a := m.claim(depth - 1)
		switch m.rng.IntN(6) {
		case 0:
			return claim{m.one("!", "not ") + a.text, func(s *subject) bool { return !a.holds(s) }}
		case 1, 2:
			b := m.claim(depth - 1)
			return claim{fmt.Sprintf("(%s %s %s)", a.text, m.one("&&", "and"), b.text), func(s *subject) bool { x, y := a.holds(s), b.holds(s); return x && y }}
		case 3, 4:
			b := m.claim(depth - 1)
			return claim{fmt.Sprintf("(%s %s %s)", a.text, m.one("||", "or"), b.text), func(s *subject) bool { x, y := a.holds(s), b.holds(s); return x || y }}
		}
		b := m.claim(depth - 1)
		if m.rng.IntN(2) == 0 {
			return claim{fmt.Sprintf("((%s) == (%s))", wrapped(a.text), wrapped(b.text)), func(s *subject) bool { x, y := a.holds(s), b.holds(s); return x == y }}
		}
		m.refused = refused // a and b are not part of the condition
	}
	return m.comparison()
}

// wrapped makes a claim of a text that may be a bare field. A null field would make the
// comparison around it false.
func wrapped(text string) string { return "!!(" + text + ")" }

func (m *maker) comparison() claim {
	switch typ := m.one("whole", "whole", "double", "mixed", "text", "text", "time", "duration", "bool", "nil", "list", "range"); typ {
	case "nil":
		o := m.nils[m.rng.IntN(len(m.nils))]
		if m.rng.IntN(2) == 0 {
			return claim{"(" + o.text + " == nil)", func(s *subject) bool { return (o.can == nil || o.can(s)) && o.is(s) == nil }}
		}
		return claim{"(nil != " + o.text + ")", func(s *subject) bool { return o.is(s) != nil }}
	case "bool":
		if len(m.leaves[typ]) == 0 {
			return claim{"true", func(*subject) bool { return true }}
		}
		o := m.operand("bool", 0)
		return claim{o.text, func(s *subject) bool { v := o.is(s); return v != nil && v.(bool) }}
	case "list":
		return m.list()
	case "range":
		x, a, b := m.operand(m.one("whole", "double"), 1), m.operand("whole", 0), m.operand("whole", 1)
		m.refuseRange(a, b)
		from, to := m.compared(x, ">=", a), m.compared(x, "<=", b)
		if m.rng.IntN(2) == 0 {
			return claim{fmt.Sprintf("(%s not in %s..%s)", x.text, a.text, b.text), func(s *subject) bool {
				p, q := from(s), to(s)
				return x.is(s) != nil && a.is(s) != nil && b.is(s) != nil && !(p && q)
			}}
		}
		return claim{fmt.Sprintf("(%s in %s..%s)", x.text, a.text, b.text), func(s *subject) bool { p, q := from(s), to(s); return p && q }}
	case "mixed":
		return m.pair("whole", "double", "==", "!=", "<", "<=", ">", ">=")
	case "text":
		return m.pair(typ, typ, "==", "!=", "<", "<=", ">", ">=", "contains", "startsWith", "endsWith", "not contains", "not startsWith", "not endsWith")
	default:
		return m.pair(typ, typ, "==", "!=", "<", "<=", ">", ">=")
	}
}

func (m *maker) pair(left, right string, operators ...string) claim {
	a, b, operator := m.operand(left, 2), m.operand(right, 1), m.one(operators...)
	if m.rng.IntN(2) == 0 {
		a, b = b, a
	}
	return claim{fmt.Sprintf("(%s %s %s)", a.text, operator, b.text), m.compared(a, operator, b)}
}

func (m *maker) compared(a operand, operator string, b operand) func(*subject) bool {
	m.refuse(a, b)
	m.refuse(b, a)
	return func(s *subject) bool {
		x, y := a.is(s), b.is(s)
		return x != nil && y != nil && compare(x, operator, y)
	}
}

func compare(x any, operator string, y any) bool {
	if rest, ok := strings.CutPrefix(operator, "not "); ok {
		return !compare(x, rest, y)
	}
	switch operator {
	case "contains":
		return strings.Contains(x.(string), y.(string))
	case "startsWith":
		return strings.HasPrefix(x.(string), y.(string))
	case "endsWith":
		return strings.HasSuffix(x.(string), y.(string))
	}
	less, equal := order(x, y)
	more, _ := order(y, x)
	return map[string]bool{"==": equal, "!=": !equal, "<": less, ">": more, "<=": less || equal, ">=": more || equal}[operator]
}

func order(x, y any) (less, equal bool) {
	switch x := x.(type) {
	case string:
		return x < y.(string), x == y.(string)
	case time.Time:
		return x.Before(y.(time.Time)), x.Equal(y.(time.Time))
	case time.Duration:
		return x < y.(time.Duration), x == y.(time.Duration)
	case int:
		if y, ok := y.(int); ok {
			return x < y, x == y
		}
	}
	return number(x) < number(y), number(x) == number(y)
}

func number(x any) float64 {
	if n, ok := x.(int); ok {
		return float64(n)
	}
	return x.(float64)
}

func (m *maker) list() claim {
	typ := m.one("whole", "text")
	x := m.operand(typ, 1)
	var items []operand
	var shown []string
	for range 1 + m.rng.IntN(4) {
		o := m.literal(typ)
		m.refuse(x, o)
		items, shown = append(items, o), append(shown, o.text)
	}
	operator := m.one("in", "not in")
	return claim{fmt.Sprintf("(%s %s [%s])", x.text, operator, strings.Join(shown, ", ")), func(s *subject) bool {
		v := x.is(s)
		found := slices.ContainsFunc(items, func(o operand) bool { return v != nil && compare(v, "==", o.is(s)) })
		return v != nil && found == (operator == "in")
	}}
}

func (m *maker) operand(typ string, depth int) operand {
	leaves := m.leaves[typ]
	if typ == "duration" {
		return m.duration(depth)
	}
	if depth > 0 && m.rng.IntN(3) == 0 {
		switch typ {
		case "whole":
			return m.arithmetic(depth)
		case "double":
			return m.division(depth)
		case "text":
			return m.text(depth)
		}
	}
	if len(leaves) == 0 || m.rng.IntN(3) == 0 && typ != "bool" {
		return m.literal(typ)
	}
	return leaves[m.rng.IntN(len(leaves))]
}

func (m *maker) literal(typ string) operand {
	switch typ {
	case "whole":
		n := []int{0, 1, 2, 3, 7, 600, 20, math.MaxInt64, -1, -7}[m.rng.IntN(10)]
		return operand{strconv.Itoa(n), func(*subject) any { return n }}
	case "double":
		f := []float64{0, 1, 0.5, 9.99, 600, 1e300, -2.5}[m.rng.IntN(7)]
		text := strconv.FormatFloat(f, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return operand{strings.Replace(text, "e+", "e", 1), func(*subject) any { return f }}
	case "time":
		text := m.one("2014-10-19", "2014-02-16", "2014-02-15 23:30", "2014-10-18T23:59:59.999999-03:00", "1969-12-31T00:00:00Z")
		at := read(text, m.zone)
		return operand{fmt.Sprintf("date(%q)", text), func(*subject) any { return at }}
	default:
		text := texts[m.rng.IntN(len(texts))]
		return operand{strconv.Quote(text), func(*subject) any { return text }}
	}
}

// read is an independent implementation of date.
func read(text string, zone *time.Location) time.Time {
	if d, err := behaviour.ParseDate(text); err == nil {
		return d.Start(zone)
	}
	if at, err := time.ParseInLocation("2006-01-02 15:04", text, zone); err == nil {
		return at
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return at
}

func (m *maker) duration(depth int) operand {
	if depth > 0 {
		a, b := m.operand("time", 0), m.operand("time", 0)
		return operand{fmt.Sprintf("(%s - %s)", a.text, b.text), func(s *subject) any {
			x, y := a.is(s), b.is(s)
			if x == nil || y == nil {
				return nil
			}
			return x.(time.Time).Sub(y.(time.Time))
		}}
	}
	d := []time.Duration{0, time.Hour, 90 * time.Second, -time.Minute}[m.rng.IntN(4)]
	return operand{fmt.Sprintf("duration(%q)", d), func(*subject) any { return d }}
}

func (m *maker) text(depth int) operand {
	a := m.operand("text", depth-1)
	switch m.rng.IntN(3) {
	case 0:
		return operand{"lower(" + a.text + ")", mapped(a, func(v any) any { return strings.ToLower(v.(string)) })}
	case 1:
		return operand{"(" + a.text + " | trim())", mapped(a, func(v any) any { return strings.TrimSpace(v.(string)) })}
	}
	b := m.operand("text", depth-1)
	return operand{fmt.Sprintf("(%s + %s)", a.text, b.text), both(a, b, func(_ *subject, x, y any) any { return x.(string) + y.(string) })}
}

func (m *maker) arithmetic(depth int) operand {
	if m.rng.IntN(6) == 0 {
		a := m.operand("text", depth-1)
		return operand{"len(" + a.text + ")", mapped(a, func(v any) any { return utf8.RuneCountInString(v.(string)) })}
	}
	a, b, operator := m.operand("whole", depth-1), m.operand("whole", depth-1), m.one("+", "-", "*", "%")
	return operand{fmt.Sprintf("(%s %s %s)", a.text, operator, b.text), both(a, b, func(s *subject, x, y any) any { return s.exact(x.(int), operator, y.(int)) })}
}

// exact computes without limits, to detect results that exceed them.
func (s *subject) exact(x int, operator string, y int) any {
	a, b, z := big.NewInt(int64(x)), big.NewInt(int64(y)), new(big.Int)
	switch operator {
	case "+":
		z.Add(a, b)
	case "-":
		z.Sub(a, b)
	case "*":
		z.Mul(a, b)
	case "%":
		if y == 0 {
			return nil
		}
		z.Rem(a, b)
	}
	if !z.IsInt64() {
		s.overflow = true
		return nil
	}
	return int(z.Int64())
}

func (m *maker) division(depth int) operand {
	a, b := m.operand(m.one("whole", "double"), depth-1), m.operand(m.one("whole", "double"), depth-1)
	if m.rng.IntN(3) == 0 {
		return operand{"floor(" + a.text + ")", mapped(a, func(v any) any { return math.Floor(number(v)) })}
	}
	return operand{fmt.Sprintf("(%s / %s)", a.text, b.text), both(a, b, func(_ *subject, x, y any) any {
		if number(y) == 0 {
			return nil
		}
		return number(x) / number(y)
	})}
}

func mapped(a operand, f func(any) any) func(*subject) any {
	return func(s *subject) any {
		v := a.is(s)
		if v == nil {
			return nil
		}
		return f(v)
	}
}

func both(a, b operand, f func(s *subject, x, y any) any) func(*subject) any {
	return func(s *subject) any {
		x, y := a.is(s), b.is(s)
		if x == nil || y == nil {
			return nil
		}
		return f(s, x, y)
	}
}

// typed returns the maker's name of a field's type.
func typed(t behaviour.Type) string {
	return map[behaviour.Type]string{
		behaviour.String: "text", behaviour.Int64: "whole", behaviour.Double: "double", behaviour.Bool: "bool", behaviour.Day: "time", behaviour.Timestamp: "time",
	}[t]
}

// written returns the notation of a kind, or of a field of it, in a text.
func written(k behaviour.Kind, field int) string {
	out := k.Name
	if k.Name == "in" {
		out = `$env["in"]`
	}
	if field >= 0 {
		if name := k.Fields[field].Name; name == "x²" {
			out += `["x²"]`
		} else {
			out += "." + name
		}
	}
	return out
}

func newMaker(seed uint64, zone *time.Location) *maker {
	return &maker{rng: rand.New(rand.NewPCG(seed, 3)), zone: zone, leaves: map[string][]operand{}}
}

// single generates conditions on the first event of a subject.
func single(seed uint64, s *behaviour.Schema, zone *time.Location) *maker {
	m := newMaker(seed, zone)
	local := func(s *subject) time.Time { return time.UnixMicro(s.done[0].micros).In(zone) }
	m.add("text", "behaviour", false, func(at *subject) any { return s.Kinds[at.done[0].kind].Name })
	m.add("whole", "hour", false, func(s *subject) any { return local(s).Hour() })
	m.add("whole", "weekday", false, func(s *subject) any {
		return map[string]int{"Mon": 1, "Tue": 2, "Wed": 3, "Thu": 4, "Fri": 5, "Sat": 6, "Sun": 7}[local(s).Format("Mon")]
	})
	m.add("time", "time", false, func(s *subject) any { return local(s) })
	for i, k := range s.Kinds {
		for j, f := range k.Fields {
			m.add(typed(f.Type), written(k, j), true, func(s *subject) any {
				if s.done[0].kind != i {
					return nil
				}
				return s.done[0].values[j]
			})
			m.nils[len(m.nils)-1].can = func(s *subject) bool { return s.done[0].kind == i }
		}
	}
	return m
}

// TestWhereKeepsWhatPlainLoopsDo generates conditions and trails.
func TestWhereKeepsWhatPlainLoopsDo(t *testing.T) {
	s := schema()
	zone := location(t, s)
	m := single(11, s, zone)
	kept, asked, overflows := 0, 0, 0
	for range 1500 {
		c := m.condition()
		trl := life(m.rng, s, zone, 40)
		b := batch(s, zone, trl)
		w, err := condition.ParseWhere(c.text, s)
		if err != nil {
			if overflown(err) || strange(err) || m.refused {
				continue
			}
			t.Fatalf("%s\n%v", c.text, err)
		}
		if m.refused {
			t.Fatalf("%s is accepted", c.text)
		}
		e := w.Evaluator()
		for i, h := range trl {
			of := &subject{done: trl[i : i+1]}
			want := c.holds(of)
			got, err := e.Keeps(b, &b.Events[i])
			switch {
			case err != nil && of.overflow && overflown(err):
				overflows++
				continue
			case err != nil:
				t.Fatalf("%s\nof %v: %v", c.text, h, err)
			case got != want:
				t.Fatalf("%s\nof %s %v: got %v, want %v", c.text, s.Kinds[h.kind].Name, h, got, want)
			case got && !w.Kinds().Has(h.kind):
				t.Fatalf("%s keeps a %s, which is not among its kinds", c.text, s.Kinds[h.kind].Name)
			}
			asked++
			if got {
				kept++
			}
		}
	}
	t.Logf("kept %d of %d, %d overflows", kept, asked, overflows)
	if kept < asked/10 || kept > asked*9/10 {
		t.Errorf("kept %d of %d: these conditions tell little", kept, asked)
	}
}

func overflown(err error) bool { return strings.Contains(err.Error(), "does not fit 64 bits") }

// strange reports whether a condition compares the behaviour of an event with a text that names no
// behaviour.
func strange(err error) bool { return strings.Contains(err.Error(), "no behaviour is called ") }

// together generates conditions on all events of a subject.
func together(seed uint64, s *behaviour.Schema, zone *time.Location) *maker {
	m := newMaker(seed, zone)
	m.add("whole", "count()", false, func(s *subject) any { return len(s.done) })
	for i, k := range s.Kinds {
		name := written(k, -1)
		mine := func(s *subject) (out []happening) {
			for _, h := range s.done {
				if h.kind == i {
					out = append(out, h)
				}
			}
			return out
		}
		m.add("whole", "count("+name+")", false, func(s *subject) any { return len(mine(s)) })
		m.add("whole", "days("+name+")", false, func(s *subject) any {
			days := map[string]bool{}
			for _, h := range mine(s) {
				days[time.UnixMicro(h.micros).In(zone).Format(time.DateOnly)] = true
			}
			return len(days)
		})
		m.add("time", "first("+name+")", true, func(s *subject) any {
			if all := mine(s); len(all) > 0 {
				return time.UnixMicro(all[0].micros)
			}
			return nil
		})
		m.add("time", "last("+name+")", true, func(s *subject) any {
			if all := mine(s); len(all) > 0 {
				return time.UnixMicro(all[len(all)-1].micros)
			}
			return nil
		})
		for j, f := range k.Fields {
			m.addField(written(k, j), f.Type, func(s *subject) (out []any) {
				for _, h := range mine(s) {
					if h.values[j] != nil {
						out = append(out, h.values[j])
					}
				}
				return out
			})
		}
		m.addFormulas(k, mine)
	}
	return m
}

// addFormulas adds aggregates of arithmetic with two fields of k.
func (m *maker) addFormulas(k behaviour.Kind, mine func(*subject) []happening) {
	number := func(f behaviour.Field) bool { return f.Type == behaviour.Int64 || f.Type == behaviour.Double }
	for i, f := range k.Fields {
		for j, g := range k.Fields {
			if !number(f) || !number(g) {
				continue
			}
			for _, operator := range []string{"*", "+", "-", "/"} {
				values := func(s *subject) (out []any) {
					for _, h := range mine(s) {
						if v := s.arithmetic(h.values[i], operator, h.values[j]); v != nil {
							out = append(out, v)
						}
					}
					return out
				}
				m.addAggregates(fmt.Sprintf("%s %s %s", written(k, i), operator, written(k, j)), values, map[bool]string{true: "whole", false: "double"}[f.Type == g.Type && f.Type == behaviour.Int64 && operator != "/"])
				m.addAggregates(fmt.Sprintf("2 * (%s %s %s)", written(k, i), operator, written(k, j)), func(s *subject) (out []any) {
					for _, v := range values(s) {
						if v := s.arithmetic(2, "*", v); v != nil {
							out = append(out, v)
						}
					}
					return out
				}, "double")
			}
		}
	}
}

// arithmetic returns nil if there is no value.
func (s *subject) arithmetic(x any, operator string, y any) any {
	if x == nil || y == nil || operator == "/" && number(y) == 0 {
		return nil
	}
	a, whole := x.(int)
	b, also := y.(int)
	if whole && also && operator != "/" {
		return s.exact(a, operator, b)
	}
	p, q := number(x), number(y)
	return map[string]float64{"*": p * q, "+": p + q, "-": p - q, "/": p / q}[operator]
}

// addAggregates adds sum, avg and, of the type ordered, min and max.
func (m *maker) addAggregates(name string, values func(*subject) []any, ordered string) {
	m.add("double", "sum("+name+")", false, func(s *subject) any { return total(values(s)) })
	m.add("double", "avg("+name+")", true, func(s *subject) any {
		all := values(s)
		if len(all) == 0 {
			return nil
		}
		return total(all) / float64(len(all))
	})
	if !strings.HasPrefix(name, "2 * ") {
		m.add(ordered, "min("+name+")", true, func(s *subject) any { return best(values(s), "<") })
		m.add(ordered, "max("+name+")", true, func(s *subject) any { return best(values(s), ">") })
	}
}

// different counts different values. NaN is one value.
func different(values []any) int {
	seen := map[any]bool{}
	for _, v := range values {
		if f, ok := v.(float64); ok && math.IsNaN(f) {
			v = "NaN"
		}
		seen[v] = true
	}
	return len(seen)
}

func (m *maker) addField(name string, t behaviour.Type, values func(*subject) []any) {
	m.add("whole", "count("+name+")", false, func(s *subject) any { return len(values(s)) })
	number := t == behaviour.Int64 || t == behaviour.Double
	m.add("whole", m.one("count(distinct ", "count( DISTINCT  ")+name+")", false, func(s *subject) any { return different(values(s)) })
	if number {
		m.addAggregates(name, values, typed(t))
	}
	if typed(t) == "time" {
		m.add(typed(t), "min("+name+")", true, func(s *subject) any { return best(values(s), "<") })
		m.add(typed(t), "max("+name+")", true, func(s *subject) any { return best(values(s), ">") })
	}
}

// total adds doubles from first to last, and whole numbers without loss.
func total(values []any) float64 {
	sum, exact := 0.0, new(big.Int)
	for _, v := range values {
		if n, ok := v.(int); ok {
			exact.Add(exact, big.NewInt(int64(n)))
			continue
		}
		sum += v.(float64)
	}
	if exact.Sign() != 0 {
		sum, _ = new(big.Float).SetInt(exact).Float64()
	}
	return sum
}

func best(values []any, operator string) any {
	var out any
	for _, v := range values {
		if f, ok := v.(float64); ok && math.IsNaN(f) {
			continue
		}
		if out == nil || compare(v, operator, out) {
			out = v
		}
	}
	return out
}

// TestHavingKeepsWhoPlainLoopsDo generates conditions and users.
func TestHavingKeepsWhoPlainLoopsDo(t *testing.T) {
	s := schema()
	zone := location(t, s)
	m := together(12, s, zone)
	kept, asked := 0, 0
	for range 1000 {
		c := m.condition()
		h, err := condition.ParseHaving(c.text, s)
		if err != nil {
			if overflown(err) || m.refused {
				continue
			}
			t.Fatalf("%s\n%v", c.text, err)
		}
		if m.refused {
			t.Fatalf("%s is accepted", c.text)
		}
		e := h.Evaluator()
		for range 6 {
			trl := life(m.rng, s, zone, m.rng.IntN(40)*m.rng.IntN(2))
			b := batch(s, zone, trl)
			e.Begin()
			for i := range b.Events {
				e.Add(b, &b.Events[i])
			}
			of := &subject{done: trl}
			want := c.holds(of)
			got, err := e.Keeps()
			if err != nil {
				if of.overflow && overflown(err) {
					continue
				}
				t.Fatalf("%s\nof %v: %v", c.text, trl, err)
			}
			if got != want {
				t.Fatalf("%s\nof %v: got %v, want %v", c.text, trl, got, want)
			}
			asked++
			if got {
				kept++
			}
		}
	}
	if kept < asked/10 || kept > asked*9/10 {
		t.Errorf("kept %d of %d: these conditions tell little", kept, asked)
	}
}

func TestOverflowIsAnErrorOfTheEvaluation(t *testing.T) {
	s := schema()
	w, err := condition.ParseWhere("play.seconds * 2 > 0", s)
	if err != nil {
		t.Fatal(err)
	}
	b := batch(s, location(t, s), []happening{{kind: 1, values: []any{nil, 1 << 62, nil}}, {kind: 1, values: []any{nil, 1 << 61, nil}}})
	e := w.Evaluator()
	want := "the result does not fit 64 bits\n  play.seconds * 2 > 0\n               ^"
	if _, err := e.Keeps(b, &b.Events[0]); err == nil || err.Error() != want || errors.Is(err, condition.ErrCondition) {
		t.Errorf("got %v, want %s", err, want)
	}
	if kept, err := e.Keeps(b, &b.Events[1]); !kept || err != nil {
		t.Errorf("after it, %v, %v", kept, err)
	}
}

// TestArithmeticEndsWhere64BitsDo checks values on both sides of the limit.
func TestArithmeticEndsWhere64BitsDo(t *testing.T) {
	s := schema()
	b := batch(s, location(t, s), []happening{{kind: 1, values: []any{nil, 1 << 62, nil}}})
	for text, fits := range map[string]bool{
		"play.seconds * -2 < +0": true, "play.seconds * -3 < 0": false, "-3 * play.seconds < 0": false, "play.seconds * 2 > 0": false,
		"play.seconds - 1 + play.seconds > 0": true, "play.seconds + play.seconds > 0": false,
		"-play.seconds - play.seconds < 0": true, "-play.seconds - play.seconds - 1 < 0": false,
		"abs(-play.seconds - play.seconds) > 0": false, "-(-play.seconds - play.seconds) > 0": false, "abs(1 - play.seconds) > 0": true,
	} {
		w, err := condition.ParseWhere(text, s)
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := w.Evaluator().Keeps(b, &b.Events[0]); kept != fits || overflow(err) == fits {
			t.Errorf("%s: %v, %v", text, kept, err)
		}
	}
}

// TestDoublesAndWholeNumbersAreTwoOperands multiplies a field by 1 and by 1.0, in both orders. No double
// is equal to the product of whole numbers. Only a double can be larger than 64 bits.
func TestDoublesAndWholeNumbersAreTwoOperands(t *testing.T) {
	s := schema()
	b := batch(s, location(t, s), []happening{{kind: 1, values: []any{nil, 1<<53 + 1, nil}}})
	whole, double := "max(play.seconds * 1) == 9007199254740993", "max(play.seconds * 1.0) == 9007199254740992.0"
	power := "max(play.seconds * 1000) == 9007199254740993000 && max(play.seconds * 1e3) < 9007199254740993000 && max(play.seconds * 1e9) > 9e24"
	for _, text := range []string{whole + " && " + double, double + " && " + whole, power} {
		h, err := condition.ParseHaving(text, s)
		if err != nil {
			t.Fatal(err)
		}
		e := h.Evaluator()
		e.Begin()
		e.Add(b, &b.Events[0])
		if keeps, err := e.Keeps(); !keeps || err != nil {
			t.Errorf("%s: %v, %v", text, keeps, err)
		}
	}
}

// TestDaysWhereClocksGoBackPastMidnight uses a clock that was put back to 6 November a minute
// after midnight of 7 November.
func TestDaysWhereClocksGoBackPastMidnight(t *testing.T) {
	s := schema()
	s.Zone = "America/St_Johns"
	zone := location(t, s)
	for _, c := range []struct {
		at   []string // UTC
		want int
	}{
		{[]string{"2010-11-04T12:00:00Z", "2010-11-07T02:30:30Z", "2010-11-07T03:00:00Z", "2010-11-07T04:00:00Z"}, 3},
		{[]string{"2010-11-06T12:00:00Z", "2010-11-07T02:30:30Z", "2010-11-07T03:00:00Z", "2010-11-07T04:00:00Z"}, 2},
		{[]string{"2010-11-07T02:30:30Z", "2010-11-07T03:00:00Z", "2010-11-07T03:10:00Z"}, 2},
	} {
		var trl []happening
		for _, at := range c.at {
			micros := read(at, zone).UnixMicro()
			trl = append(trl, happening{micros: micros, date: behaviour.DateAt(micros, zone)})
		}
		h, err := condition.ParseHaving(fmt.Sprintf("days(login) == %d", c.want), s)
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := keeps(h, batch(s, zone, trl)); !kept || err != nil {
			t.Errorf("%v are not %d days: %v", c.at, c.want, err)
		}
	}
}

// TestTimesAreReadAsLoadsReadThem checks two cases. If the clock shows a time twice,
// date(...) is the first. If the clock skips a time, it is read with the offset before the
// gap.
func TestTimesAreReadAsLoadsReadThem(t *testing.T) {
	for _, c := range []struct{ zone, text, want string }{
		{"Europe/Berlin", "2024-10-27 02:30:00", "2024-10-27T00:30:00Z"},
		{"Europe/Berlin", "2024-10-27T02:59:59.999999", "2024-10-27T00:59:59.999999Z"},
		{"Europe/Berlin", "2024-10-27 02:30", "2024-10-27T00:30:00Z"},
		{"Europe/Berlin", "2024-10-27T02:30:00+01:00", "2024-10-27T01:30:00Z"},
		{"Europe/Berlin", "2024-10-27 03:00:00", "2024-10-27T02:00:00Z"},
		{"Europe/Berlin", "2024-03-31 02:30:00", "2024-03-31T01:30:00Z"},
		{"America/New_York", "2024-11-03 01:30:00", "2024-11-03T05:30:00Z"},
		{"America/New_York", "2024-03-10 02:30:00", "2024-03-10T07:30:00Z"},
		{"Australia/Lord_Howe", "2024-04-07 01:45:00", "2024-04-06T14:45:00Z"},
	} {
		s := schema()
		s.Zone = c.zone
		w, err := condition.ParseWhere(fmt.Sprintf("time == date(%q)", c.text), s)
		if err != nil {
			t.Fatal(err)
		}
		zone := location(t, s)
		micros := read(c.want, zone).UnixMicro()
		b := batch(s, zone, []happening{{micros: micros, date: behaviour.DateAt(micros, zone)}})
		if kept, err := w.Evaluator().Keeps(b, &b.Events[0]); !kept || err != nil {
			t.Errorf("%s in %s is not %s, %v", c.text, c.zone, c.want, err)
		}
	}
}

// TestNothingElseIsRead checks that values and events that a condition's Refs do not name
// make no difference.
func TestNothingElseIsRead(t *testing.T) {
	s := schema()
	zone := location(t, s)
	m, all := single(13, s, zone), together(14, s, zone)
	for range 200 {
		trl := life(m.rng, s, zone, 30)
		b := batch(s, zone, trl)
		text := m.claim(2).text
		if w, err := condition.ParseWhere(text, s); err == nil {
			bare := batch(s, zone, without(trl, w.Refs().Fields))
			for i := range trl {
				if !w.Kinds().Has(trl[i].kind) {
					continue
				}
				one, err := w.Evaluator().Keeps(b, &b.Events[i])
				other, again := w.Evaluator().Keeps(bare, &bare.Events[i])
				if one != other || (err == nil) != (again == nil) {
					t.Fatalf("%s\nof %v: %v, %v; without what it does not read %v, %v", text, trl[i], one, err, other, again)
				}
			}
		}
		text = all.claim(2).text
		h, err := condition.ParseHaving(text, s)
		if err != nil {
			continue
		}
		counted := func(kind int) bool { return h.Refs().Kinds.Has(kind) || strings.Contains(text, "count()") }
		bare := batch(s, zone, slices.DeleteFunc(without(trl, h.Refs().Fields), func(h happening) bool { return !counted(h.kind) }))
		one, err := keeps(h, b)
		other, again := keeps(h, bare)
		if one != other || (err == nil) != (again == nil) {
			t.Fatalf("%s\nof %v: %v, %v; without what it does not read %v, %v", text, trl, one, err, other, again)
		}
	}
}

// without returns a trail in which the values of all but some fields are null.
func without(trl []happening, fields [][]bool) []happening {
	out := slices.Clone(trl)
	for i, h := range out {
		out[i].values = slices.Clone(h.values)
		for j := range h.values {
			if !fields[h.kind][j] {
				out[i].values[j] = nil
			}
		}
	}
	return out
}

func keeps(h *condition.Having, b *trail.Batch) (bool, error) {
	e := h.Evaluator()
	e.Begin()
	for i := range b.Events {
		e.Add(b, &b.Events[i])
	}
	return e.Keeps()
}

func TestCountingSaysWhatCountCounts(t *testing.T) {
	s := schema()
	b := batch(s, location(t, s), []happening{{kind: 0}, {kind: 1, values: []any{nil, nil, nil}}, {kind: 1, values: []any{nil, nil, nil}}})
	h, err := condition.ParseHaving("count() == 2 && count(login) == 1", s)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := keeps(h, b); kept || err != nil {
		t.Errorf("of three, count() is 2: %v", err)
	}
	e := h.Evaluator()
	e.Counting(activity.Of(1))
	for range 2 {
		e.Begin()
		for i := range b.Events {
			e.Add(b, &b.Events[i])
		}
		if kept, err := e.Keeps(); !kept || err != nil {
			t.Errorf("of two plays, count() is not 2: %v", err)
		}
	}
}

// TestABrokenValueIsAnError also uses values of a wrong length.
func TestABrokenValueIsAnError(t *testing.T) {
	s := schema()
	b := new(trail.Batch)
	b.Reset()
	b.Refs = []trail.Ref{{}, put(b, []byte("abc")), {}}
	b.Events = []trail.Event{{Kind: 1}}
	for _, text := range []string{"play.seconds > 1", "play.seconds + 1 > 1", "play.seconds in [1, 2] && hour < 23"} {
		w, err := condition.ParseWhere(text, s)
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := w.Evaluator().Keeps(b, &b.Events[0]); err == nil || !strings.Contains(err.Error(), "3 bytes for int64, want 8") {
			t.Errorf("%s: %v, %v", text, kept, err)
		}
	}
	h, err := condition.ParseHaving("sum(play.seconds) > 1", s)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := keeps(h, b); err == nil || !strings.Contains(err.Error(), "3 bytes for int64, want 8") {
		t.Errorf("%v, %v", kept, err)
	}
}

// TestConditionsAreShared uses a condition in many goroutines, each with its own evaluator.
func TestConditionsAreShared(t *testing.T) {
	s := schema()
	zone := location(t, s)
	b := batch(s, zone, life(rand.New(rand.NewPCG(2, 2)), s, zone, 200))
	w, err := condition.ParseWhere(`play.seconds + 1 > 600 || lower(order.product) contains "a" || order.due > date("2014-10-18")`, s)
	if err != nil {
		t.Fatal(err)
	}
	h, err := condition.ParseHaving("sum(play.seconds) / count(play) > 10 || max(order.due) < first(login)", s)
	if err != nil {
		t.Fatal(err)
	}
	var group errgroup.Group
	var kept [8]int
	for i := range kept {
		group.Go(func() error {
			e := w.Evaluator()
			for j := range b.Events {
				if ok, err := e.Keeps(b, &b.Events[j]); ok || overflow(err) {
					kept[i]++
				}
			}
			_, err := keeps(h, b)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if first := slices.Repeat(kept[:1], len(kept)); kept[0] == 0 || !slices.Equal(kept[:], first) {
		t.Errorf("they keep %v", kept)
	}
}

func overflow(err error) bool { return err != nil && overflown(err) }
