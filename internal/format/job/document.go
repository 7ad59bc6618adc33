package job

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"usertrail/internal/store/dfs"
)

// A document is a job file with the problems found so far.
type document struct {
	name     string
	problems []problem
}

// A problem is one mistake and its position.
type problem struct {
	line, column int
	text         string
}

// folder returns the folder that relative paths start from.
func (d *document) folder() string { return dfs.Dir(d.name) }

// wrong adds a problem at a position. nil is the beginning of the file.
func (d *document) wrong(at *token.Position, text string) {
	p := problem{1, 1, text}
	if at != nil {
		p.line, p.column = at.Line, at.Column
	}
	d.problems = append(d.problems, p)
}

// err joins the problems in the order of the file, each problem once. The result wraps
// ErrJob.
func (d *document) err() error { return d.errOf(ErrJob) }

// errOf is err for a file that is not a job. The result wraps wrong.
func (d *document) errOf(wrong error) error {
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
	return fmt.Errorf("%w:\n%w", wrong, errors.Join(errs...))
}

// parse reads the file as YAML and returns its outermost object.
func (d *document) parse(data []byte) (object, bool) {
	root, ok := d.root(data, "job", "a job has logs and behaviours")
	if !ok {
		return object{}, false
	}
	return root.object(topLevel)
}

// root reads the file as YAML and returns its top value. Messages call the file what. The
// message for an empty file names has, which the file should have.
func (d *document) root(data []byte, what, has string) (value, bool) {
	if len(data) > maxSize {
		d.wrong(nil, fmt.Sprintf("a %s file has at most %d bytes", what, maxSize))
		return value{}, false
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	tokens := lexer.Tokenize(string(data))
	if at := tooDeep(tokens); at != nil {
		d.wrong(at, fmt.Sprintf("not a %s: brackets or lists nested more than %d deep", what, maxDepth))
		return value{}, false
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.syntax(err)
		return value{}, false
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.DirectiveType && doc.Body.Type() != ast.CommentType {
			bodies = append(bodies, doc.Body)
		}
	}
	switch {
	case len(bodies) == 0:
		d.wrong(nil, "the file is empty: "+has)
		return value{}, false
	case len(bodies) > 1:
		d.wrong(position(bodies[1]), "a second document begins: a file holds one "+what)
	}
	return value{doc: d, at: position(bodies[0]), node: bodies[0]}, true
}

// maxDepth is far deeper than any job. The YAML parser's time grows with the square of the
// depth, and its stack grows with the depth.
const maxDepth = 32

// tooDeep returns the position where brackets, or lists begun on one line, are nested deeper
// than maxDepth. Nesting by indentation is not a danger, because the file's size grows with
// the square of the depth.
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

// syntax adds an error of the YAML parser.
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
	d.wrong(at, "not YAML: "+text+" (a text that begins with a sign such as { or *, or holds a colon and a blank, needs quotes)")
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
