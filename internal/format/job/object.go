package job

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// An entry is a key in the file, with its value.
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
			e.wrong("occurs twice")
			continue
		}
		seen[e.name] = true
		out = append(out, e)
	}
	return out
}

// wantObject adds a problem if v is given and is not an object.
func (v value) wantObject() {
	switch v.node.(type) {
	case nil:
	case *ast.NullNode, *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		v.text() // adds the problem if v is null
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

// isPlainKey reports whether a path shows a key without quotes.
func isPlainKey(key string) bool {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("_$-", r)
	}
	return key != "" && !strings.ContainsFunc(key, odd)
}

// extend returns the path of a key below another key.
func extend(parent, key string) string {
	if !isPlainKey(key) {
		key = strconv.Quote(key)
	}
	if parent == "" {
		return key
	}
	return parent + "." + key
}

// An object holds values by key. The keys are the keys of a level.
type object struct {
	self   value
	values map[string]value
}

// object reads v's keys, which must be keys of l. If a key is a misspelling of a key of l,
// object notes it and uses its value for the key of l.
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

// get returns the value at a key. If the key is not given, the value holds the place where the
// key should be.
func (o object) get(key string) value {
	if v, ok := o.values[key]; ok {
		return v
	}
	return value{doc: o.self.doc, key: extend(o.self.key, key), at: o.self.at}
}
