package condition

import (
	"cmp"
	"fmt"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
)

// within turns x in a..b into x >= a && x <= b. The library would make a list. x not in a..b becomes a
// comparison that is true for all other values, NaN included. It is false if x, a or b has no value. If a
// and b are constants, it is two comparisons, which may be leaves.
func (r *reader) within(n, bounds *ast.BinaryNode, outside bool) (ast.Node, error) {
	from, err := r.side(n, ">=", bounds.Left)
	if err != nil {
		return nil, err
	}
	to, err := r.side(n, "<=", bounds.Right)
	if err != nil {
		return nil, err
	}
	loc, low, high := n.Location(), writtenIn(from.Right), writtenIn(to.Right)
	switch {
	case descends(low, high):
		return nil, r.wrong(bounds, "the range is empty: its first value is greater than its last; %s", r.instead(from.Left, low, high, outside))
	case outside && low != nil && high != nil:
		return located(&ast.BinaryNode{Operator: "||", Left: opposite(from, loc), Right: opposite(to, loc)}, loc), nil
	}
	both := located(&ast.BinaryNode{Operator: "&&", Left: from, Right: to}, loc)
	if outside {
		return opposite(both, loc), nil
	}
	return both, nil
}

// side returns the comparison of the operand of n with one value of a range.
func (r *reader) side(n *ast.BinaryNode, operator string, bound ast.Node) (*ast.BinaryNode, error) {
	out, err := r.binary(located(&ast.BinaryNode{Operator: operator, Left: n.Left, Right: bound}, n.Location()))
	b, _ := out.(*ast.BinaryNode)
	return b, err
}

// opposite returns the comparison that is true where n is false, unless an operand has no value. negated
// recognizes it by its location.
func opposite(n ast.Node, loc file.Location) ast.Node {
	return located(&ast.UnaryNode{Operator: "not", Node: n}, loc)
}

// descends reports whether a and b are constants of one type, and a is greater than b.
func descends(a, b any) bool {
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return ok && a > b
	case time.Time:
		b, ok := b.(time.Time)
		return ok && a.After(b)
	case time.Duration:
		b, ok := b.(time.Duration)
		return ok && a > b
	case int:
		if b, ok := b.(int); ok {
			return a > b
		}
	}
	x, ok := double(a)
	y, also := double(b)
	return ok && also && x > y
}

// double returns a constant that is a number.
func double(v any) (float64, bool) {
	if n, ok := v.(int); ok {
		return float64(n), true
	}
	f, ok := v.(float64)
	return f, ok
}

// A cycle is the values of a term that begins again after its greatest value.
type cycle struct {
	least, most int
	shown       string
	past        string // the way from the greatest value to the least
}

var cycles = map[quality]cycle{
	hourOf:    {0, 23, "0 to 23", "over midnight"},
	weekdayOf: {1, 7, "1 (Monday) to 7 (Sunday)", "over Sunday"},
}

// cycle returns the cycle of n, if n is an hour or a weekday.
func (r *reader) cycle(n ast.Node) (*term, cycle, bool) {
	t := r.terms[nameOf(n)]
	if t == nil {
		return nil, cycle{}, false
	}
	c, ok := cycles[t.quality]
	return t, c, ok
}

// instead returns what to write for x in low..high, or for x not in low..high, if the range is empty.
func (r *reader) instead(x ast.Node, low, high any, outside bool) string {
	t, c, ok := r.cycle(x)
	switch {
	case !ok:
		return "write the lower value first"
	case outside:
		return fmt.Sprintf("%s, write (%s < %v && %s > %v)", c.past, t.name, low, t.name, high)
	}
	return fmt.Sprintf("%s, write (%s >= %v || %s <= %v)", c.past, t.name, low, t.name, high)
}

// reached returns an error if n compares an hour or a weekday with a constant outside its cycle. The
// result of such a comparison is the same for every event.
func (r *reader) reached(n *ast.BinaryNode) error {
	if !compares(n) {
		return nil
	}
	return cmp.Or(r.reaches(n.Left, n.Right), r.reaches(n.Right, n.Left))
}

func (r *reader) reaches(of, with ast.Node) error {
	t, c, ok := r.cycle(of)
	if !ok {
		return nil
	}
	nodes := []ast.Node{with}
	if list, ok := with.(*ast.ArrayNode); ok {
		nodes = list.Nodes
	}
	for _, n := range nodes {
		if v, ok := double(writtenIn(n)); ok && (v < float64(c.least) || v > float64(c.most)) {
			return r.wrong(n, "%s is from %s, and never %v: compare it with a value in %d..%d", t.name, c.shown, writtenIn(n), c.least, c.most)
		}
	}
	return nil
}

// compares reports whether n compares two values, or a value with a list.
func compares(n *ast.BinaryNode) bool { return flipped[n.Operator] != "" || n.Operator == "in" }
