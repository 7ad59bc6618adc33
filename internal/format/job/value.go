package job

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
)

// A value is the value of a key. The zero value is the value of a missing key. Its methods
// find nothing in it and report no problem.
type value struct {
	doc  *document
	key  string          // the path of the key: logs.path
	at   *token.Position // the position of its last key
	node ast.Node        // nil if the key is missing
}

// given reports whether the key is given.
func (v value) given() bool { return v.node != nil }

// wrong adds a problem with v. v may be a missing key.
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
		v.wrong("%q is no %s, %s", s, what, behaviour.Instead(s, words))
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

// limit sets l to the number of records, or to the share of a file's records.
func (v value) limit(l *Limit) {
	s, ok := v.word()
	if !ok {
		return
	}
	parsed, err := ParseLimit(s)
	if err != nil {
		v.wrong("%v", err)
		return
	}
	*l = parsed
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

// texts returns a list of texts. A single text is a list of one. An unquoted null is the text
// of its own letters: in nulls: [NULL] it is NULL.
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

// items returns the items of a list, or v itself as the only item.
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

// isObject reports whether v has keys of its own.
func (v value) isObject() bool {
	switch v.node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// zone returns a time zone by its IANA name.
func (v value) zone() (*time.Location, bool) {
	s, ok := v.word()
	if !ok {
		return nil, false
	}
	zone, err := time.LoadLocation(s)
	if err != nil || s == "Local" {
		v.wrong("%q is no time zone: write a name such as UTC, Asia/Shanghai or America/New_York", s)
		return nil, false
	}
	return zone, true
}

// instants returns the first and the last microsecond of a day in a zone, or a time twice.
func (v value) instants(zone *time.Location) (begins, ends time.Time, ok bool) {
	s, ok := v.word()
	if !ok {
		return begins, ends, false
	}
	read, err := record.TimeReader("")
	if err != nil {
		panic("job: " + err.Error()) // the default format is valid
	}
	w, ok := read(s, 0)
	if !ok {
		v.wrong("%q is neither a day such as 2014-09-01 nor a time such as 2014-09-01 10:00:00", s)
		return begins, ends, false
	}
	clock := behaviour.NewClock(zone)
	at := func(wall int64) time.Time {
		if w.Zoned {
			return time.Unix(wall-w.Offset, 0)
		}
		return time.Unix(clock.Instant(wall), 0)
	}
	if len(s) == len(time.DateOnly) {
		return at(w.Wall), at(w.Wall + 24*60*60).Add(-time.Microsecond), true
	}
	return at(w.Wall), at(w.Wall), true
}

// bytes returns a size such as 4096 or 4MiB, at most most. It returns otherwise if v is not
// given.
func (v value) bytes(otherwise, most int) int {
	s, ok := v.word()
	if !ok {
		return otherwise
	}
	n, err := humanize.ParseBytes(s)
	if err != nil {
		v.wrong("%q is not a number of bytes such as 65536 or 4MiB", s)
		return otherwise
	}
	if n < 1 || n > uint64(most) {
		v.wrong("%s is not in 1..%d bytes", s, most)
		return otherwise
	}
	return int(n)
}

// shape returns the name of n's type for a message.
func shape(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys with values"
	case *ast.SequenceNode:
		return "a list"
	}
	return "a text"
}
