package behaviour

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
)

// Nearest returns the word with the fewest edits from s, and reports whether s may be a misspelling of
// that word. It returns "" if words is empty.
func Nearest(s string, words []string) (word string, near bool) {
	best := -1
	for _, w := range words {
		d := levenshtein.Distance(strings.ToLower(s), strings.ToLower(w), nil)
		if best < 0 || d < best {
			best, word = d, w
		}
	}
	length := len([]rune(word))
	return word, best >= 0 && best <= (length+3)/3 && best < length
}

// DidYouMean returns a hint with the word that s may be a misspelling of, or "".
func DidYouMean(s string, words []string) string {
	if hint := otherForm(s, words); hint != "" {
		return hint
	}
	if word, near := Nearest(s, words); near {
		return "did you mean " + word + "?"
	}
	return ""
}

// Aside returns the hint of DidYouMean in brackets and after a blank, or "".
func Aside(s string, words []string) string {
	if hint := DidYouMean(s, words); hint != "" {
		return " (" + hint + ")"
	}
	return ""
}

// Instead returns a hint for s, which is none of words: the word that s may mean, or else all
// words.
func Instead(s string, words []string) string {
	if len(words) == 0 {
		return "there are none"
	}
	return cmp.Or(DidYouMean(s, words), "there are "+List(words))
}

// ForConditions is the next step for a condition in the place of a name.
const ForConditions = "--where filters events, and --having compares numbers of events"

// IsCondition reports whether a text that names no behaviour compares values, as a condition does.
func IsCondition(text string) bool { return strings.ContainsAny(text, "=<>") }

// Calls returns the names and the short names of all kinds.
func (s *Schema) Calls() []string {
	calls := s.Names()
	for _, k := range s.Kinds {
		if k.As != "" {
			calls = append(calls, k.As)
		}
	}
	return calls
}

// Listed returns the names of all kinds for a message, each with its short name.
func (s *Schema) Listed() string {
	names := quoted(s.Names())
	for i, k := range s.Kinds {
		if k.As != "" {
			names[i] += " (as " + k.As + ")"
		}
	}
	return strings.Join(names, ", ")
}

// Instead returns a hint for a name that no kind has: the name that it may mean, or else all names.
func (s *Schema) Instead(name string) string {
	return cmp.Or(DidYouMean(name, s.Calls()), "there are "+s.Listed())
}

// Unknown returns an error for a name that no kind has. Its text follows "the table has".
func (s *Schema) Unknown(name string) error {
	return fmt.Errorf("no behaviour %q%s; it has %s", name, Aside(name, s.Calls()), s.Listed())
}
