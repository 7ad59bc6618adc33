package condition

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"usertrail/internal/behaviour"
)

// operators are the operators of two values.
var operators = []string{
	"||", "or", "&&", "and", "==", "!=", "<", "<=", ">", ">=", "in", "contains", "startsWith", "endsWith", "matches",
	"+", "-", "*", "/", "%", "**", "^",
}

// node returns n in the vocabulary's terms. It makes new nodes, because in a < b < c the
// parser gives b two parents. A part of the text may therefore be read several times; it
// counts each time.
func (r *reader) node(n ast.Node) (ast.Node, error) {
	if r.made++; r.made > maxNodes {
		return nil, r.wrong(n, "the condition is too long")
	}
	loc := n.Location()
	switch n := n.(type) {
	case *ast.IntegerNode:
		return located(&ast.IntegerNode{Value: n.Value}, loc), nil
	case *ast.FloatNode:
		return located(&ast.FloatNode{Value: n.Value}, loc), nil
	case *ast.BoolNode:
		return located(&ast.BoolNode{Value: n.Value}, loc), nil
	case *ast.StringNode:
		return located(&ast.StringNode{Value: n.Value}, loc), nil
	case *ast.NilNode:
		return nil, r.wrong(n, "nil is allowed only with == and !=, and with a field on the other side")
	case *ast.ArrayNode:
		nodes, err := r.nodes(n.Nodes)
		return located(&ast.ArrayNode{Nodes: nodes}, loc), err
	case *ast.UnaryNode:
		if in, ok := negated(n); ok && in.Operator == "in" {
			if bounds, ok := in.Right.(*ast.BinaryNode); ok && bounds.Operator == ".." {
				return r.within(in, bounds, true)
			}
		}
		inner, err := r.node(n.Node)
		return located(&ast.UnaryNode{Operator: n.Operator, Node: inner}, loc), err
	case *ast.BinaryNode:
		return r.binary(n)
	case *ast.IdentifierNode:
		return r.identifier(n)
	case *ast.MemberNode:
		return r.member(n)
	case *ast.CallNode:
		return r.call(n)
	case *ast.BuiltinNode:
		return nil, r.wrong(n, "%s is no function here; %s", n.Name, behaviour.Instead(n.Name, r.words.calls()))
	case *ast.ChainNode:
		return nil, r.wrong(n, "?. is not needed: a comparison with a field that is null is false")
	}
	return nil, r.wrong(n, "this is not part of a condition")
}

func (r *reader) nodes(in []ast.Node) ([]ast.Node, error) {
	out := make([]ast.Node, len(in))
	for i, n := range in {
		var err error
		if out[i], err = r.node(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *reader) binary(n *ast.BinaryNode) (ast.Node, error) {
	switch {
	case n.Operator == "==" || n.Operator == "!=":
		if other, ok := besideNil(n); ok {
			return r.presence(n, other)
		}
	case n.Operator == "in":
		if bounds, ok := n.Right.(*ast.BinaryNode); ok && bounds.Operator == ".." {
			return r.within(n, bounds, false)
		}
	case n.Operator == "matches":
		if _, ok := n.Right.(*ast.StringNode); !ok {
			return nil, r.wrong(n.Right, "after matches, a pattern in quotes is expected")
		}
	case n.Operator == "..":
		return nil, r.wrong(n, ".. is allowed only after in")
	case !slices.Contains(operators, n.Operator):
		return nil, r.wrong(n, "%s is not part of a condition; a comparison with a field that is null is false", n.Operator)
	}
	both, err := r.nodes([]ast.Node{n.Left, n.Right})
	if err != nil {
		return nil, err
	}
	out := located(&ast.BinaryNode{Operator: n.Operator, Left: both[0], Right: both[1]}, n.Location())
	return out, r.reached(out)
}

// besideNil returns the operand that n compares with nil.
func besideNil(n *ast.BinaryNode) (ast.Node, bool) {
	if _, ok := n.Right.(*ast.NilNode); ok {
		return n.Left, true
	}
	_, ok := n.Left.(*ast.NilNode)
	return n.Right, ok
}

// presence turns a comparison with nil into a test whether the term has a value. For a
// field it also tests whether the event is of the field's behaviour.
func (r *reader) presence(n *ast.BinaryNode, of ast.Node) (ast.Node, error) {
	inner, err := r.node(of)
	if err != nil {
		return nil, err
	}
	t := r.terms[nameOf(inner)]
	if t == nil || !t.nullable {
		return nil, r.wrong(of, "%s", neverNil(t))
	}
	test := r.ask(t, n.Location())
	if n.Operator == "!=" {
		return test, nil
	}
	none := located(&ast.UnaryNode{Operator: "!", Node: test}, n.Location())
	if t.quality != valueOf {
		return none, nil
	}
	name, problem := r.words.alone("behaviour")
	if problem != "" {
		return nil, r.wrong(of, "%s", problem)
	}
	kind := located(&ast.StringNode{Value: r.schema.Kinds[t.kind].Name}, n.Location())
	own := located(&ast.BinaryNode{Operator: "==", Left: r.use(name, n.Location()), Right: kind}, n.Location())
	return and(own, none, n.Location()), nil
}

// neverNil returns the reason why t cannot be compared with nil; t is nil if the operand is
// not a term.
func neverNil(t *term) string {
	if t == nil {
		return "only a field or an aggregate alone is compared with nil"
	}
	return t.name + " is never nil"
}

// nameOf returns the name of the function that n calls, or "".
func nameOf(n ast.Node) string {
	if c, ok := n.(*ast.CallNode); ok {
		return callee(c)
	}
	return ""
}

// negated returns the comparison of x not in y, which is a comparison too. The
// parser gives both the place of in; the not of not (x in y) has its own.
func negated(n *ast.UnaryNode) (*ast.BinaryNode, bool) {
	b, ok := n.Node.(*ast.BinaryNode)
	return b, ok && n.Operator == "not" && n.Location() == b.Location()
}

func (r *reader) identifier(n *ast.IdentifierNode) (ast.Node, error) {
	t, problem := r.words.alone(n.Value)
	if problem != "" {
		return nil, r.wrong(n, "%s", problem)
	}
	return r.use(t, n.Location()), nil
}

func (r *reader) member(n *ast.MemberNode) (ast.Node, error) {
	a, err := r.argument(n)
	if err != nil {
		return nil, err
	}
	t, problem := r.named(a)
	if problem != "" {
		return nil, r.wrong(n, "%s", problem)
	}
	return r.use(t, n.Location()), nil
}

func (r *reader) named(a argument) (*term, string) {
	if a.field < 0 {
		return r.words.alone(r.schema.Kinds[a.kind].Name)
	}
	return r.words.of(a.kind, a.field)
}

// argument reads play, play.seconds, and the same with names in quotes: ["play"], ["play"].seconds
// and $env["play"].seconds.
func (r *reader) argument(n ast.Node) (argument, error) {
	none := argument{}
	if id, ok := n.(*ast.IdentifierNode); ok {
		kind, err := r.kind(n, id.Value)
		return argument{kind: kind, field: -1}, err
	}
	if name := quotedName(n); name != nil {
		kind, err := r.kind(name, name.Value)
		return argument{kind: kind, field: -1}, err
	}
	m, ok := n.(*ast.MemberNode)
	if !ok {
		return none, r.wrong(n, "a behaviour or a field of a behaviour is expected here, such as play or play.seconds")
	}
	property, ok := m.Property.(*ast.StringNode)
	if !ok || m.Optional {
		return none, r.wrong(m, "a field is written as play.seconds")
	}
	if id, ok := m.Node.(*ast.IdentifierNode); ok && id.Value == "$env" {
		kind, err := r.kind(property, property.Value)
		return argument{kind: kind, field: -1}, err
	}
	of, err := r.argument(m.Node)
	if err != nil {
		return none, err
	}
	if of.field >= 0 {
		return none, r.wrong(m, "a field has no parts")
	}
	k := &r.schema.Kinds[of.kind]
	field := slices.IndexFunc(k.Fields, func(f behaviour.Field) bool { return f.Name == property.Value })
	if field < 0 {
		return none, r.wrong(property, "%s", noField(k, property.Value))
	}
	return argument{kind: of.kind, field: field}, nil
}

// kindTerm returns a behaviour as a condition writes it: its name or its short name if it is a word,
// or else ["Course viewed"].
func kindTerm(k *behaviour.Kind) string {
	for _, name := range []string{k.Name, k.As} {
		if behaviour.IsWord(name) && !slices.Contains(keywords, name) {
			return name
		}
	}
	return "[" + strconv.Quote(k.Name) + "]"
}

// fieldTerm returns a field as a condition writes it: play.seconds, or ["Course viewed"].seconds.
func fieldTerm(k *behaviour.Kind, f behaviour.Field) string { return kindTerm(k) + "." + f.Name }

// quotedName returns the text of a list of one text, or nil.
func quotedName(n ast.Node) *ast.StringNode {
	list, ok := n.(*ast.ArrayNode)
	if !ok || len(list.Nodes) != 1 {
		return nil
	}
	name, _ := list.Nodes[0].(*ast.StringNode)
	return name
}

func (r *reader) kind(n ast.Node, name string) (int, error) {
	kind, ok := r.schema.Find(name)
	if !ok {
		return 0, r.wrong(n, "%s", noKind(r.schema, name))
	}
	return kind, nil
}

func (r *reader) call(n *ast.CallNode) (ast.Node, error) {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return nil, r.wrong(n, "a field has no functions; there are %s", strings.Join(functionNames, ", "))
	}
	if slices.Contains(aggregates, id.Value) || id.Value == distinctName {
		return r.aggregate(n, id.Value)
	}
	if id.Value == "date" || id.Value == "duration" {
		return r.literal(n, id.Value)
	}
	if _, ok := functions[id.Value]; !ok {
		return nil, r.wrong(n, "no function is called %s; %s", id.Value, behaviour.Instead(id.Value, r.words.calls()))
	}
	args, err := r.nodes(n.Arguments)
	return call(id.Value, n.Location(), args...), err
}

func (r *reader) aggregate(n *ast.CallNode, name string) (ast.Node, error) {
	var args []argument
	for _, arg := range n.Arguments {
		f, err := r.formulaOf(arg)
		if err != nil {
			return nil, err
		}
		if f != nil {
			args = append(args, argument{kind: f.kind, field: -1, formula: f})
			continue
		}
		a, err := r.argument(arg)
		if err != nil {
			return nil, err
		}
		args = append(args, a)
	}
	t, problem := r.words.call(name, args)
	if problem != "" {
		return nil, r.wrong(n, "%s", problem)
	}
	return r.use(t, n.Location()), nil
}

// literal evaluates the text of a date or duration.
func (r *reader) literal(n *ast.CallNode, name string) (ast.Node, error) {
	example := map[string]string{"date": `date("2014-09-01")`, "duration": `duration("1h30m")`}[name]
	if len(n.Arguments) != 1 {
		return nil, r.wrong(n, "%s has one text, such as %s", name, example)
	}
	arg, ok := n.Arguments[0].(*ast.StringNode)
	if !ok {
		return nil, r.wrong(n.Arguments[0], "a text in quotes is expected here, such as %s", example)
	}
	if name == "duration" {
		d, err := time.ParseDuration(arg.Value)
		if err != nil {
			return nil, r.wrong(arg, "%q is not a duration: write 90s, 15m, 1h30m", arg.Value)
		}
		return constant(d, n.Location()), nil
	}
	if d, err := behaviour.ParseDate(arg.Value); err == nil {
		return constant(d.Start(r.zone), n.Location()), nil
	}
	t, ok := parseClock(arg.Value, r.zone)
	if !ok {
		return nil, r.wrong(arg, `%q is not a time: write 2014-09-01, 2014-09-01 18:30:00, or 2014-09-01T18:30:00+08:00`, arg.Value)
	}
	return constant(t, n.Location()), nil
}

func constant(v any, loc file.Location) ast.Node {
	return located(&ast.ConstantNode{Value: v}, loc)
}

func (r *reader) wrong(n ast.Node, format string, args ...any) error {
	return wrong(r.text, position(n), format, args...)
}

// keywords are names that have another meaning to the parser.
var keywords = []string{"in", "or", "and", "not", "matches", "contains", "startsWith", "endsWith", "let", "if", "else", "true", "false", "nil"}

// decimalComma matches two numbers with a comma between them.
const decimalComma = `[0-9],[0-9]`

// roundList matches the beginning of a list in round brackets after in, as SQL writes it.
const roundList = `\bin\s*\((?:[^()]|\([^()]*\))*$`

// listForm is the hint for a list that is not in square brackets.
const listForm = `; a list is written [1, 2] or ["a", "b"]`

// syntax returns the mistake of a text that cannot be parsed. The name of a behaviour may be
// the cause.
func syntax(text string, s *behaviour.Schema, err error) error {
	err = place(text, err)
	m, ok := err.(*mistake)
	if !ok {
		return err
	}
	m.problem = readable(m.problem)
	if strings.TrimSpace(text) == "" {
		m.problem = "the condition is empty"
	}
	bare := regexp.MustCompile(quoted).ReplaceAllString(text, " ")
	if strings.Contains(m.problem, "did not expect ,") {
		before := regexp.MustCompile(quoted).ReplaceAllString(string([]rune(text)[:m.at]), " ")
		switch {
		case regexp.MustCompile(roundList).MatchString(before):
			m.problem += listForm
		case regexp.MustCompile(decimalComma).MatchString(bare):
			m.problem += "; a decimal has a point, such as 3.5"
		}
	}
	words := strings.FieldsFunc(bare, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, k := range s.Kinds {
		if slices.Contains(keywords, k.Name) && slices.Contains(words, k.Name) {
			m.problem += fmt.Sprintf("; the behaviour %s has the name of a word of the language: write $env[%q]", k.Name, k.Name)
		}
	}
	return m
}
