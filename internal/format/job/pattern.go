package job

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
)

// A Pattern holds the paths of the logs, with placeholders and wildcards. Many goroutines may
// use it at once.
type Pattern struct {
	// Root is the folder that paths in the table are relative to. Column IDs are made from
	// these relative paths, so they do not depend on the folder from which the job was read.
	// With several paths, Root is the deepest folder that contains them all.
	Root string

	globs []glob
	paths []string // for each kind, the text for {behaviour}
}

// A glob is one path of a pattern.
type glob struct {
	base     string    // the folder before the first placeholder or wildcard
	lead     string    // the path of base below the root; empty if it is the root
	segments []segment // the parts below base
	dated    bool      // the path has the date
	kind     int       // the kind of files if the path does not have it; -1 if a column has it
	kinded   bool      // the path has the kind
}

// A segment is the part of a path between two slashes.
type segment struct {
	pieces []piece
	expr   *regexp.Regexp // matches a whole name; nil if the name is literal
	any    *regexp.Regexp // as expr, with any text for {behaviour}; nil if the segment has none
	name   string         // the literal name
}

// compile makes a glob from a path in a job. paths is the text for {behaviour}, for each
// kind.
func compile(folder, written string, paths []string) (g glob, static string, err error) {
	prefix, rest := cutScheme(written)
	if strings.ContainsAny(prefix, `*?[{`) {
		return glob{}, "", fmt.Errorf("%s: a host is named, not found by placeholders or wildcards", prefix)
	}
	pieces, err := cut(rest)
	if err != nil {
		return glob{}, "", err
	}
	parts := split(pieces)
	n := leading(parts)
	static = prefix + staticFolder(parts[:n], strings.HasPrefix(rest, "/"))
	g = glob{base: resolve(folder, static), kind: -1}
	for _, p := range parts[n:] {
		s, err := compileSegment(p, paths)
		if err != nil {
			return glob{}, "", err
		}
		g.segments = append(g.segments, s)
	}
	return g, static, g.settle(len(paths))
}

// leading returns the number of parts before the first placeholder or wildcard. It never
// counts the last part, which is the file.
func leading(parts [][]piece) int {
	n := 0
	for n < len(parts)-1 && isLiteral(parts[n]) {
		n++
	}
	return n
}

// staticFolder returns the cleaned path of literal parts.
func staticFolder(parts [][]piece, absolute bool) string {
	var names []string
	if absolute {
		names = append(names, "")
	}
	for _, p := range parts {
		names = append(names, literalText(p))
	}
	if absolute && len(parts) == 0 {
		return "/"
	}
	return path.Clean(strings.Join(names, "/"))
}

// settle determines which parts of a date and behaviour the path has. It returns an error if a part is
// missing.
func (g *glob) settle(kinds int) error {
	has := map[pieceKind]bool{}
	for _, s := range g.segments {
		for _, t := range s.pieces {
			has[t.kind] = true
		}
	}
	y, m, d := has[year] || has[shortYear], has[month], has[day]
	if (y || m || d) && !(y && m && d) {
		return errors.New("a path names a whole day, with year, month and day, or none; * stands for the parts that are left out")
	}
	g.dated, g.kinded = y, has[behaviourName]
	if !g.kinded && kinds == 1 {
		g.kind = 0
	}
	return nil
}

// split cuts pieces at slashes. It omits empty parts and dots.
func split(pieces []piece) [][]piece {
	var out [][]piece
	var part []piece
	for _, t := range append(slices.Clone(pieces), piece{kind: slash}) {
		if t.kind != slash {
			part = append(part, t)
			continue
		}
		if len(part) > 0 && !(isLiteral(part) && literalText(part) == ".") {
			out = append(out, part)
		}
		part = nil
	}
	return out
}

func isLiteral(part []piece) bool {
	return !slices.ContainsFunc(part, func(t piece) bool { return t.kind != literal })
}

func literalText(part []piece) string {
	var b strings.Builder
	for _, t := range part {
		b.WriteString(t.text)
	}
	return b.String()
}

// compileSegment returns the expression that matches a segment's names. It tries longer texts
// for {behaviour} first, so that play* does not match play_list.
func compileSegment(part []piece, paths []string) (segment, error) {
	s := segment{pieces: part}
	if isLiteral(part) {
		s.name = literalText(part)
		if s.name == ".." {
			return segment{}, errors.New(".. is allowed only before the first placeholder or wildcard")
		}
		return s, nil
	}
	var err error
	if s.expr, err = regexp.Compile(expression(part, alternatives(paths), `.*`)); err != nil {
		return segment{}, fmt.Errorf("%s cannot be matched: %w", show(part), err)
	}
	if slices.ContainsFunc(part, func(t piece) bool { return t.kind == behaviourName }) {
		s.any, err = regexp.Compile(expression(part, `.+`, `.*?`)) // the behaviour gets as much as possible of the text next to a *
	}
	return s, err
}

// expression returns the regular expression of a segment. It has the given expressions for {behaviour} and for *.
func expression(part []piece, behaviours, star string) string {
	var expr strings.Builder
	expr.WriteString(`(?s)\A`)
	for _, t := range part {
		switch t.kind {
		case literal:
			expr.WriteString(regexp.QuoteMeta(t.text))
		case year:
			expr.WriteString(`([0-9]{4})`)
		case shortYear, month, day:
			expr.WriteString(`([0-9]{2})`)
		case behaviourName:
			expr.WriteString("(" + behaviours + ")")
		case anything:
			expr.WriteString(star)
		case anyRune:
			expr.WriteString(`.`)
		case class:
			expr.WriteString(t.text)
		}
	}
	expr.WriteString(`\z`)
	return expr.String()
}

func alternatives(paths []string) string {
	longest := slices.Clone(paths)
	slices.SortStableFunc(longest, func(a, b string) int { return len(b) - len(a) })
	for i, p := range longest {
		longest[i] = regexp.QuoteMeta(p)
	}
	return strings.Join(longest, "|")
}

func show(part []piece) string {
	var b strings.Builder
	for _, t := range part {
		b.WriteString(t.String())
	}
	return b.String()
}

// String returns the pattern's paths below its root, one per line. It depends on the meaning
// of the pattern, not on its notation or its folder.
func (p *Pattern) String() string {
	var lines []string
	for _, g := range p.globs {
		lines = append(lines, g.String())
	}
	return strings.Join(lines, "\n")
}

func (g *glob) String() string {
	parts := []string{}
	if g.lead != "" {
		parts = append(parts, g.lead)
	}
	for _, s := range g.segments {
		parts = append(parts, show(s.pieces))
	}
	return strings.Join(parts, "/")
}

// setRoot sets the folder that all static folders share, and the path of each glob below it.
// Folders are compared as the job writes them, so a name does not depend on the path by which
// the job file was opened.
func (p *Pattern) setRoot(folder string, statics []string) error {
	prefix, first := cutScheme(statics[0])
	common := folders(first)
	for _, s := range statics[1:] {
		other, rest := cutScheme(s)
		if other != prefix || strings.HasPrefix(rest, "/") != strings.HasPrefix(first, "/") {
			return fmt.Errorf("%s and %s have no folder in common", statics[0], s)
		}
		parts := folders(rest)
		n := 0
		for n < len(common) && n < len(parts) && common[n] == parts[n] {
			n++
		}
		common = common[:n]
	}
	root := strings.Join(common, "/")
	if strings.HasPrefix(first, "/") {
		root = "/" + root
	}
	if root == "" {
		root = "."
	}
	p.Root = resolve(folder, prefix+root)
	for i, s := range statics {
		_, rest := cutScheme(s)
		p.globs[i].lead = strings.Join(folders(rest)[len(common):], "/")
	}
	return nil
}

// folders cuts a clean path into its parts.
func folders(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

// Globs returns the paths, with wildcards, of all files that the days and kinds can have. An
// empty kinds means all kinds.
func (p *Pattern) Globs(span behaviour.Span, kinds []int) []string {
	if len(kinds) == 0 {
		for i := range p.paths {
			kinds = append(kinds, i)
		}
	}
	var out []string
	seen := map[string]bool{}
	for i := range p.globs {
		for d := span.From; d <= span.To; d++ {
			for _, k := range kinds {
				if s := p.globs[i].at(d, p.paths[k]); !seen[s] {
					seen[s] = true
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// at returns g's path for a day and a behaviour. It keeps wildcards.
func (g *glob) at(d behaviour.Date, kind string) string {
	y, m, dd := d.Civil()
	name := g.base
	for _, s := range g.segments {
		var part strings.Builder
		for _, t := range s.pieces {
			switch t.kind {
			case year:
				fmt.Fprintf(&part, "%04d", y)
			case shortYear:
				fmt.Fprintf(&part, "%02d", y%100)
			case month:
				fmt.Fprintf(&part, "%02d", m)
			case day:
				fmt.Fprintf(&part, "%02d", dd)
			case behaviourName:
				part.WriteString(kind)
			default:
				part.WriteString(t.String())
			}
		}
		name = join(name, part.String())
	}
	return name
}
