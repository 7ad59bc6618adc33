package job

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"usertrail/internal/dfs"
)

// A document is a job file and what has been found wrong with it so far.
type document struct {
	name     string
	problems []problem
}

// A problem is one thing that is wrong, and where.
type problem struct {
	line, column int
	text         string
}

// folder is where relative paths begin.
func (d *document) folder() string { return dfs.Dir(d.name) }

// wrong notes a problem at a position; nil is the beginning of the file.
func (d *document) wrong(at *token.Position, text string) {
	p := problem{1, 1, text}
	if at != nil {
		p.line, p.column = at.Line, at.Column
	}
	d.problems = append(d.problems, p)
}

// err joins the problems in the order of the file, each of them once.
func (d *document) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	slices.SortFunc(d.problems, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column), cmp.Compare(a.text, b.text))
	})
	var errs []error
	for _, p := range slices.Compact(d.problems) {
		errs = append(errs, fmt.Errorf("%s:%d:%d: %s", d.name, p.line, p.column, p.text))
	}
	return fmt.Errorf("job: %w:\n%w", ErrJob, errors.Join(errs...))
}

// parse reads the file as YAML and returns its outermost object.
func (d *document) parse(data []byte) (object, bool) {
	if len(data) > maxSize {
		d.wrong(nil, fmt.Sprintf("a job file has at most %d bytes", maxSize))
		return object{}, false
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	tokens := lexer.Tokenize(string(data))
	if at := tooDeep(tokens); at != nil {
		d.wrong(at, fmt.Sprintf("not a job: brackets or lists nested more than %d deep", maxDepth))
		return object{}, false
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.syntax(err)
		return object{}, false
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.DirectiveType && doc.Body.Type() != ast.CommentType {
			bodies = append(bodies, doc.Body)
		}
	}
	switch {
	case len(bodies) == 0:
		d.wrong(nil, "the file is empty: a job has logs and behaviours")
		return object{}, false
	case len(bodies) > 1:
		d.wrong(position(bodies[1]), "a second document begins: a file holds one job")
	}
	return value{doc: d, at: position(bodies[0]), node: bodies[0]}.object(topLevel)
}

// maxDepth is far deeper than any job. The YAML parser's time grows with the
// square of the depth, its stack with the depth.
const maxDepth = 32

// tooDeep returns where brackets, or lists begun on one line, are nested deeper
// than maxDepth. Nesting by indentation needs a file that grows with the square
// of the depth, and so is no danger.
func tooDeep(tokens token.Tokens) *token.Position {
	brackets, lists, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, lists = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType:
			lists++
		}
		if brackets > maxDepth || lists > maxDepth {
			return t.Position
		}
	}
	return nil
}

// syntax notes an error of the YAML parser.
func (d *document) syntax(err error) {
	var at *token.Position
	text := err.Error()
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		text = syntax.Message
		if syntax.Token != nil {
			at = syntax.Token.Position
		}
	}
	d.wrong(at, "not YAML: "+text+" (a text that begins with a sign such as { or *, or holds a colon and a blank, stands in quotes)")
}

func position(n ast.Node) *token.Position {
	switch m := n.(type) {
	case *ast.MappingNode: // its own token is the colon of its first key
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return position(m.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return position(m.Key)
	}
	if t := n.GetToken(); t != nil {
		return t.Position
	}
	return nil
}

// A value is what stands at a key. The zero value stands for a key that is not
// there; its methods find nothing in it and nothing wrong with it.
type value struct {
	doc  *document
	key  string          // the keys that lead to it: logs.path
	at   *token.Position // of its last key
	node ast.Node        // nil where the key is not there
}

// given says whether the key is there.
func (v value) given() bool { return v.node != nil }

// wrong notes a problem with v, even one that is not there but should be.
func (v value) wrong(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if v.key != "" {
		text = v.key + ": " + text
	}
	v.doc.wrong(v.at, text)
}

// text returns the text of a scalar as it was written.
func (v value) text() (string, bool) {
	switch n := v.node.(type) {
	case nil:
		return "", false
	case *ast.NullNode:
		if position(n) == nil || n.GetToken().Type == token.ImplicitNullType {
			v.wrong("has no value")
		} else {
			v.wrong("is %s, which YAML reads as no value: put it in quotes if the text is meant", n.GetToken().Value)
		}
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		v.wrong("anchors, aliases and tags are not understood: put a text that begins with *, & or ! in quotes")
	case ast.ScalarNode:
		return n.GetToken().Value, true
	default:
		v.wrong("is %s, want a text", shape(n))
	}
	return "", false
}

// word returns the text if it is not empty.
func (v value) word() (string, bool) {
	s, ok := v.text()
	if ok && s == "" {
		v.wrong("is empty")
		return "", false
	}
	return s, ok
}

// oneOf returns the text if it is one of words.
func (v value) oneOf(what string, words []string) (string, bool) {
	s, ok := v.text()
	if ok && !slices.Contains(words, s) {
		v.wrong("%q is no %s, %s", s, what, unlike(s, words))
		return "", false
	}
	return s, ok
}

// whole returns a whole number from lo to hi.
func (v value) whole(lo, hi int) (int, bool) {
	s, ok := v.text()
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		v.wrong("%q is not a whole number", s)
		return 0, false
	}
	if n < lo || n > hi {
		v.wrong("%d is not in %d..%d", n, lo, hi)
		return 0, false
	}
	return n, true
}

// truth returns true or false.
func (v value) truth() (is, ok bool) {
	s, ok := v.text()
	if !ok {
		return false, false
	}
	if s != "true" && s != "false" {
		v.wrong("%q is neither true nor false", s)
		return false, false
	}
	return s == "true", true
}

// texts returns a list of texts, or a text alone as a list of one. A null that
// is written out is the text of it: nulls: [NULL] means what it says.
func (v value) texts() ([]string, bool) {
	items := v.items()
	out := make([]string, 0, len(items))
	for _, item := range items {
		if n, ok := item.node.(*ast.NullNode); ok && n.GetToken() != nil && n.GetToken().Type == token.NullType {
			out = append(out, n.GetToken().Value)
			continue
		}
		s, ok := item.text()
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, len(out) > 0
}

// items returns the items of a list, or v itself as the only one.
func (v value) items() []value {
	if v.node == nil {
		return nil
	}
	list, ok := v.node.(*ast.SequenceNode)
	if !ok {
		return []value{v}
	}
	if len(list.Values) == 0 {
		v.wrong("the list is empty")
	}
	var out []value
	for _, n := range list.Values {
		out = append(out, value{v.doc, v.key, position(n), n})
	}
	return out
}

// isObject says whether v has keys of its own rather than a text.
func (v value) isObject() bool {
	switch v.node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// An entry is a key that stands in the file, with its value.
type entry struct {
	name string
	value
}

// entries returns the keys of v in the order of the file.
func (v value) entries() []entry {
	if v.node == nil || !v.isObject() {
		v.wantObject()
		return nil
	}
	var out []entry
	seen := map[string]bool{}
	for it := v.node.(ast.MapNode).MapRange(); it.Next(); {
		e := entry{value: value{v.doc, v.key, position(it.Key()), it.Value()}}
		var ok bool
		if e.name, ok = keyText(it.Key()); !ok {
			e.wrong("a key is a plain text: merging and complex keys are not understood")
			continue
		}
		e.key = extend(v.key, e.name)
		if seen[e.name] {
			e.wrong("stands twice")
			continue
		}
		seen[e.name] = true
		out = append(out, e)
	}
	return out
}

// wantObject notes that v, if it is there, is not what entries reads.
func (v value) wantObject() {
	switch v.node.(type) {
	case nil:
	case *ast.NullNode, *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		v.text() // notes why it is nothing at all
	default:
		v.wrong("is %s, want keys with values", shape(v.node))
	}
}

func keyText(k ast.MapKeyNode) (string, bool) {
	switch n := k.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.MergeKeyNode, *ast.MappingKeyNode:
		return "", false
	case ast.ScalarNode:
		return n.GetToken().Value, true
	}
	return "", false
}

var plainKey = regexp.MustCompile(`^[\p{L}\p{N}_$-]+$`)

// extend makes the path of a key below another.
func extend(parent, key string) string {
	if !plainKey.MatchString(key) {
		key = strconv.Quote(key)
	}
	if parent == "" {
		return key
	}
	return parent + "." + key
}

// shape says what n is to a person.
func shape(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys with values"
	case *ast.SequenceNode:
		return "a list"
	}
	return "a text"
}

// An object is keys with values, where the keys are those of a level.
type object struct {
	self   value
	values map[string]value
}

// object reads v's keys, which are those of l. A key that is a slip of the hand
// away from one of them is noted, and its value taken for that key's.
func (v value) object(l level) (object, bool) {
	o := object{self: v, values: map[string]value{}}
	guesses := map[string]value{}
	for _, e := range v.entries() {
		if l.has(e.name) {
			o.values[e.name] = e.value
			continue
		}
		text, meant := l.explain(e.name)
		e.wrong("%s", text)
		if meant != "" {
			e.key = extend(v.key, meant)
			guesses[meant] = e.value
		}
	}
	for name, e := range guesses {
		if !o.values[name].given() {
			o.values[name] = e
		}
	}
	return o, v.isObject()
}

// get returns the value at a key, or one that is not given but knows where it
// should stand.
func (o object) get(key string) value {
	if v, ok := o.values[key]; ok {
		return v
	}
	return value{doc: o.self.doc, key: extend(o.self.key, key), at: o.self.at}
}
