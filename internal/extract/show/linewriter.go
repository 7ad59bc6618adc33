package show

import "strings"

// Styles of text, as terminal codes.
const (
	bold  = "1"
	faint = "2"
)

// colours are the colours of behaviours, in rotation.
var colours = []string{"36", "32", "33", "35", "34", "31"}

// A lineWriter writes one line of at most left columns.
type lineWriter struct {
	left   int
	colour bool
	parts  []part
}

// A part is a piece of a line with one style or none.
type part struct{ style, text string }

func (p *lineWriter) put(style, text string) { p.parts = append(p.parts, part{style, text}) }

// end writes the line without trailing blanks, unless it is empty. It cuts text that does not
// fit.
func (p *lineWriter) end(out *strings.Builder) {
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

func (p *lineWriter) style(out *strings.Builder, style, text string) {
	if !p.colour || style == "" {
		out.WriteString(text)
		return
	}
	out.WriteString("\x1b[" + style + "m" + text + "\x1b[0m")
}
