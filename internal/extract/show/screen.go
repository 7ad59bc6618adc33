package show

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"usertrail/internal/behaviour"
)

const (
	// sheetLines is the number of events that are laid out together.
	sheetLines = 1000
	// longValue is the number of bytes of a value that are examined. It is more than fits in
	// a line.
	longValue = 4 << 10
)

// Look describes the appearance of a page on a terminal.
type Look struct {
	Width  int // columns of the terminal
	Colour bool
}

// A Screen writes a page as a table for users. It has a line for each event with its local
// time, and a line before the events of each day. If the fields fit into the width, each has
// a column. Otherwise they are pairs, NAME=VALUE. No line is wider than the terminal. Values
// are cut, the longest first. If too little of them would remain, the pairs continue on the
// lines below.
//
// Up to sheetLines events are laid out together.
type Screen struct {
	w     io.Writer
	look  Look
	asked *Asked
	sheet sheet
	begun bool
	day   int32 // day of the last line, if begun
}

// NewScreen returns a Screen that writes to w.
func NewScreen(w io.Writer, look Look) *Screen { return &Screen{w: w, look: look} }

// Begin implements Writer.
func (s *Screen) Begin(a *Asked) error {
	s.asked = a
	return nil
}

// Add implements Writer.
func (s *Screen) Add(b *Behaviour) error {
	s.sheet.lines = append(s.sheet.lines, s.line(b))
	if len(s.sheet.lines) < sheetLines {
		return nil
	}
	return s.flush()
}

// End implements Writer.
func (s *Screen) End() error { return s.flush() }

// A sheet is a group of lines that are laid out together.
type sheet struct {
	lines []line
}

// A line is an event as text.
type line struct {
	date       int32
	nth, ofDay int
	time       string
	kind       int
	values     []string // one for each of the requested fields, empty for null
}

func (s *Screen) line(b *Behaviour) line {
	l := line{date: b.Date, nth: b.Nth, ofDay: b.OfDay, kind: int(b.Kind), values: make([]string, len(s.asked.Fields))}
	l.time = local(b.Time, s.asked.Zone, "15:04:05.999999")
	for i := range s.asked.Fields {
		f := &s.asked.Fields[i]
		if v := f.Of(b); v != nil {
			l.values[i] = s.text(f.Type, v)
		}
	}
	return l
}

// text returns a value as text. A timestamp is in the time zone of the lines.
func (s *Screen) text(t behaviour.Type, v []byte) string {
	switch {
	case len(v) == 0 && t == behaviour.String:
		return `""`
	case t == behaviour.Timestamp && t.Check(v) == nil:
		return local(behaviour.ToInt64(v), s.asked.Zone, dateTime)
	case t == behaviour.String && len(v) > longValue:
		v = v[:longValue]
	}
	return Plain(t.Text(v))
}

// flush writes the sheet.
func (s *Screen) flush() error {
	if len(s.sheet.lines) == 0 {
		return nil
	}
	var out strings.Builder
	if !s.begun {
		s.title(&out)
	}
	g := s.layOut()
	if s.begun {
		out.WriteString("\n")
	}
	g.head(s, &out)
	for i := range s.sheet.lines {
		l := &s.sheet.lines[i]
		if !s.begun || l.date != s.day {
			s.dayBreak(&out, l, i == 0)
		}
		s.begun, s.day = true, l.date
		g.line(s, &out, l)
	}
	s.sheet.lines = s.sheet.lines[:0]
	_, err := io.WriteString(s.w, out.String())
	return err
}

func (s *Screen) title(out *strings.Builder) {
	p := lineWriter{left: s.look.Width, colour: s.look.Colour}
	p.put(bold, Plain(s.asked.User))
	p.put(faint, fmt.Sprintf("  %s%s  %s", s.asked.Span, s.asked.end(), s.asked.Schema.Zone))
	p.end(out)
}

// end describes which end of the trail was requested, or returns "".
func (a *Asked) end() string {
	switch {
	case a.Latest > 0:
		return fmt.Sprintf(", latest %d", a.Latest)
	case a.At != nil:
		return ", at " + a.at()
	case a.Around != nil:
		return ", around " + a.clock(*a.Around)
	}
	return ""
}

// dayBreak writes the line before the first event of a day or page.
func (s *Screen) dayBreak(out *strings.Builder, l *line, first bool) {
	if !first {
		out.WriteString("\n")
	}
	p := lineWriter{left: s.look.Width, colour: s.look.Colour}
	d := behaviour.Date(l.date)
	y, m, day := d.Civil()
	p.put(bold, fmt.Sprintf("%s %s", d, time.Date(y, m, day, 0, 0, 0, 0, time.UTC).Weekday()))
	switch l.ofDay {
	case 0:
	case 1:
		p.put("", "  1 event")
	default:
		p.put("", fmt.Sprintf("  %d events", l.ofDay))
	}
	if !s.begun && l.nth > 1 {
		p.put(faint, fmt.Sprintf(", %d before this page", l.nth-1))
	}
	p.end(out)
}

const (
	indent = "  "
	gap    = "  "
	// maxColumn is the width up to which a column does not reduce the room of others.
	maxColumn = 24
	// minValue is the least width of a cut value if its pair shares the line with others.
	minValue = 12
	// minRoom is the least room for pairs after the behaviour. With less room they are
	// written on the lines below.
	minRoom = 40
)

// A grid holds the positions and widths in the lines of a sheet.
type grid struct {
	time, kind int   // widths
	used       []int // the fields that some line has
	columns    []int // the width of each column; nil if fields are pairs
}

// layOut decides between columns and pairs.
func (s *Screen) layOut() *grid {
	g := &grid{time: len("time"), kind: len("behaviour")}
	wide := make([]int, len(s.asked.Fields))
	for i := range s.sheet.lines {
		l := &s.sheet.lines[i]
		g.time = max(g.time, width(l.time))
		g.kind = max(g.kind, width(s.asked.Schema.Kinds[l.kind].Name))
		for f, v := range l.values {
			if v != "" {
				wide[f] = max(1, wide[f], width(v))
			}
		}
	}
	g.kind = min(g.kind, max(len("behaviour"), s.look.Width/4))
	room := s.look.Width - g.before() + len(gap)
	for f, w := range wide {
		if w > 0 {
			wide[f] = max(w, width(s.asked.Fields[f].Name))
			g.used = append(g.used, f)
			room -= len(gap) + s.least(f, wide[f])
		}
	}
	if room < 0 {
		return g
	}
	g.columns = []int{}
	for _, f := range g.used {
		w := s.least(f, wide[f])
		more := min(room, wide[f]-w)
		room -= more
		g.columns = append(g.columns, w+more)
	}
	return g
}

// least returns the least width of a column. Only texts are cut, because a cut number would
// be another number.
func (s *Screen) least(f, wide int) int {
	if s.asked.Fields[f].Type != behaviour.String {
		return wide
	}
	return min(wide, maxColumn)
}

// before returns the width of everything before the first field.
func (g *grid) before() int { return len(indent) + g.time + len(gap) + g.kind + len(gap) }

// head writes the names of the columns, if there are any.
func (g *grid) head(s *Screen, out *strings.Builder) {
	if len(g.columns) == 0 {
		return
	}
	p := lineWriter{left: s.look.Width, colour: s.look.Colour}
	p.put(faint, indent+pad("time", g.time, false)+gap+pad("behaviour", g.kind, false))
	for i, f := range g.used {
		field := &s.asked.Fields[f]
		p.put(faint, gap+pad(field.Name, g.columns[i], numeric(field.Type)))
	}
	p.end(out)
}

// line writes l.
func (g *grid) line(s *Screen, out *strings.Builder, l *line) {
	p := &lineWriter{left: s.look.Width, colour: s.look.Colour}
	p.put("", indent+pad(l.time, g.time, false)+gap)
	p.put(colours[l.kind%len(colours)], pad(s.asked.Schema.Kinds[l.kind].Name, g.kind, false))
	if g.columns == nil {
		g.pairs(s, p, out, l)
		return
	}
	for i, f := range g.used {
		p.put("", gap+pad(l.values[f], g.columns[i], numeric(s.asked.Fields[f].Type)))
	}
	p.end(out)
}

// pairs writes l's fields as NAME=VALUE. If a small cut of the values makes them fit, they
// are written in the line of p. Otherwise they take as many lines as they need.
func (g *grid) pairs(s *Screen, p *lineWriter, out *strings.Builder, l *line) {
	at := g.before()
	if s.look.Width-at < minRoom {
		p.end(out)
		at = 2 * len(indent)
		p = s.hanging(at)
	} else {
		p.put("", gap)
	}
	room := s.look.Width - at
	most := s.most(g, l, room)
	left := room
	for _, f := range g.used {
		v := l.values[f]
		if v == "" {
			continue
		}
		name := s.asked.Fields[f].Name + "="
		if s.asked.Fields[f].Type == behaviour.String {
			v = short(v, most)
		}
		v = short(v, max(1, room-width(name)))
		need := width(name) + width(v)
		switch {
		case left == room:
		case need+len(gap) <= left:
			p.put("", gap)
			left -= len(gap)
		default:
			p.end(out)
			p, left = s.hanging(at), room
		}
		p.put(faint, name)
		p.put("", v)
		left -= need
	}
	p.end(out)
}

// hanging begins a line that continues the line above it.
func (s *Screen) hanging(at int) *lineWriter {
	p := &lineWriter{left: s.look.Width, colour: s.look.Colour}
	p.put("", strings.Repeat(" ", at))
	return p
}

// most returns the width to which texts are cut so that l's pairs fit into one line. If they
// would become too short to recognise, it returns their full width.
func (s *Screen) most(g *grid, l *line, room int) int {
	room += len(gap)
	var wide []int
	for _, f := range g.used {
		if v := l.values[f]; v != "" {
			room -= len(gap) + width(s.asked.Fields[f].Name) + len("=")
			if s.asked.Fields[f].Type == behaviour.String {
				wide = append(wide, width(v))
			} else {
				room -= width(v)
			}
		}
	}
	if n := level(wide, room); n >= minValue {
		return n
	}
	return longValue
}

// level returns the width to which values must be cut so that together they fit into room.
func level(wide []int, room int) int {
	slices.Sort(wide)
	for i, w := range wide {
		if left := len(wide) - i; w*left > room {
			return room / left
		}
		room -= w
	}
	return longValue
}

func numeric(t behaviour.Type) bool { return t == behaviour.Int64 || t == behaviour.Double }

// pad cuts s to some columns, or fills it with blanks.
func pad(s string, columns int, right bool) string {
	s = short(s, columns)
	blanks := strings.Repeat(" ", max(0, columns-width(s)))
	if right {
		return blanks + s
	}
	return s + blanks
}
