package condition

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"usertrail/internal/behaviour"
)

// goTypes maps the types of fields to the types that expressions use.
var goTypes = map[behaviour.Type]reflect.Type{
	behaviour.String:    typeOf[string](),
	behaviour.Int64:     typeOf[int](),
	behaviour.Double:    typeOf[float64](),
	behaviour.Bool:      typeOf[bool](),
	behaviour.Timestamp: typeOf[time.Time](),
	behaviour.Day:       typeOf[time.Time](),
}

// typeName returns the name of a Go type for messages.
func typeName(t reflect.Type) string {
	switch t {
	case typeOf[string](), typeOf[bool]():
		return t.String()
	case typeOf[int]():
		return "int64"
	case typeOf[float64]():
		return "double"
	case typeOf[time.Time]():
		return "time"
	case typeOf[time.Duration]():
		return "duration"
	}
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		return "a list"
	}
	return "of no type"
}

// A wording maps words of the library's messages to words of the language.
type wording struct {
	theirs *regexp.Regexp
	ours   string
}

// wordings returns the wordings in the order in which readable applies them.
var wordings = sync.OnceValue(func() []wording {
	return []wording{
		{regexp.MustCompile(`\bfloat64\b`), "double"},
		{regexp.MustCompile(`\bint\b`), "int64"},
		{regexp.MustCompile(`\btime\.Time\b`), "time"},
		{regexp.MustCompile(`\btime\.Duration\b`), "duration"},
		{regexp.MustCompile(`\[\]interface ?\{\}`), "a list"},
		{regexp.MustCompile(`in array$`), "in this list"},
		{regexp.MustCompile(`unexpected token EOF|unexpected end of expression`), "something is missing at the end"},
		{regexp.MustCompile(`unexpected token \w+\("(.*)"\)`), "did not expect $1 here"},
		{regexp.MustCompile(`^(did not expect = here)$`), "$1; equal is written =="},
		{regexp.MustCompile(`^(did not expect (?:AND|OR|NOT|IN) here)$`), "$1; and, or, not and in are written in lower case"},
		{regexp.MustCompile(`^(did not expect (?i:is) here)$`), "$1; is null is written == nil, and is not null != nil"},
		{regexp.MustCompile(`^(did not expect (?i:like) here)$`), "$1; like is written contains, startsWith, endsWith or matches"},
		{regexp.MustCompile(`^(did not expect \* here)$`), "$1; count(*) is written count()"},
		{regexp.MustCompile(`^(did not expect (?i:between) here)$`), "$1; between is written in 60..600 for whole numbers, or >= and <="},
		{regexp.MustCompile(`^invalid \w+ literal: strconv\.\w+: parsing "(9223372036854775808)": value out of range$`), "$1 does not fit 64 bits; as a negative number it is written -$1.0"},
		{regexp.MustCompile(`^invalid \w+ literal: strconv\.\w+: parsing "(.*)": value out of range$`), "$1 does not fit 64 bits"},
		{regexp.MustCompile(`^Operator .*\?\?.*$`), "?? is not needed: a comparison with a field that is null is false"},
		{regexp.MustCompile(`compilation failed: expression exceeds maximum allowed nodes`), "the condition is too long"},
	}
})

// readable returns a message of the library in words of the language.
func readable(message string) string {
	for _, w := range wordings() {
		message = w.theirs.ReplaceAllString(message, w.ours)
	}
	return strings.TrimSpace(message)
}

// mismatch returns the mistake that the checker found.
func (x *expression) mismatch(err error) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return place(x.text, err)
	}
	m := wrong(x.text, at.From, "%s", readable(at.Message))
	n := x.at(at.Location)
	switch {
	case n == nil || !strings.Contains(at.Message, "mismatched type"):
	case n.Right == nil:
		m.problem = fmt.Sprintf("%s is not defined for %s", n.Operator, x.described(n.Left, "the expression after it"))
	default:
		left, right := x.described(n.Left, "the left side"), x.described(n.Right, "the right side")
		m.problem = undefined(n.Operator, left, right) + x.advice(n)
	}
	return m
}

// undefined returns the message about an operator that is not defined for its operands.
func undefined(operator, left, right string) string {
	if slices.Contains([]string{"==", "!=", "<", "<=", ">", ">=", "in"}, operator) {
		return fmt.Sprintf("cannot compare %s with %s by %s", left, right, operator)
	}
	return fmt.Sprintf("%s is not defined for %s and %s", operator, left, right)
}

// at returns the operator at a place of the text. An operator of one value has it as Left.
func (x *expression) at(loc file.Location) *ast.BinaryNode {
	f := &finder{loc: loc}
	ast.Walk(&x.root, f)
	return f.found
}

type finder struct {
	loc   file.Location
	found *ast.BinaryNode
}

// Visit implements ast.Visitor.
func (f *finder) Visit(n *ast.Node) {
	if (*n).Location() != f.loc {
		return
	}
	if f.found != nil {
		return // not in has the place of its in
	}
	switch n := (*n).(type) {
	case *ast.BinaryNode:
		f.found = n
	case *ast.UnaryNode:
		f.found = &ast.BinaryNode{Operator: n.Operator, Left: n.Node}
	}
}

// described returns the name and type of an operand for a message.
func (x *expression) described(n ast.Node, otherwise string) string {
	if t := x.terms[nameOf(n)]; t != nil {
		return fmt.Sprintf("%s (%s)", t.name, t.shown)
	}
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return fmt.Sprintf("%s (%s)", n.String(), typeName(n.Type()))
	}
	return fmt.Sprintf("%s (%s)", otherwise, typeName(n.Type()))
}

// advice returns a hint how to write a list after in, or a value if a text is used for a time or a number, or a
// number for a text.
func (x *expression) advice(n *ast.BinaryNode) string {
	types := []reflect.Type{n.Left.Type(), n.Right.Type()}
	switch {
	case n.Operator == "in" && !isList(n.Right):
		return listForm
	case !slices.Contains(types, typeOf[string]()):
		return ""
	case x.ordersTexts(n):
		return `; the values of the field are texts, and as a text "10" comes before "9": to compare numbers, load the column as a field of the type double or int64`
	case isNumber(n.Left) || isNumber(n.Right):
		return `; a text is written in quotes, "600", and a number without quotes, 600`
	case slices.Contains(types, typeOf[time.Time]()):
		return `; a time is written date("2014-09-01")`
	case slices.Contains(types, typeOf[time.Duration]()):
		return `; a duration is written duration("1h30m")`
	}
	return ""
}

// isList reports whether the value of a node is a list.
func isList(n ast.Node) bool { return n.Type() != nil && n.Type().Kind() == reflect.Slice }

// isField reports whether n is a field.
func (x *expression) isField(n ast.Node) bool {
	t := x.terms[nameOf(n)]
	return t != nil && t.quality == valueOf
}

// ordersTexts reports whether n compares the order of a field of texts and a number.
func (x *expression) ordersTexts(n *ast.BinaryNode) bool {
	if !slices.Contains([]string{"<", "<=", ">", ">="}, n.Operator) {
		return false
	}
	return isNumber(n.Right) && x.isField(n.Left) || isNumber(n.Left) && x.isField(n.Right)
}

// strict returns an error for nodes that the library accepts but that may go wrong in the
// evaluation: sums of durations overflow, and a list of several types has values that
// equal nothing.
func (x *expression) strict(n ast.Node) error {
	s := &strictness{text: x.text}
	ast.Walk(&n, s)
	return s.err
}

type strictness struct {
	text string
	err  error
}

// Visit implements ast.Visitor.
func (s *strictness) Visit(n *ast.Node) {
	if s.err != nil {
		return
	}
	if list, ok := (*n).(*ast.ArrayNode); ok {
		s.list(list)
		return
	}
	b, ok := (*n).(*ast.BinaryNode)
	if !ok {
		return
	}
	if list, ok := b.Right.(*ast.ArrayNode); ok && len(list.Nodes) > 0 && !alike(b.Left, list.Nodes[0]) {
		s.err = wrong(s.text, position(b), "%s", undefined(b.Operator, typeName(b.Left.Type()), "a list of "+typeName(list.Nodes[0].Type())))
		return
	}
	if !slices.Contains([]string{"+", "-", "*"}, b.Operator) || b.Type() != typeOf[time.Duration]() {
		return
	}
	if b.Left.Type() != typeOf[time.Time]() {
		s.err = wrong(s.text, position(b), "durations are compared, and added to times; write what %s would give", b.Operator)
	}
}

// list refuses values of several types in one list.
func (s *strictness) list(n *ast.ArrayNode) {
	for _, v := range n.Nodes {
		if !alike(n.Nodes[0], v) {
			s.err = wrong(s.text, position(v), "a list has values of one type: this one has %s and %s", typeName(n.Nodes[0].Type()), typeName(v.Type()))
			return
		}
	}
}

// alike reports whether values of two nodes can be equal: numbers of both types can.
func alike(a, b ast.Node) bool {
	return a.Type() == b.Type() || isNumber(a) && isNumber(b)
}

// isNumber reports whether the value of a node is a number.
func isNumber(n ast.Node) bool { return n.Type() == typeOf[int]() || n.Type() == typeOf[float64]() }
