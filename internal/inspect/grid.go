package inspect

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// terminal measures text as terminals show it: a Chinese character takes two
// columns. It does not ask for the locale, so a report is the same everywhere.
var terminal = runewidth.Condition{StrictEmojiNeutral: true}

// Where text is cut, in columns of the terminal.
const (
	maxCell   = 40 // a cell of data
	maxNarrow = 28 // a cell of a grid that has a column for each field
	maxWide   = 90 // a cell at the end of a line
)

// A grid is a table with a line of heads. A head that begins with > has its
// column aligned to the right.
type grid struct {
	heads []string
	right []bool
	rows  [][]string
}

func newGrid(heads ...string) *grid {
	g := &grid{right: make([]bool, len(heads))}
	for i, h := range heads {
		h, g.right[i] = strings.CutPrefix(h, ">")
		g.heads = append(g.heads, h)
	}
	return g
}

// add adds a row with a cell for each head.
func (g *grid) add(cells ...string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = plain(c)
	}
	g.rows = append(g.rows, row)
}

// text draws g, each line after indent.
func (g *grid) text(b *strings.Builder, indent string) {
	widths := make([]int, len(g.heads))
	lines := append([][]string{g.heads}, g.rows...)
	for _, line := range lines {
		for i, c := range line {
			widths[i] = max(widths[i], terminal.StringWidth(c))
		}
	}
	for _, line := range lines {
		g.line(b, line, widths, indent)
	}
}

func (g *grid) line(b *strings.Builder, cells []string, widths []int, indent string) {
	var s strings.Builder
	s.WriteString(indent)
	for i, c := range cells {
		if i > 0 {
			s.WriteString("  ")
		}
		pad := strings.Repeat(" ", widths[i]-terminal.StringWidth(c))
		if g.right[i] {
			s.WriteString(pad + c)
		} else {
			s.WriteString(c + pad)
		}
	}
	b.WriteString(strings.TrimRight(s.String(), " ") + "\n")
}

// plain escapes what would not stay in its place on a terminal: line ends,
// control characters, bytes that are not UTF-8.
func plain(s string) string {
	for _, r := range s {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			q := strconv.Quote(s)
			return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
		}
	}
	return s
}

// short cuts a value of data to maxCell columns.
func short(s string) string { return cut(s, maxCell) }

// cut cuts a value of data to some columns.
func cut(s string, columns int) string {
	// A prefix is enough to fill the columns and spares the rest of a long value.
	if enough := 16 * columns; len(s) > enough {
		for enough > 0 && !utf8.RuneStart(s[enough]) {
			enough--
		}
		s = s[:enough]
	}
	return terminal.Truncate(plain(s), columns, "…")
}
