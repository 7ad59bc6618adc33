// Package rule evaluates a condition on the columns of a delivered record, before the record
// is parsed: which records a job skips.
//
// A rule is an expression of github.com/expr-lang/expr. Each name is a column of the logs, and
// each column is a text. A column that is null, or that the record does not have, is the empty
// text. A name that the language cannot parse is written $env["Event name"]. In JSON lines a.b
// is the member b of the member a.
//
//	method == "PUT" && userId == ""
//	status in ["404", "500"] or number(bytes) < 10
//	$env["Event name"] startsWith "Test"
//
//	||  &&  !  or  and  not                           between claims
//	==  !=  <  <=  >  >=  in  not in                  between texts or numbers
//	contains  startsWith  endsWith  matches           of texts; matches has a pattern of Go's regexp
//	lower  upper  trim  len  number                   of a text
//
// number returns the number that a text holds. For another text it returns NaN, and every
// comparison with NaN except != is false.
//
// Many goroutines may use a Rule at once. An Evaluator is for one goroutine.
package rule

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// ErrRule is wrapped by the error for every text that is not a rule.
var ErrRule = errors.New("not a condition")

// maxText is the length of the longest rule in characters.
const maxText = 10_000

// builtins are the functions of the library that a rule may call.
var builtins = []string{"len", "lower", "upper", "trim"}

// A Rule is a condition on a record.
type Rule struct {
	text    string
	columns []string
	program *vm.Program
}

// Parse reads a rule. An error names the fault and its position.
func Parse(text string) (*Rule, error) {
	if n := len([]rune(text)); n > maxText {
		return nil, fmt.Errorf("%w: it has %d characters, at most %d are read", ErrRule, n, maxText)
	}
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("%w: it is empty", ErrRule)
	}
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, explained(err)
	}
	columns, err := columnsOf(&tree.Node)
	if err != nil {
		return nil, err
	}
	r := &Rule{text: text, columns: columns}
	names := map[string]any{}
	for _, c := range r.columns {
		names[c] = ""
	}
	options := []expr.Option{
		expr.Env(names), expr.AsBool(), expr.DisableAllBuiltins(), expr.Patch(&joiner{}),
		expr.Function("number", number, new(func(string) float64)),
	}
	for _, name := range builtins {
		options = append(options, expr.EnableBuiltin(name))
	}
	if r.program, err = expr.Compile(text, options...); err != nil {
		return nil, explained(err)
	}
	return r, nil
}

// String returns the text of the rule.
func (r *Rule) String() string { return r.text }

// Columns returns the names of the columns that the rule reads, in the order of the text.
func (r *Rule) Columns() []string { return r.columns }

// explained returns an error of the library with its place.
func explained(err error) error {
	words := strings.NewReplacer(`unexpected token Operator("=")`, "equal is written ==", "unexpected token EOF", "something is missing at the end", "float64", "number", "string", "text",
		"expected bool, but got", "the whole must be true or false, and it is a")
	var at *file.Error
	if !errors.As(err, &at) {
		return fmt.Errorf("%w: %s", ErrRule, words.Replace(err.Error()))
	}
	return fmt.Errorf("%w: character %d: %s%s", ErrRule, at.From+1, words.Replace(at.Message), numberStep(at.Message))
}

// numberStep returns the next step after a message of the library about a text and a number, or "".
func numberStep(message string) string {
	if !strings.Contains(message, "mismatched types") && !strings.Contains(message, "cannot use") ||
		!strings.Contains(message, "string") || !strings.Contains(message, "int") && !strings.Contains(message, "float64") {
		return ""
	}
	return ": every column is a text, and number(x) is the number in the column x: write number(x) to compare it"
}

// number reads a text as a decimal number.
func number(args ...any) (any, error) {
	text := strings.TrimSpace(args[0].(string))
	if strings.ContainsAny(text, "xX_") {
		return math.NaN(), nil // strconv would read hexadecimal numbers
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN(), nil
	}
	return v, nil
}

// columnsOf returns the names of the columns in a tree. It refuses functions of the library
// that a rule does not need, and nil, which no column ever is.
func columnsOf(tree *ast.Node) ([]string, error) {
	ast.Walk(tree, &joiner{})
	c := &collector{functions: map[ast.Node]bool{}}
	ast.Walk(tree, c)
	if c.strange != "" {
		return nil, fmt.Errorf("%w: %s is no function here: there are %s and number", ErrRule, c.strange, strings.Join(builtins, ", "))
	}
	if c.null != nil {
		return nil, fmt.Errorf(`%w: character %d: nil: every column is a text, and a null is the empty text: write ""`, ErrRule, c.null.Location().From+1)
	}
	var out []string
	for _, n := range c.names {
		if !c.functions[n] && !slices.Contains(out, n.Value) {
			out = append(out, n.Value)
		}
	}
	return out, nil
}

// A joiner replaces a.b, the member of an object, and $env["a"] by one name each.
type joiner struct{}

// Visit implements ast.Visitor.
func (*joiner) Visit(node *ast.Node) {
	m, ok := (*node).(*ast.MemberNode)
	if !ok {
		return
	}
	of, ok := m.Node.(*ast.IdentifierNode)
	property, isText := m.Property.(*ast.StringNode)
	switch {
	case !ok || !isText:
	case of.Value == "$env":
		ast.Patch(node, &ast.IdentifierNode{Value: property.Value})
	default:
		ast.Patch(node, &ast.IdentifierNode{Value: of.Value + "." + property.Value})
	}
}

// A collector collects the names in a tree, and which of them are functions.
type collector struct {
	names     []*ast.IdentifierNode
	functions map[ast.Node]bool
	strange   string // a function that a rule cannot call
	null      *ast.NilNode
}

// Visit implements ast.Visitor.
func (c *collector) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		c.names = append(c.names, n)
	case *ast.CallNode:
		c.functions[n.Callee] = true
	case *ast.NilNode:
		c.null = n
	case *ast.BuiltinNode:
		if !slices.Contains(builtins, n.Name) {
			c.strange = n.Name
		}
	}
}

// An Evaluator evaluates a rule for one record after the other.
type Evaluator struct {
	rule    *Rule
	machine vm.VM
	texts   map[string]any
}

// Evaluator returns an evaluator for one goroutine.
func (r *Rule) Evaluator() *Evaluator {
	return &Evaluator{rule: r, texts: make(map[string]any, len(r.columns))}
}

// Holds reports whether the rule holds for a record. text returns the text of a column of
// Columns by its index.
func (e *Evaluator) Holds(text func(column int) string) (bool, error) {
	for i, c := range e.rule.columns {
		e.texts[c] = text(i)
	}
	v, err := e.machine.Run(e.rule.program, e.texts)
	if err != nil {
		var at *file.Error
		if errors.As(err, &at) {
			return false, errors.New(at.Message)
		}
		return false, err
	}
	return v.(bool), nil
}
