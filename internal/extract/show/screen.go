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
	// sheetLines is how many behaviours are laid out together.
	sheetLines = 1000
	// longValue is how many bytes of a value are looked at: more than fit any line.
	longValue = 4 << 10
)

// Look says how a page looks on a screen.
type Look struct {
	Width  int // columns of the terminal
	Colour bool
}

// A Screen writes a page as a table for people: a line for each behaviour with its
// local time, a line before those of each day. Fields have a column each where
// these fit into the width, and else are pairs, NAME=VALUE. No line is wider than
// the terminal: values are cut, the longest first, and where little would be left
// of them the pairs go on in lines below.
//
// Behaviours are laid out together, up to sheetLines of them.
type Screen struct {
	w     io.Writer
	look  Look
	asked *Asked
	sheet sheet
	begun bool
	day   int32 // of the last line, if begun
}

// NewScreen writes to w.
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

// A sheet is lines that are laid out together.
type sheet struct {
	lines []line
}

// A line is a behaviour as text.
type line struct {
	date       int32
	nth, ofDay int
	time       string
	kind       int
	values     []string // one for each of the asked fields, empty for null
}

func (s *Screen) line(b *Behaviour) line {
	l := line{date: b.Date, nth: b.Nth, ofDay: b.OfDay, kind: int(b.Kind), values: make([]string, len(s.asked.Fields))}
	l.time = time.UnixMicro(b.Time).In(s.asked.Zone).Format("15:04:05.999999")
	for i := range s.asked.Fields {
		f := &s.asked.Fields[i]
		if v := f.Of(b); v != nil {
			l.values[i] = s.text(f.Type, v)
		}
	}
	return l
}

// text shows a value; a timestamp in the zone in which the times of the lines are.
func (s *Screen) text(t behaviour.Type, v []byte) string {
	switch {
	case len(v) == 0 && t == behaviour.String:
		return `""`
	case t == behaviour.Timestamp && t.Check(v) == nil:
		return time.UnixMicro(behaviour.ToInt64(v)).In(s.asked.Zone).Format("2006-01-02 15:04:05.999999")
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
	p := pen{left: s.look.Width, colour: s.look.Colour}
	p.put(bold, Plain(s.asked.User))
	p.put(faint, fmt.Sprintf("  %s%s  %s", s.asked.Span, s.asked.end(), s.asked.Schema.Zone))
	p.end(out)
}

// end says which end of the trail was asked for, if one was.
func (a *Asked) end() string {
	switch {
	case a.Latest > 0:
		return fmt.Sprintf(", latest %d", a.Latest)
	case a.At != nil:
		return ", at " + a.at()
	}
	return ""
}

// dayBreak is the line before a day's first behaviour, or the page's.
func (s *Screen) dayBreak(out *strings.Builder, l *line, first bool) {
	if !first {
		out.WriteString("\n")
	}
	p := pen{left: s.look.Width, colour: s.look.Colour}
	d := behaviour.Date(l.date)
	y, m, day := d.Civil()
	p.put(bold, fmt.Sprintf("%s %s", d, time.Date(y, m, day, 0, 0, 0, 0, time.UTC).Weekday()))
	switch l.ofDay {
	case 0:
	case 1:
		p.put("", "  1 behaviour")
	default:
		p.put("", fmt.Sprintf("  %d behaviours", l.ofDay))
	}
	if !s.begun && l.nth > 1 {
		p.put(faint, fmt.Sprintf(", %d before this page", l.nth-1))
	}
	p.end(out)
}

const (
	indent = "  "
	gap    = "  "
	// maxColumn is how wide a column may be without taking room from others.
	maxColumn = 24
	// minValue is how wide a value that is cut is at least, where its pair has
	// others beside it.
	minValue = 12
	// minRoom is how much room pairs need beside the behaviour; with less they
	// stand below it.
	minRoom = 40
)

// A grid is where things stand in the lines of a sheet.
type grid struct {
	time, kind int   // widths
	used       []int // the fields that some line has
	columns    []int // the width of each of them; nil where fields are pairs
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

// least is how wide a column is at least. Only texts are cut: of a number, the rest
// would be another number.
func (s *Screen) least(f, wide int) int {
	if s.asked.Fields[f].Type != behaviour.String {
		return wide
	}
	return min(wide, maxColumn)
}

// before is how wide everything before the first field is.
func (g *grid) before() int { return len(indent) + g.time + len(gap) + g.kind + len(gap) }

// head names the columns, if there are any.
func (g *grid) head(s *Screen, out *strings.Builder) {
	if len(g.columns) == 0 {
		return
	}
	p := pen{left: s.look.Width, colour: s.look.Colour}
	p.put(faint, indent+pad("time", g.time, false)+gap+pad("behaviour", g.kind, false))
	for i, f := range g.used {
		field := &s.asked.Fields[f]
		p.put(faint, gap+pad(field.Name, g.columns[i], numeric(field.Type)))
	}
	p.end(out)
}

// line draws l.
func (g *grid) line(s *Screen, out *strings.Builder, l *line) {
	p := &pen{left: s.look.Width, colour: s.look.Colour}
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

// pairs draws l's fields as NAME=VALUE: in the line that p begins if cutting values
// a little makes them fit there, and else on as many lines as they need.
func (g *grid) pairs(s *Screen, p *pen, out *strings.Builder, l *line) {
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

// hanging begins a line that goes on with the one above it.
func (s *Screen) hanging(at int) *pen {
	p := &pen{left: s.look.Width, colour: s.look.Colour}
	p.put("", strings.Repeat(" ", at))
	return p
}

// most is how wide texts may be for l's pairs to fit into one line, if that is
// enough to know them by; else as wide as they are.
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

// level is the width to which values must be cut to fit together into room.
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

// pad brings s to some columns, cut or filled with blanks.
func pad(s string, columns int, right bool) string {
	s = short(s, columns)
	blanks := strings.Repeat(" ", max(0, columns-width(s)))
	if right {
		return blanks + s
	}
	return s + blanks
}
