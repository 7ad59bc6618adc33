package job

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"usertrail/internal/behaviour"
)

// A place holds the parts of a file's date and kind that are known from the part of its path
// read so far. An unknown part of the date is 0, and an unknown kind is -1.
type place struct {
	year, month, day int
	kind             int
}

// date returns the day of a place that has one.
func (p place) date() behaviour.Date {
	return behaviour.DateOf(p.year, time.Month(p.month), p.day)
}

// real reports whether the place's date is a day of the calendar. It returns true if the date
// is incomplete.
func (p place) real() bool {
	if p.year == 0 || p.month == 0 || p.day == 0 {
		return true
	}
	y, m, d := p.date().Civil()
	return y == p.year && int(m) == p.month && d == p.day
}

// within returns the days of span of which p may be the beginning. It reports whether there is such a day.
func (p place) within(span behaviour.Span) (behaviour.Span, bool) {
	first, last := p, p
	switch {
	case p.year == 0:
		return span, true
	case p.month == 0:
		first.month, first.day = 1, 1
		last.month, last.day = 12, 31
	case p.day == 0:
		first.day = 1
		last.month, last.day = p.month+1, 0 // the day before the first day of the next month or year
	}
	days := behaviour.Span{From: first.date(), To: last.date()}
	return span.Common(days), span.Overlaps(days)
}

// Match returns the date and the kind that the path of a file names, and reports whether the
// path matches the pattern. The date is nil and the kind is -1 if the path does not name them.
func (p *Pattern) Match(name string) (date *behaviour.Date, kind int, ok bool) {
	for i := range p.globs {
		if at, ok := p.globs[i].match(name, p.paths); ok {
			in := p.globs[i].input(at)
			return in.Date, in.Kind, true
		}
	}
	return nil, -1, false
}

// BehaviourOf returns the behaviour that a path below the logs' root names. It returns "" if a column names the behaviour, or
// if the path does not match the pattern.
func (j *Job) BehaviourOf(rel string) string {
	_, kind, ok := j.Pattern.Match(j.Pattern.Root + "/" + rel)
	if !ok || kind < 0 {
		return ""
	}
	return j.Schema.Kinds[kind].Name
}

// HasBehaviour reports whether the job has a behaviour.
func (j *Job) HasBehaviour(name string) bool {
	_, ok := j.Schema.Kind(name)
	return ok
}

// Rel returns the path below the root of a file that matches the pattern.
func (p *Pattern) Rel(name string) (string, bool) {
	for i := range p.globs {
		g := &p.globs[i]
		if _, ok := g.match(name, p.paths); ok {
			rest, _ := below(g.base, name)
			return path.Join(g.lead, rest), true
		}
	}
	return "", false
}

func (g *glob) match(name string, paths []string) (place, bool) {
	rest, ok := below(g.base, name)
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != len(g.segments) {
		return place{}, false
	}
	at := g.start()
	for i := range g.segments {
		if at, ok = g.segments[i].match(parts[i], at, paths); !ok {
			return place{}, false
		}
	}
	return at, true
}

// copying lists the endings of files that other programs have not finished.
var copying = []string{"._COPYING_", ".tmp", ".inprogress"}

// match adds the date and the kind in name to at, and reports whether name fits s and at.
func (s *segment) match(name string, at place, paths []string) (place, bool) {
	if s.expr == nil {
		return at, name == s.name
	}
	if s.hides(name) {
		return at, false
	}
	groups := s.expr.FindStringSubmatch(name)
	if groups == nil {
		return at, false
	}
	groups = groups[1:]
	for _, t := range s.pieces {
		var known *int
		var n int
		switch t.kind {
		case year, shortYear, month, day:
			n, known = number(groups[0], t.kind), at.part(t.kind)
		case behaviourName:
			n, known = slices.Index(paths, groups[0]), &at.kind
		default:
			continue
		}
		groups = groups[1:]
		if !agree(known, n, t.kind) {
			return at, false
		}
	}
	return at, at.real()
}

// number returns the number that digits mean as a part of a date.
func number(digits string, k pieceKind) int {
	n, _ := strconv.Atoi(digits)
	if k == shortYear {
		n += 2000
	}
	return n
}

// placeholders returns the kinds of the pieces that s.expr and s.any have as groups.
func (s *segment) placeholders() []pieceKind {
	var out []pieceKind
	for _, t := range s.pieces {
		switch t.kind {
		case year, shortYear, month, day, behaviourName:
			out = append(out, t.kind)
		}
	}
	return out
}

// part returns a pointer to a part of p's date.
func (p *place) part(k pieceKind) *int {
	switch k {
	case month:
		return &p.month
	case day:
		return &p.day
	}
	return &p.year
}

// agree sets known to n if it is unknown, and reports whether n is known and equal to it.
func agree(known *int, n int, k pieceKind) bool {
	unknown := 0
	if k == behaviourName {
		unknown = -1
	}
	if *known == unknown {
		*known = n
	}
	return *known == n && n != unknown
}

// hides reports whether a wildcard does not match name: the name is hidden, or its file is not
// finished.
func (s *segment) hides(name string) bool {
	first, last := s.pieces[0], s.pieces[len(s.pieces)-1]
	if first.wild() && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
		return true
	}
	return last.kind != literal && slices.ContainsFunc(copying, func(ending string) bool { return strings.HasSuffix(name, ending) })
}
