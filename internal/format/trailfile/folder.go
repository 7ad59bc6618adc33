package trailfile

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Folder returns the name of the folder with the rows that have a value in a column, in the form of
// Hive. Each byte of ASCII except letters, digits, _, - and . is written as %20.
func Folder(column, value string) string {
	var b strings.Builder
	b.WriteString(column + "=")
	for i := range len(value) {
		c := value[i]
		switch {
		case c >= utf8.RuneSelf, 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// CutFolder is the inverse of Folder. ok is false for other names.
func CutFolder(name string) (column, value string, ok bool) {
	column, escaped, ok := strings.Cut(name, "=")
	value, err := url.PathUnescape(escaped)
	return column, value, ok && err == nil
}
