package show

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// terminal measures text in columns of a terminal. A Chinese character takes two columns, and
// a combining mark none. It ignores the locale, so a page is the same everywhere.
var terminal = runewidth.Condition{StrictEmojiNeutral: true}

// Plain escapes characters that would disturb or control a terminal: control characters, line
// ends, marks of direction, bytes that are not UTF-8. It keeps blanks of every script and the
// joiners that words need.
func Plain(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == utf8.RuneError, !hidden(r):
			b.WriteRune(r)
		case r == '\n', r == '\r', r == '\t':
			b.WriteString(map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`}[r])
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

// hidden reports whether r is escaped. The replacement character is escaped because it also
// represents a byte that is not UTF-8. A replacement character that is in the text remains
// unchanged.
func hidden(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) && r != nonJoiner && r != joiner
}

// short cuts s to some columns of the terminal.
func short(s string, columns int) string {
	if columns < 1 {
		return ""
	}
	return terminal.Truncate(s, columns, "…")
}

func width(s string) int { return terminal.StringWidth(s) }
