package condition

import (
	"fmt"
	"reflect"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"usertrail/internal/behaviour"
)

// Limits of a text: of the depth of nested brackets, because the parser is recursive, and
// of the number of nodes.
const (
	maxText  = 10_000 // runes
	maxNodes = 2_000
)

// A term is something whose value an expression reads.
type term struct {
	name     string // as a text writes it
	typ      reflect.Type
	shown    string // its type, as a message calls it
	nullable bool
	quality  quality
	argument // of an aggregate: kind is -1 if it is of any kind
}

// A quality is the property of an event, a field or a user that a term stands for.
type quality int

const (
	valueOf     quality = iota // a field
	behaviourOf                // its name
	momentOf
	hourOf
	weekdayOf
	countOf
	daysOf
	sumOf
	averageOf
	leastOf
	mostOf
	firstOf
	lastOf
	distinctOf
)

// A vocabulary is the terms of one language.
type vocabulary interface {
	// alone returns the term of an identifier, or the reason why there is none.
	alone(name string) (*term, string)
	// of returns the term of a field of a behaviour, or the reason why there is none.
	of(kind, field int) (*term, string)
	// call returns the term of a call of one of aggregates, or the reason why there is none.
	call(name string, args []argument) (*term, string)
	// calls returns the names that may be called, for suggestions.
	calls() []string
}

// An argument of a call is a behaviour, a field of a behaviour, or arithmetic with such fields.
type argument struct {
	kind    int
	field   int      // -1 for the behaviour and for a formula
	formula *formula // nil if it is a behaviour or a field
}

// An expression is a parsed text: a claim whose types are right.
type expression struct {
	text  string
	zone  *time.Location
	root  ast.Node         // each term is a call of a function of its name
	terms map[string]*term // by the names of these functions
	tests map[string]*term // likewise, functions that report whether a term has a value
}

// A reader turns the tree of a text into a tree that calls the vocabulary's terms and has
// only nodes of the language.
type reader struct {
	*expression
	schema *behaviour.Schema
	words  vocabulary
	made   int // nodes
}

// read parses text with the terms of a vocabulary.
func read(text string, s *behaviour.Schema, words vocabulary) (*expression, error) {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return nil, fmt.Errorf("zone of the schema: %w", err)
	}
	tree, err := parse(text, s)
	if err != nil {
		return nil, err
	}
	x := &expression{text: text, zone: zone, terms: map[string]*term{}, tests: map[string]*term{}}
	r := &reader{expression: x, schema: s, words: words}
	if x.root, err = r.node(tree); err != nil {
		return nil, err
	}
	return x, x.check()
}

// parse returns the tree of text. The parser treats every call as a call of a function; the
// reader checks later which functions exist.
func parse(text string, s *behaviour.Schema) (ast.Node, error) {
	if n := len([]rune(text)); n > maxText {
		return nil, wrong("", 0, "the condition has %d characters, at most %d are read", n, maxText)
	}
	c := configuration(nil)
	for _, name := range builtin.Names {
		c.Functions[name] = &builtin.Function{Name: name}
	}
	tree, err := parser.ParseWithConfig(parseable(text), c)
	if err != nil {
		return nil, syntax(text, s, err)
	}
	return tree.Node, nil
}

// configuration returns the configuration of an expression that can call only the given
// functions.
func configuration(functions map[string]*builtin.Function) *conf.Config {
	c := conf.CreateNew()
	c.MaxNodes = maxNodes
	for name := range c.Builtins {
		c.Disabled[name] = true
	}
	clear(c.Builtins)
	c.WithEnv(map[string]any{})
	for name, f := range functions {
		c.Functions[name] = f
	}
	return c
}

// check sets the types of all nodes, and returns an error for the first that does not fit. It makes
// comparisons exact.
func (x *expression) check() error {
	typ, err := checker.Check(&parser.Tree{Node: x.root, Source: file.NewSource(x.text)}, configuration(x.signatures()))
	if err != nil {
		return x.mismatch(err)
	}
	if typ != typeOf[bool]() {
		return wrong(x.text, position(x.root), "the condition is of the type %s, and must be true or false: compare it with a value", typeName(typ))
	}
	if err := x.strict(x.root); err != nil {
		return err
	}
	x.exact()
	return nil
}

// signatures returns functions that are used to check types, and never called.
func (x *expression) signatures() map[string]*builtin.Function {
	out := map[string]*builtin.Function{}
	for name, f := range functions {
		out[name] = f
	}
	for name, t := range x.terms {
		out[name] = nullary(name, t.typ, nil)
	}
	for name := range x.tests {
		out[name] = nullary(name, typeOf[bool](), nil)
	}
	return out
}

// nullary returns a function without arguments.
func nullary(name string, typ reflect.Type, f call0) *builtin.Function {
	return &builtin.Function{Name: name, Func: f, Types: []reflect.Type{reflect.FuncOf(nil, []reflect.Type{typ}, false)}}
}

// use returns a call of t.
func (x *expression) use(t *term, loc file.Location) ast.Node {
	x.terms[t.name] = t
	return call(t.name, loc)
}

// ask returns the expression of a call that reports whether t has a value.
func (x *expression) ask(t *term, loc file.Location) ast.Node {
	name := testName(t)
	x.tests[name] = t
	return call(name, loc)
}

// testName returns a name that no text can contain.
func testName(t *term) string { return t.name + " is there" }

func call(name string, loc file.Location, args ...ast.Node) ast.Node {
	return located(&ast.CallNode{Callee: located(&ast.IdentifierNode{Value: name}, loc), Arguments: args}, loc)
}

func located[N ast.Node](n N, loc file.Location) N {
	n.SetLocation(loc)
	return n
}

// callee returns the name of the function that n calls.
func callee(n *ast.CallNode) string { return n.Callee.(*ast.IdentifierNode).Value }
