package behaviour

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxNameLen is the maximum size of a behaviour's name in bytes.
const MaxNameLen = 255

// IsWord reports whether s is a letter, and then letters, digits and _. Fields have such names, and
// conditions write the names of such behaviours without quotes.
func IsWord(s string) bool {
	for i, r := range s {
		if !unicode.IsLetter(r) && (i == 0 || !unicode.IsNumber(r) && r != '_') {
			return false
		}
	}
	return s != ""
}

// CheckName returns the reason why s cannot be the name of a behaviour, or nil. Names that differ
// only in case are names of different behaviours.
func CheckName(s string) error {
	switch {
	case s == "":
		return errors.New("a name has at least one character")
	case len(s) > MaxNameLen:
		return fmt.Errorf("a name has at most %d bytes, and this one has %d", MaxNameLen, len(s))
	case !utf8.ValidString(s):
		return errors.New("a name is UTF-8, and this one is not")
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return fmt.Errorf("a name has no control characters, and this one has %U", r)
		}
	}
	if strings.TrimSpace(s) != s {
		return errors.New("a name does not begin or end with a blank: flags take such blanks away")
	}
	return nil
}

// Words reports whether conditions can write the names of all behaviours of s without quotes.
func (s *Schema) Words() bool {
	return !slices.ContainsFunc(s.Kinds, func(k Kind) bool { return !IsWord(k.Name) })
}

// Flag returns names as the value of a flag such as --types. A name with a comma or a quote is in
// quotes, as in csv.
func Flag(names []string) string { return strings.Join(quoted(names), ",") }

// List returns names for a message. They are written as in Flag, with a blank after each comma.
func List(names []string) string { return strings.Join(quoted(names), ", ") }

func quoted(names []string) []string {
	var out []string
	for _, name := range names {
		var b strings.Builder
		w := csv.NewWriter(&b)
		w.Write([]string{name}) // a strings.Builder never fails
		w.Flush()
		out = append(out, strings.TrimSuffix(b.String(), "\n"))
	}
	return out
}
