package condition

import (
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// A call0 is a function without arguments, as the machine calls it.
type call0 = func(...any) (any, error)

// A binding is the source of a term's value in one program.
type binding struct {
	null  bool             // it has no value, whatever is read
	known any              // the value if it is constant, else nil
	get   call0            // its value; called only if has returns true
	leaf  func(leaf) call0 // the whole of a comparison, nil if the machine must do it
	has   call0            // whether it has a value; nil: it always has
}

// A program is an expression with its terms bound.
type program struct {
	text  string
	known bool // the claim is constant
	says  bool // the constant, if known
	code  *vm.Program
	alone call0 // the whole of code, if it is a single call
}

// A guard makes every comparison of an expression false if a term in it is null. It puts
// tests of the terms before the comparison. It evaluates claims that depend on no term
// once.
type guard struct {
	*expression
	bind      func(*term) binding
	functions map[string]*builtin.Function
	leaves    map[string]leaf // by the names of their functions
	err       error
}

// program binds x's terms.
func (x *expression) program(bind func(*term) binding) (*program, error) {
	g, root := x.guarded(bind)
	if g.err != nil {
		return nil, g.err
	}
	if b, ok := root.(*ast.BoolNode); ok {
		return &program{text: x.text, known: true, says: b.Value}, nil
	}
	code, err := g.compile(root)
	p := &program{text: x.text, code: code}
	if f := g.functions[nameOf(root)]; f != nil {
		p.alone = f.Func
	}
	return p, err
}

// reads calls yield with each term that x needs as it is bound.
func (x *expression) reads(bind func(*term) binding, yield func(*term)) (constant, says bool, err error) {
	g, root := x.guarded(bind)
	if b, ok := root.(*ast.BoolNode); ok {
		return true, b.Value, g.err
	}
	ast.Walk(&root, visitor(func(n ast.Node) {
		name := nameOf(n)
		for _, t := range []*term{x.terms[name], x.tests[name], g.leaves[name].term} {
			if t != nil {
				yield(t)
			}
		}
	}))
	return false, false, g.err
}

// A visitor reads every node and changes none.
type visitor func(ast.Node)

// Visit implements ast.Visitor.
func (v visitor) Visit(n *ast.Node) { v(*n) }

func (x *expression) guarded(bind func(*term) binding) (*guard, ast.Node) {
	g := &guard{expression: x, bind: bind, functions: map[string]*builtin.Function{}, leaves: map[string]leaf{}}
	for name, f := range functions {
		g.functions[name] = f
	}
	for _, f := range checked {
		g.functions[f.Name] = f
	}
	return g, g.claim(x.root)
}

// run executes a program without bound terms.
func (g *guard) run(n ast.Node) (any, error) {
	code, err := g.compile(n)
	if err != nil {
		return nil, err
	}
	return vm.Run(code, nil)
}

func (g *guard) compile(n ast.Node) (*vm.Program, error) {
	c := configuration(g.functions)
	tree := &parser.Tree{Node: n, Source: file.NewSource(g.text)}
	if _, err := checker.Check(tree, c); err != nil {
		return nil, place(g.text, err)
	}
	if err := optimizer.Optimize(&tree.Node, c); err != nil {
		return nil, place(g.text, err)
	}
	code, err := compiler.Compile(tree, c)
	if err != nil {
		return nil, place(g.text, err)
	}
	return code, nil
}

// claim returns n, a claim, with the comparisons in it guarded.
func (g *guard) claim(n ast.Node) ast.Node {
	loc := n.Location()
	switch n := n.(type) {
	case *ast.BoolNode:
		return boolean(n.Value, loc)
	case *ast.UnaryNode:
		if _, ok := negated(n); !ok {
			return not(g.claim(n.Node), loc)
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and":
			return and(g.claim(n.Left), g.claim(n.Right), loc)
		case "||", "or":
			return or(g.claim(n.Left), g.claim(n.Right), loc)
		}
	}
	return g.comparison(n)
}

func boolean(v bool, loc file.Location) ast.Node { return located(&ast.BoolNode{Value: v}, loc) }

// is reports whether n is the constant v.
func is(n ast.Node, v bool) bool {
	b, ok := n.(*ast.BoolNode)
	return ok && b.Value == v
}

func not(n ast.Node, loc file.Location) ast.Node {
	if b, ok := n.(*ast.BoolNode); ok {
		return boolean(!b.Value, loc)
	}
	return located(&ast.UnaryNode{Operator: "!", Node: n}, loc)
}

func and(a, b ast.Node, loc file.Location) ast.Node {
	switch {
	case is(a, false), is(b, true):
		return a
	case is(b, false), is(a, true):
		return b
	}
	return located(&ast.BinaryNode{Operator: "&&", Left: a, Right: b}, loc)
}

func or(a, b ast.Node, loc file.Location) ast.Node {
	switch {
	case is(a, true), is(b, false):
		return a
	case is(b, true), is(a, false):
		return b
	}
	return located(&ast.BinaryNode{Operator: "||", Left: a, Right: b}, loc)
}

// A comparison holds the tests that the operands of a comparison need.
type comparison struct {
	*guard
	needs   []ast.Node // claims without which it is false, in the order of evaluation
	asked   []string
	null    bool // it is always false
	depends bool // on what is read
}

// comparison returns n with its tests before it.
func (g *guard) comparison(n ast.Node) ast.Node {
	loc := n.Location()
	if l, ok := g.leafOf(n); ok {
		if out := g.leaf(l, loc); out != nil {
			return out
		}
	}
	c := &comparison{guard: g}
	out := c.whether(n)
	switch {
	case c.null:
		return boolean(false, loc)
	case !c.depends:
		return g.settle(out)
	}
	for _, need := range slices.Backward(c.needs) {
		out = and(need, out, loc)
	}
	return out
}

// whether returns the comparison n for operands that are not null.
func (c *comparison) whether(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.BinaryNode:
		if n.Operator == "&&" { // of a range
			return and(c.whether(n.Left), c.whether(n.Right), n.Location())
		}
		return c.pair(n)
	case *ast.UnaryNode:
		return not(c.whether(n.Node), n.Location())
	}
	return c.operand(n)
}

// leaf returns a call that evaluates a whole comparison, or nil if there is none.
func (g *guard) leaf(l leaf, loc file.Location) ast.Node {
	b := g.bind(l.term)
	if b.null || b.leaf == nil {
		return nil
	}
	f := b.leaf(l)
	if f == nil {
		return nil
	}
	name := fmt.Sprintf("%s compared %d", l.term.name, len(g.leaves))
	g.leaves[name] = l
	g.functions[name] = nullary(name, typeOf[bool](), f)
	return call(name, loc)
}

// settle evaluates a claim that depends on no term.
func (g *guard) settle(n ast.Node) ast.Node {
	if _, ok := n.(*ast.BoolNode); ok {
		return n
	}
	v, err := g.run(n)
	if err != nil {
		g.fail(n, err)
		return boolean(false, n.Location())
	}
	return boolean(v.(bool), n.Location())
}

// fail keeps the first error.
func (g *guard) fail(n ast.Node, err error) {
	if g.err != nil {
		return
	}
	m := evaluation(g.text, err)
	g.err = wrong(g.text, position(n), "%s", m.problem)
}

// evaluation returns the mistake for an error of a running program.
func evaluation(text string, err error) *mistake {
	m, ok := place(text, err).(*mistake)
	if !ok {
		return &mistake{text: text, problem: err.Error(), cause: err}
	}
	if m.cause == ErrCondition {
		m.cause = err
	}
	return m
}

// operand returns the value n, and notes the tests that it needs.
func (c *comparison) operand(n ast.Node) ast.Node {
	loc := n.Location()
	switch n := n.(type) {
	case *ast.IntegerNode:
		return located(&ast.IntegerNode{Value: n.Value}, loc)
	case *ast.FloatNode:
		return located(&ast.FloatNode{Value: n.Value}, loc)
	case *ast.StringNode:
		return located(&ast.StringNode{Value: n.Value}, loc)
	case *ast.ConstantNode:
		return constant(n.Value, loc)
	case *ast.ArrayNode:
		return located(&ast.ArrayNode{Nodes: c.operands(n.Nodes)}, loc)
	case *ast.CallNode:
		return c.call(n)
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			return c.signed(n)
		}
	case *ast.BinaryNode:
		if n.Type() != typeOf[bool]() {
			return c.pair(n)
		}
	}
	inner := c.claim(n)
	_, settled := inner.(*ast.BoolNode)
	c.depends = c.depends || !settled
	return inner
}

func (c *comparison) operands(in []ast.Node) []ast.Node {
	out := make([]ast.Node, len(in))
	for i, n := range in {
		out[i] = c.operand(n)
	}
	return out
}

func (c *comparison) signed(n *ast.UnaryNode) ast.Node {
	inner, loc := c.operand(n.Node), n.Location()
	i, literal := inner.(*ast.IntegerNode)
	switch {
	case n.Operator == "+":
		return inner
	case literal:
		return located(&ast.IntegerNode{Value: -i.Value}, loc)
	case n.Type() == typeOf[int]():
		return call(checked["-"].Name, loc, located(&ast.IntegerNode{}, loc), inner)
	}
	return located(&ast.UnaryNode{Operator: n.Operator, Node: inner}, loc)
}

// pair returns an operation of two values, which become operands.
func (c *comparison) pair(n *ast.BinaryNode) ast.Node {
	loc, left := n.Location(), c.operand(n.Left)
	right := c.operand(n.Right)
	switch n.Operator {
	case "/", "%":
		c.divisor(right, loc)
	case "+", "-", "*":
		if whole(n.Left) && whole(n.Right) {
			return c.whole(n.Operator, left, right, loc)
		}
	}
	return located(&ast.BinaryNode{Operator: n.Operator, Left: left, Right: right}, loc)
}

func whole(n ast.Node) bool { return n.Type() == typeOf[int]() }

// divisor adds the test that n is not 0.
func (c *comparison) divisor(n ast.Node, loc file.Location) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		c.null = c.null || n.Value == 0
		return
	case *ast.FloatNode:
		c.null = c.null || n.Value == 0
		return
	}
	zero := located(&ast.IntegerNode{}, loc)
	c.needs = append(c.needs, located(&ast.BinaryNode{Operator: "!=", Left: n, Right: zero}, loc))
}

// whole returns an operation of whole numbers. It evaluates an operation of two literals.
func (c *comparison) whole(operator string, left, right ast.Node, loc file.Location) ast.Node {
	f := checked[operator]
	a, ok := left.(*ast.IntegerNode)
	b, too := right.(*ast.IntegerNode)
	if !ok || !too {
		return call(f.Name, loc, left, right)
	}
	v, err := f.Func(a.Value, b.Value)
	if err != nil {
		c.fail(located(&ast.NilNode{}, loc), err)
		return left
	}
	return located(&ast.IntegerNode{Value: v.(int)}, loc)
}

// call returns a call of a function, or the value of a term.
func (c *comparison) call(n *ast.CallNode) ast.Node {
	name, loc := callee(n), n.Location()
	if t := c.tests[name]; t != nil {
		return c.test(t, loc)
	}
	t := c.terms[name]
	if t == nil {
		return call(name, loc, c.operands(n.Arguments)...)
	}
	b := c.bind(t)
	switch {
	case b.null:
		c.null = true
	case b.known != nil:
		return literal(b.known, loc)
	case b.has != nil && !slices.Contains(c.asked, t.name):
		c.asked = append(c.asked, t.name)
		c.needs = append(c.needs, c.test(t, loc))
	}
	c.depends = true
	c.functions[t.name] = nullary(t.name, t.typ, b.get)
	return call(t.name, loc)
}

// test returns a test whether t has a value.
func (c *comparison) test(t *term, loc file.Location) ast.Node {
	b := c.bind(t)
	switch {
	case b.null:
		return boolean(false, loc)
	case b.has == nil:
		return boolean(true, loc)
	}
	c.depends = true
	name := testName(t)
	c.functions[name] = nullary(name, typeOf[bool](), b.has)
	return call(name, loc)
}

func literal(v any, loc file.Location) ast.Node {
	if s, ok := v.(string); ok {
		return located(&ast.StringNode{Value: s}, loc)
	}
	return constant(v, loc)
}
