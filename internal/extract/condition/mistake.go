package condition

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/mattn/go-runewidth"

	"usertrail/internal/behaviour"
)

// A mistake is an error at one place of a text.
type mistake struct {
	text    string
	at      int // in runes
	problem string
	cause   error
}

// wrong is a mistake that keeps text from being a condition.
func wrong(text string, at int, format string, args ...any) *mistake {
	return &mistake{text, at, fmt.Sprintf(format, args...), ErrCondition}
}

// around is how many runes of a long line are shown on either side of the place.
const around = 60

// Error returns the message, and below it the line with a caret below the place.
func (m *mistake) Error() string {
	runes := []rune(m.text)
	at := min(max(m.at, 0), len(runes))
	begin, end := at, at
	for begin > 0 && runes[begin-1] != '\n' && at-begin < around {
		begin--
	}
	for end < len(runes) && runes[end] != '\n' && end-at < around {
		end++
	}
	before, after := shown(runes[begin:at]), shown(runes[at:end])
	if begin > 0 && runes[begin-1] != '\n' {
		before = "… " + before
	}
	if end < len(runes) && runes[end] != '\n' {
		after += " …"
	}
	return fmt.Sprintf("%s\n  %s%s\n  %s^", m.problem, before, after, strings.Repeat(" ", terminal.StringWidth(before)))
}

// terminal measures widths for a terminal on which … is narrow, whatever the locale is.
var terminal = runewidth.Condition{StrictEmojiNeutral: true}

// Unwrap returns ErrCondition, or the error of an evaluation.
func (m *mistake) Unwrap() error { return m.cause }

// shown returns line with blanks instead of characters that would move the caret.
func shown(line []rune) string {
	out := slices.Clone(line)
	for i, r := range out {
		if r < ' ' || r == 0x7f {
			out[i] = ' '
		}
	}
	return string(out)
}

// place turns an error of the expression library into a mistake.
func place(text string, err error) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return fmt.Errorf("%w: %s: %w", ErrCondition, text, err)
	}
	m := wrong(text, at.From, "%s", at.Message)
	if at.Prev != nil {
		m.problem, m.cause = at.Prev.Error(), at.Prev
	}
	return m
}

// noKind returns the message that s has no behaviour called name.
func noKind(s *behaviour.Schema, name string) string {
	return fmt.Sprintf("no behaviour is called %s; %s", name, s.Instead(name))
}

// noField returns the message that k has no field called name, with the fields of k.
func noField(k *behaviour.Kind, name string) string {
	var names, typed []string
	for _, f := range k.Fields {
		names, typed = append(names, f.Name), append(typed, fmt.Sprintf("%s (%s)", f.Name, f.Type))
	}
	if len(names) == 0 {
		return fmt.Sprintf("%s has no field %s, and no fields at all", k.Name, name)
	}
	return fmt.Sprintf("%s has no field %s%s; it has %s", k.Name, name, behaviour.Aside(name, names), strings.Join(typed, ", "))
}

// position returns the place of n in the text, in runes.
func position(n ast.Node) int { return n.Location().From }
