package condition

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"usertrail/internal/behaviour"
	"usertrail/internal/trail"
)

// A formula is arithmetic with the fields of one behaviour, such as order.price * order.quantity. It is a
// field, a number, or an operation of two formulas.
type formula struct {
	text     string // canonical: equal formulas have equal texts
	operator string // "" for a field or a number
	left     *formula
	right    *formula
	whole    func(a, b int) (int, bool) // the operation of whole numbers; nil for /

	kind   int // -1 for a number
	field  uint32
	typ    behaviour.Type // Int64 or Double
	number number
}

// A number is a whole number or a double.
type number struct {
	isWhole bool
	whole   int
	double  float64
}

func wholeNumber(v int) number { return number{isWhole: true, whole: v, double: float64(v)} }

func doubleNumber(v float64) number { return number{double: v} }

// wholeOperations are the operations of whole numbers. They report false if the result does not fit 64 bits.
var wholeOperations = map[string]func(a, b int) (int, bool){"*": multiply, "+": add, "-": subtract}

// arithmeticOperators are the operators of formulas.
var arithmeticOperators = []string{"*", "+", "-", "/"}

// formulaOf reads the argument n of an aggregate as a formula. It returns nil if n is no operation.
func (r *reader) formulaOf(n ast.Node) (*formula, error) {
	if _, ok := n.(*ast.BinaryNode); !ok {
		return nil, nil
	}
	f, err := r.part(n)
	if err == nil && f.kind < 0 {
		return nil, r.wrong(n, "the arithmetic in an aggregate needs a field, such as order.price * order.quantity")
	}
	return f, err
}

// operation reads an operation of two formulas. The fields must be of one behaviour.
func (r *reader) operation(n *ast.BinaryNode) (*formula, error) {
	if r.made++; r.made > maxNodes {
		return nil, r.wrong(n, "the condition is too long")
	}
	left, err := r.part(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := r.part(n.Right)
	if err != nil {
		return nil, err
	}
	kind := max(left.kind, right.kind)
	if left.kind >= 0 && right.kind >= 0 && left.kind != right.kind {
		return nil, r.wrong(n, "%s and %s are of two behaviours: the fields in one aggregate are of one", left.text, right.text)
	}
	f := &formula{operator: n.Operator, left: left, right: right, whole: wholeOperations[n.Operator], kind: kind, typ: behaviour.Double}
	if n.Operator != "/" && left.typ == behaviour.Int64 && right.typ == behaviour.Int64 {
		f.typ = behaviour.Int64
	}
	f.text = fmt.Sprintf("%s %s %s", left.bracketed(), n.Operator, right.bracketed())
	return f, nil
}

// bracketed returns the text of f as a part of another formula.
func (f *formula) bracketed() string {
	if f.operator == "" {
		return f.text
	}
	return "(" + f.text + ")"
}

// part reads an operand of a formula.
func (r *reader) part(n ast.Node) (*formula, error) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return &formula{text: strconv.Itoa(n.Value), kind: -1, typ: behaviour.Int64, number: wholeNumber(n.Value)}, nil
	case *ast.FloatNode:
		return &formula{text: doubleText(n.Value), kind: -1, typ: behaviour.Double, number: doubleNumber(n.Value)}, nil
	case *ast.BinaryNode:
		if !slices.Contains(arithmeticOperators, n.Operator) {
			return nil, r.wrong(n, "%s is not allowed in an aggregate: use %s", n.Operator, strings.Join(arithmeticOperators, ", "))
		}
		return r.operation(n)
	}
	a, err := r.argument(n)
	if err != nil {
		return nil, err
	}
	if a.field < 0 {
		return nil, r.wrong(n, "%s is a behaviour: a field of it, or a number, is expected here", kindTerm(&r.schema.Kinds[a.kind]))
	}
	k := &r.schema.Kinds[a.kind]
	f := k.Fields[a.field]
	if !summed(f.Type) {
		return nil, r.wrong(n, "%s is a %s: arithmetic needs numbers", fieldTerm(k, f), f.Type)
	}
	return &formula{text: fieldTerm(k, f), kind: a.kind, field: uint32(a.field), typ: f.Type}, nil
}

// doubleText writes a double of a formula. It never writes a double as a whole number: 2.0 is another operand than 2.
func doubleText(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if strings.ContainsAny(s, ".e") {
		return s
	}
	return s + ".0"
}

// fields calls yield with each field of f.
func (f *formula) fields(yield func(field uint32)) {
	switch {
	case f.operator != "":
		f.left.fields(yield)
		f.right.fields(yield)
	case f.kind >= 0:
		yield(f.field)
	}
}

// of returns the value of f for an event. ok is false if a field is null, or a divisor is 0.
func (f *formula) of(b *trail.Batch, ev *trail.Event) (v number, ok bool, err error) {
	switch {
	case f.operator != "":
		return f.operate(b, ev)
	case f.kind < 0:
		return f.number, true, nil
	}
	cell := b.Value(b.Refs[ev.Refs+f.field])
	switch {
	case cell == nil:
		return number{}, false, nil
	case len(cell) != f.typ.Size():
		return number{}, false, broken(f.typ, cell)
	case f.typ == behaviour.Int64:
		return wholeNumber(int(behaviour.ToInt64(cell))), true, nil
	}
	return doubleNumber(behaviour.ToDouble(cell)), true, nil
}

func (f *formula) operate(b *trail.Batch, ev *trail.Event) (number, bool, error) {
	x, ok, err := f.left.of(b, ev)
	if !ok {
		return number{}, false, err
	}
	y, ok, err := f.right.of(b, ev)
	if !ok {
		return number{}, false, err
	}
	if f.operator == "/" {
		return doubleNumber(x.double / y.double), y.double != 0, nil
	}
	if x.isWhole && y.isWhole {
		v, fits := f.whole(x.whole, y.whole)
		if !fits {
			return number{}, false, fmt.Errorf("%s: %w", f.text, ErrOverflow)
		}
		return wholeNumber(v), true, nil
	}
	switch f.operator {
	case "*":
		return doubleNumber(x.double * y.double), true, nil
	case "+":
		return doubleNumber(x.double + y.double), true, nil
	}
	return doubleNumber(x.double - y.double), true, nil
}

// A computed sums up the values of a formula.
type computed struct {
	seen
	formula *formula
}

// add implements accumulator.
func (c *computed) add(b *trail.Batch, ev *trail.Event) error {
	v, ok, err := c.formula.of(b, ev)
	if !ok {
		return err
	}
	c.count++
	if c.typ == behaviour.Int64 {
		c.total.add(int64(v.whole))
		c.addWhole(int64(v.whole))
	} else {
		c.addDouble(v.double)
	}
	return nil
}
