package inspect

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// terminal measures text in columns of a terminal, where a Chinese character takes two
// columns. It ignores the locale, so a report is the same everywhere.
var terminal = runewidth.Condition{StrictEmojiNeutral: true}

// Lengths to which text is cut, in columns of the terminal.
const (
	maxCell   = 40 // a cell of data
	maxNarrow = 28 // a cell of a grid with one column per field
	maxWide   = 90 // a cell at the end of a line
)

// A grid is a table with a header line. A column whose header begins with > is aligned to the
// right.
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

// add adds a row with one cell per column.
func (g *grid) add(cells ...string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = plain(c)
	}
	g.rows = append(g.rows, row)
}

// text writes g, with indent before each line.
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

// plain escapes characters that would disturb a terminal: line ends, control characters,
// bytes that are not UTF-8.
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

// cut cuts a value of data to a number of columns.
func cut(s string, columns int) string {
	// A prefix is enough to fill the columns. The rest of a long value is not needed.
	if enough := 16 * columns; len(s) > enough {
		for enough > 0 && !utf8.RuneStart(s[enough]) {
			enough--
		}
		s = s[:enough]
	}
	return terminal.Truncate(plain(s), columns, "…")
}
