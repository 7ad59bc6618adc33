// Package visible makes external text safe to print in messages, comments and pages. It
// escapes characters that would move the cursor, end the line or change the direction of
// writing.
package visible

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text returns s with unprintable characters escaped as in Go: "\n", "\u202e".
func Text(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if strconv.IsPrint(r) && (r != utf8.RuneError || n > 1) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.Quote(s[i:i+n]), `"`))
		}
		i += n
	}
	return b.String()
}

// List returns names, separated by commas. Names that would be hard to separate are in
// quotes.
func List(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		if out[i] = name; name == "" || strings.TrimSpace(name) != name || strings.ContainsAny(name, `,"`) || Text(name) != name {
			out[i] = strconv.Quote(name)
		}
	}
	return strings.Join(out, ", ")
}
