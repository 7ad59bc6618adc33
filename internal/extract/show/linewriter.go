package show

import "strings"

// Styles of text, as terminals are told them.
const (
	bold  = "1"
	faint = "2"
)

// colours are those of behaviours, by turns.
var colours = []string{"36", "32", "33", "35", "34", "31"}

// A pen writes one line, no wider than left columns.
type pen struct {
	left   int
	colour bool
	parts  []part
}

// A part of a line has one style, or none.
type part struct{ style, text string }

func (p *pen) put(style, text string) { p.parts = append(p.parts, part{style, text}) }

// end writes the line, if there is anything in it, without the blanks at its end.
// What does not fit is cut.
func (p *pen) end(out *strings.Builder) {
	for n := len(p.parts); n > 0; n-- {
		last := &p.parts[n-1]
		if last.text = strings.TrimRight(last.text, " "); last.text != "" {
			break
		}
		p.parts = p.parts[:n-1]
	}
	if len(p.parts) == 0 {
		return
	}
	for i, part := range p.parts {
		more := i < len(p.parts)-1
		text := part.text
		if w := width(text); w > p.left || more && w == p.left {
			text, more = short(text+" ", p.left), false
		}
		p.left -= width(text)
		p.style(out, part.style, text)
		if !more {
			break
		}
	}
	out.WriteString("\n")
}

func (p *pen) style(out *strings.Builder, style, text string) {
	if !p.colour || style == "" {
		out.WriteString(text)
		return
	}
	out.WriteString("\x1b[" + style + "m" + text + "\x1b[0m")
}
