package job

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/ncruces/go-strftime"

	"usertrail/internal/behaviour"
)

// A piece is a part of a path pattern.
type piece struct {
	kind pieceKind
	text string // of a literal or a class
}

type pieceKind int

const (
	literal   pieceKind = iota
	slash               // between folders
	year                // four digits
	shortYear           // two digits, of this century
	month               // two digits
	day                 // two digits
	behaviourName
	anything // *
	anyRune  // ?
	class    // [a-z], stored as a regular expression
)

// signs maps each piece to its sign or placeholder. Different notations of a piece in a job
// have the same sign.
var signs = map[pieceKind]string{
	slash: "/", year: "{date:yyyy}", shortYear: "{date:yy}", month: "{date:MM}", day: "{date:dd}",
	behaviourName: "{behaviour}", anything: "*", anyRune: "?",
}

var escapeSigns = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `}`, `\}`)

// String returns p in the notation of a pattern.
func (p piece) String() string {
	switch p.kind {
	case literal:
		return escapeSigns.Replace(p.text)
	case class:
		return p.text
	}
	return signs[p.kind]
}

// wild reports whether p matches variable text that is not a placeholder.
func (p piece) wild() bool { return p.kind == anything || p.kind == anyRune || p.kind == class }

// cut cuts a path pattern into pieces.
func cut(pattern string) ([]piece, error) {
	var out []piece
	for rest := pattern; rest != ""; {
		next, n, err := nextPieces(rest)
		if err != nil {
			return nil, err
		}
		for _, t := range next {
			if m := len(out) - 1; t.kind == literal && m >= 0 && out[m].kind == literal {
				out[m].text += t.text
				continue
			} else if t.kind == anything && m >= 0 && out[m].kind == anything {
				return nil, errors.New("** is not understood: write */ for each folder between")
			}
			out = append(out, t)
		}
		rest = rest[n:]
	}
	return out, nil
}

// nextPieces returns the pieces at the beginning of s, and their length in bytes.
func nextPieces(s string) ([]piece, int, error) {
	switch s[0] {
	case '/':
		return []piece{{kind: slash}}, 1, nil
	case '*':
		return []piece{{kind: anything}}, 1, nil
	case '?':
		return []piece{{kind: anyRune}}, 1, nil
	case '[':
		return classPiece(s)
	case '{':
		i := strings.IndexByte(s, '}')
		if i < 0 {
			return nil, 0, fmt.Errorf("%q has no closing brace", s)
		}
		t, err := placeholder(s[1:i])
		return t, i + 1, err
	case '}':
		return nil, 0, errors.New("} without {")
	case '\\':
		if len(s) == 1 || s[1] == '/' {
			return nil, 0, errors.New(`\ with nothing after it`)
		}
		return []piece{{literal, s[1:2]}}, 2, nil
	}
	i := strings.IndexAny(s, `/*?[{}\`)
	if i < 0 {
		i = len(s)
	}
	return []piece{{literal, s[:i]}}, i, nil
}

// classPiece reads [abc], [a-z] or [!a-z].
func classPiece(s string) ([]piece, int, error) {
	i := strings.IndexByte(s, ']')
	if i < 2 {
		return nil, 0, fmt.Errorf("%q is no set of characters such as [a-z]", s)
	}
	body, negated := s[1:i], ""
	if body[0] == '!' || body[0] == '^' {
		body, negated = body[1:], "^"
	}
	quoted := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`, `&`, `\&`, `~`, `\~`).Replace(body)
	text := "[" + negated + quoted + "]"
	if _, err := regexp.Compile(text); err != nil || strings.Contains(body, "/") {
		return nil, 0, fmt.Errorf("%q is no set of characters such as [a-z]", s[:i+1])
	}
	return []piece{{class, text}}, i + 1, nil
}

// placeholder reads the text between braces.
func placeholder(s string) ([]piece, error) {
	name, layout, formatted := strings.Cut(s, ":")
	switch {
	case name == "behaviour" && !formatted:
		return []piece{{kind: behaviourName}}, nil
	case name == "behaviour":
		return nil, errors.New("{behaviour} has no format: behaviours.NAME.path gives its text in a path")
	case name == "date" && !formatted:
		return datePieces("2006-01-02")
	case name == "date":
		return datePieces(layout)
	}
	right, _ := behaviour.Nearest(name, []string{"date", "behaviour"})
	return nil, fmt.Errorf("{%s} is no placeholder, did you mean {%s}?", s, right)
}

// dateParts lists the pieces of a date's format in the notations of Go and Java.
var dateParts = []struct {
	text string
	kind pieceKind
}{
	{"2006", year}, {"yyyy", year}, {"06", shortYear}, {"yy", shortYear},
	{"01", month}, {"MM", month}, {"02", day}, {"dd", day},
}

// datePieces reads the format of a date in a path, in the notation of Go, Java or strftime.
func datePieces(layout string) ([]piece, error) {
	wrong := fmt.Errorf("{date:%s}: write a day in a path with yyyy, MM and dd, or 2006, 01 and 02, or %%Y, %%m and %%d", layout)
	rest := layout
	if strings.Contains(layout, "%") {
		var err error
		if rest, err = strftime.Layout(layout); err != nil {
			return nil, wrong
		}
	}
	var out []piece
next:
	for rest != "" {
		for _, p := range dateParts {
			if after, ok := strings.CutPrefix(rest, p.text); ok {
				out, rest = append(out, piece{kind: p.kind}), after
				continue next
			}
		}
		switch c := rest[0]; {
		case c == '/':
			out = append(out, piece{kind: slash})
		case strings.IndexByte("-_.=, ", c) >= 0:
			out = append(out, piece{literal, rest[:1]})
		default:
			return nil, wrong
		}
		rest = rest[1:]
	}
	if len(out) == 0 {
		return nil, wrong
	}
	return out, nil
}
