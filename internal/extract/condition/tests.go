package condition

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/expr-lang/expr/ast"

	"usertrail/internal/behaviour"
)

// maxRanges is the maximum number of ranges in a test. Servers compare each range with each
// value.
const maxRanges = 64

// anything is the range of all values except null.
var anything = []behaviour.Range{{}}

// Tests returns tests of single values of a kind's fields. w does not keep an event that
// fails one of them. The tests come from claims that are joined by &&, from the left up to
// the first claim whose arithmetic may overflow 64 bits, because that is an error of the
// evaluation. Nil is no test.
func (w *Where) Tests(kind int) []behaviour.Test {
	bind := func(t *term) binding { return (*WhereEvaluator)(nil).bind(t, kind, w.schema) }
	g, root := w.x.guarded(bind)
	var out []behaviour.Test
	for _, n := range joined(root) {
		if fails(n) {
			break
		}
		if t, in := g.demands(n, w.schema); t != nil {
			out = append(out, behaviour.Test{Field: t.field, In: in})
		}
	}
	return out
}

// joined returns the claims that are joined by && in n, in order.
func joined(n ast.Node) []ast.Node {
	if b, ok := n.(*ast.BinaryNode); ok && (b.Operator == "&&" || b.Operator == "and") {
		return append(joined(b.Left), joined(b.Right)...)
	}
	return []ast.Node{n}
}

// fails reports whether evaluating n may fail. n is guarded.
func fails(n ast.Node) (may bool) {
	ast.Walk(&n, visitor(func(n ast.Node) {
		name := nameOf(n)
		may = may || name != "" && (name == "abs" || checked[name] != nil)
	}))
	return may
}

// demands returns the field whose value n needs, and the ranges of the value. It returns nil if there is
// none. n is guarded.
func (g *guard) demands(n ast.Node, s *behaviour.Schema) (*term, []behaviour.Range) {
	if b, ok := n.(*ast.BinaryNode); ok && (b.Operator == "||" || b.Operator == "or") {
		return g.demandsEither(b, s)
	}
	name := nameOf(n)
	if l, ok := g.leaves[name]; ok && l.term.quality == valueOf {
		return l.term, l.ranges(s.Kinds[l.term.kind].Fields[l.term.field].Type, g.zone)
	}
	for _, t := range g.expression.terms {
		if t.quality == valueOf && name == testName(t) {
			return t, anything
		}
	}
	if t := g.tests[name]; t != nil && t.quality == valueOf {
		return t, anything
	}
	return nil, nil
}

// demandsEither is demands for claims on one field that are joined by ||.
func (g *guard) demandsEither(n *ast.BinaryNode, s *behaviour.Schema) (*term, []behaviour.Range) {
	left, some := g.demands(n.Left, s)
	right, more := g.demands(n.Right, s)
	if left == nil || right == nil || left.field != right.field {
		return nil, nil
	}
	if in := slices.Concat(some, more); len(in) <= maxRanges {
		return left, in
	}
	return left, anything
}

// ranges returns the ranges of values for which l holds. If these are not ranges, it returns
// the range of all values.
func (l leaf) ranges(t behaviour.Type, zone *time.Location) []behaviour.Range {
	in, exact := l.exact(t, zone)
	if exact && l.not {
		in = others(in)
	}
	if !exact || len(in) == 0 || len(in) > maxRanges {
		return anything
	}
	return in
}

// exact returns the ranges of values for which l's operator holds.
func (l leaf) exact(t behaviour.Type, zone *time.Location) ([]behaviour.Range, bool) {
	if l.operator == "!=" {
		in, exact := leaf{l.term, "==", l.with, false}.exact(t, zone)
		return others(in), exact
	}
	switch with := l.with.(type) {
	case bool:
		return others([]behaviour.Range{behaviour.One(behaviour.AppendBool(nil, false))}), true
	case string:
		return textRanges(l.operator, with)
	case []string:
		return listed(l.operator, with, func(v string) []byte { return []byte(v) })
	case []int:
		return listed(l.operator, with, func(v int) []byte { return behaviour.AppendInt64(nil, int64(v)) })
	case int:
		if t == behaviour.Double {
			return doubleRanges(l.operator, float64(with))
		}
		return wholeRanges(l.operator, int64(with))
	case float64:
		if t == behaviour.Double {
			return doubleRanges(l.operator, with)
		}
	case time.Time:
		if t == behaviour.Day {
			return dayRanges(l.operator, with, zone)
		}
		if micros := with.UnixMicro(); time.UnixMicro(micros).Equal(with) {
			return wholeRanges(l.operator, micros)
		}
	}
	return nil, false
}

// others returns the ranges of values that are in none of the given ranges.
func others(in []behaviour.Range) []behaviour.Range {
	in = slices.Clone(in)
	slices.SortFunc(in, func(a, b behaviour.Range) int { return bytes.Compare(a.From, b.From) })
	out := []behaviour.Range{}
	from := []byte{}
	for _, r := range in {
		if bytes.Compare(from, r.From) < 0 {
			out = append(out, behaviour.Range{From: from, Before: r.From})
		}
		if r.Before == nil {
			return out
		}
		if bytes.Compare(from, r.Before) < 0 {
			from = r.Before
		}
	}
	return append(out, behaviour.Range{From: from})
}

func textRanges(operator, with string) ([]behaviour.Range, bool) {
	v := []byte(with)
	one := behaviour.One(v)
	switch operator {
	case "==":
		return []behaviour.Range{one}, true
	case "<":
		return []behaviour.Range{{Before: v}}, true
	case "<=":
		return []behaviour.Range{{Before: one.Before}}, true
	case ">":
		return []behaviour.Range{{From: one.Before}}, true
	case ">=":
		return []behaviour.Range{{From: v}}, true
	case "startsWith":
		return []behaviour.Range{{From: v, Before: behind(v)}}, true
	}
	return nil, false
}

// behind returns the first text that sorts after all texts with a prefix; nil if there is
// none.
func behind(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for n := len(end) - 1; n >= 0; n-- {
		if end[n] < 0xff {
			end[n]++
			return end[:n+1]
		}
	}
	return nil
}

func listed[T any](operator string, with []T, cell func(T) []byte) (in []behaviour.Range, exact bool) {
	for _, v := range with {
		in = append(in, behaviour.One(cell(v)))
	}
	return in, operator == "in"
}

func wholeRanges(operator string, with int64) ([]behaviour.Range, bool) {
	cell := func(v int64) []byte { return behaviour.AppendInt64(nil, v) }
	return signed(operator, with, with, math.MinInt64, math.MaxInt64, cell)
}

// dayRanges compares the beginnings of dates.
func dayRanges(operator string, with time.Time, zone *time.Location) ([]behaviour.Range, bool) {
	first := func(from func(behaviour.Date) bool) int64 {
		days := int(behaviour.MaxDate-behaviour.MinDate) + 1
		return int64(behaviour.MinDate) + int64(sort.Search(days, func(i int) bool { return from(behaviour.MinDate + behaviour.Date(i)) }))
	}
	from := first(func(d behaviour.Date) bool { return !d.Start(zone).Before(with) })
	past := first(func(d behaviour.Date) bool { return d.Start(zone).After(with) })
	cell := func(v int64) []byte { return behaviour.AppendDate(nil, behaviour.Date(v)) }
	return signed(operator, from, past-1, math.MinInt32, math.MaxInt32, cell)
}

// signed returns the ranges of whole numbers for which the comparison with the numbers from
// first to last holds. If last is first minus 1, there are no such numbers.
func signed(operator string, first, last, least, most int64, cell func(int64) []byte) ([]behaviour.Range, bool) {
	switch operator {
	case "==":
		return span(first, last, cell), true
	case "<":
		if first == least {
			return nil, true
		}
		return span(least, first-1, cell), true
	case "<=":
		return span(least, last, cell), true
	case ">":
		if last == most {
			return nil, true
		}
		return span(last+1, most, cell), true
	case ">=":
		return span(first, most, cell), true
	}
	return nil, false
}

// span returns the ranges of whole numbers from first to last. As bytes, negative numbers
// sort after the others.
func span(first, last int64, cell func(int64) []byte) (out []behaviour.Range) {
	add := func(a, b int64) {
		if a <= b {
			out = append(out, behaviour.Range{From: cell(a), Before: behaviour.One(cell(b)).Before})
		}
	}
	add(max(first, 0), last)
	add(first, min(last, -1))
	return out
}

// doubleRanges returns ranges that do not contain NaN.
func doubleRanges(operator string, with float64) ([]behaviour.Range, bool) {
	least, most := math.Inf(-1), math.Inf(1)
	switch operator {
	case "==":
		return doubles(with, with), true
	case "<":
		if with == least {
			return nil, true
		}
		return doubles(least, math.Nextafter(with, least)), true
	case "<=":
		return doubles(least, with), true
	case ">":
		if with == most {
			return nil, true
		}
		return doubles(math.Nextafter(with, most), most), true
	case ">=":
		return doubles(with, most), true
	}
	return nil, false
}

// doubles returns the ranges of numbers from first to last. As bytes, negative numbers,
// including -0, sort after the others, and those nearest to 0 come first.
func doubles(first, last float64) (out []behaviour.Range) {
	const minus = 1 << 63
	add := func(a, b uint64) {
		from, to := binary.BigEndian.AppendUint64(nil, a), binary.BigEndian.AppendUint64(nil, b)
		out = append(out, behaviour.Range{From: from, Before: behaviour.One(to).Before})
	}
	if last >= 0 {
		add(math.Float64bits(max(first, 0))&^minus, math.Float64bits(last)&^minus)
	}
	if first <= 0 {
		add(math.Float64bits(min(last, 0))|minus, math.Float64bits(first)|minus)
	}
	return out
}
