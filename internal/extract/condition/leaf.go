package condition

import (
	"bytes"
	"cmp"
	"regexp"
	"time"

	"github.com/expr-lang/expr/ast"

	"usertrail/internal/behaviour"
)

// A leaf is a comparison of one field with a constant. Most comparisons are of this kind. A
// leaf is compiled to a function that reads the value from its cell. The virtual machine
// would need five operations, and the value in an interface;
// with a leaf, play.seconds >= 600 takes a third of the time. If there is no
// leaf for a comparison, the virtual machine evaluates it.
type leaf struct {
	term     *term
	operator string
	with     any  // string, int, float64, bool, time.Time, []string or []int
	not      bool // holds where the operator does not
}

// flipped are the operators with left and right exchanged.
var flipped = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// leafOf returns n as a leaf, if it compares a field with a constant.
func (g *guard) leafOf(n ast.Node) (leaf, bool) {
	if t := g.terms[nameOf(n)]; t != nil && t.typ == typeOf[bool]() {
		return leaf{t, "==", true, false}, true
	}
	if u, ok := n.(*ast.UnaryNode); ok {
		l, ok := g.leafOf(u.Node)
		l.not = !l.not
		return l, ok
	}
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return leaf{}, false
	}
	if t := g.terms[nameOf(b.Left)]; t != nil {
		with := writtenIn(b.Right)
		return leaf{t, b.Operator, with, false}, with != nil
	}
	t, with := g.terms[nameOf(b.Right)], writtenIn(b.Left)
	operator, ok := flipped[b.Operator]
	return leaf{t, operator, with, false}, ok && t != nil && with != nil
}

// writtenIn returns the value of a literal or of a list of literals, and else nil.
func writtenIn(n ast.Node) any {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.IntegerNode:
		return n.Value
	case *ast.FloatNode:
		return n.Value
	case *ast.ConstantNode:
		return n.Value
	case *ast.UnaryNode:
		if n.Operator != "-" {
			return nil
		}
		switch v := writtenIn(n.Node).(type) {
		case int:
			return -v
		case float64:
			return -v
		}
	case *ast.ArrayNode:
		if texts, ok := all[string](n.Nodes); ok {
			return texts
		}
		if wholes, ok := all[int](n.Nodes); ok {
			return wholes
		}
	}
	return nil
}

// all returns the values of nodes, if all are literals of one type.
func all[T any](nodes []ast.Node) ([]T, bool) {
	var out []T
	for _, n := range nodes {
		v, ok := writtenIn(n).(T)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// test returns a function that reports whether l holds for a cell's value, which is not
// null. It returns nil if the virtual machine has to evaluate l.
func (l leaf) test(t behaviour.Type, boxes *boxes, zone *time.Location) func([]byte) bool {
	switch with := l.with.(type) {
	case string:
		return textTest(l.operator, with)
	case []string:
		return textsTest(l.operator, with)
	case bool:
		return behaviour.ToBool
	case int:
		switch t {
		case behaviour.Int64:
			return reading(ordered(l.operator, int64(with)), behaviour.ToInt64)
		case behaviour.Double:
			return reading(ordered(l.operator, float64(with)), behaviour.ToDouble)
		}
	case float64:
		switch t {
		case behaviour.Int64:
			return reading(ordered(l.operator, with), func(v []byte) float64 { return float64(behaviour.ToInt64(v)) })
		case behaviour.Double:
			return reading(ordered(l.operator, with), behaviour.ToDouble)
		}
	case []int:
		if t == behaviour.Int64 {
			return reading(among(l.operator, with), func(v []byte) int { return int(behaviour.ToInt64(v)) })
		}
	case time.Time:
		order := ordered(l.operator, 0)
		switch t {
		case behaviour.Timestamp:
			return reading(order, func(v []byte) int { return time.UnixMicro(behaviour.ToInt64(v)).Compare(with) })
		case behaviour.Day:
			return reading(order, func(v []byte) int { return boxes.day(behaviour.ToDate(v), zone).(time.Time).Compare(with) })
		}
	}
	return nil
}

// reading combines a function that reads a value with a test of the value.
func reading[T any](test func(T) bool, value func([]byte) T) func([]byte) bool {
	if test == nil {
		return nil
	}
	return func(v []byte) bool { return test(value(v)) }
}

func ordered[T cmp.Ordered](operator string, with T) func(T) bool {
	switch operator {
	case "==":
		return func(v T) bool { return v == with }
	case "!=":
		return func(v T) bool { return v != with }
	case "<":
		return func(v T) bool { return v < with }
	case "<=":
		return func(v T) bool { return v <= with }
	case ">":
		return func(v T) bool { return v > with }
	case ">=":
		return func(v T) bool { return v >= with }
	}
	return nil
}

func among[T comparable](operator string, with []T) func(T) bool {
	if operator != "in" {
		return nil
	}
	set := map[T]bool{}
	for _, v := range with {
		set[v] = true
	}
	return func(v T) bool { return set[v] }
}

// textTest compares cells without converting them to strings.
func textTest(operator, with string) func([]byte) bool {
	raw := []byte(with)
	switch operator {
	case "contains":
		return func(v []byte) bool { return bytes.Contains(v, raw) }
	case "startsWith":
		return func(v []byte) bool { return bytes.HasPrefix(v, raw) }
	case "endsWith":
		return func(v []byte) bool { return bytes.HasSuffix(v, raw) }
	case "matches":
		return regexp.MustCompile(with).Match // the checker has compiled it
	case "==":
		return func(v []byte) bool { return string(v) == with }
	case "!=":
		return func(v []byte) bool { return string(v) != with }
	}
	return reading(ordered(operator, 0), func(v []byte) int { return bytes.Compare(v, raw) })
}

func textsTest(operator string, with []string) func([]byte) bool {
	if operator != "in" {
		return nil
	}
	set := map[string]bool{}
	for _, v := range with {
		set[v] = true
	}
	return func(v []byte) bool { return set[string(v)] }
}

// wholeTester returns a function that compares a value that is not null, or nil.
func wholeTester(l leaf, value func() int) call0 {
	var test func(int) bool
	switch with := l.with.(type) {
	case int:
		test = ordered(l.operator, with)
	case []int:
		test = among(l.operator, with)
	}
	if test == nil {
		return nil
	}
	return func(...any) (any, error) { return test(value()) != l.not, nil }
}
