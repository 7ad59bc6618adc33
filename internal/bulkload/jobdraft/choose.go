package jobdraft

import (
	"fmt"
	"slices"
	"strings"

	"usertrail/internal/format/record"
)

// A choice is what names the behaviours: a part of the paths, a column, or nothing.
type choice struct {
	named  []int // for each shape the part of its paths, -1 for a shape without one; nil if paths do not
	column int   // index in the sheet, or -1
}

// chooseKinds decides what names the behaviours. columns are those that may, the most likely
// first.
func (g *guessed) chooseKinds(columns []candidate) (choice, error) {
	c := choice{column: -1}
	if len(columns) > 0 && columns[0].score >= chosenKind {
		c.column = columns[0].at
	}
	var sure *candidate
	if len(columns) > 0 && columns[0].namesKinds() {
		sure = &columns[0]
	}
	var unsure string
	if c.named, unsure = g.chooseNames(sure); c.named != nil {
		if unsure != "" {
			return g.askKinds(c, columns, unsure)
		}
		c.column = -1
		return c, nil
	}
	columns = slices.DeleteFunc(slices.Clone(columns), func(c candidate) bool { return c.score < listedKind })
	switch {
	case c.column >= 0 && sure == nil:
		unsure = fmt.Sprintf("a guess: %s", columns[0].figures())
		if len(columns) > 1 {
			unsure += "; the column may also be " + listed(columns[1:])
		}
	case c.column < 0 && len(columns) > 0:
		unsure = "all records are one behaviour, because no column is known to name behaviours; it may be " + listed(columns)
	}
	if unsure != "" {
		return g.askKinds(c, columns, unsure)
	}
	return c, nil
}

// chooseNames finds, for each shape, which part of its paths names behaviours, or -1;
// nil if the paths do not. byColumn is a column that names behaviours by its own name, or nil.
// unsure is the reason why the choice is a guess.
func (g *guessed) chooseNames(byColumn *candidate) (named []int, unsure string) {
	shapes := g.arranged.shapes
	main := 0
	for i := range shapes {
		if shapes[i].files > shapes[main].files {
			main = i
		}
	}
	at, unsure := g.chooseIn(main, byColumn)
	if at < 0 {
		return nil, unsure
	}
	known := distinct(shapes[main].parts[at].names)
	named = make([]int, len(shapes))
	for i := range shapes {
		named[i] = -1
		if i == main {
			named[i] = at
			continue
		}
		best := 0
		for j := range shapes[i].parts {
			shapes[i].parts[j].cutNames(known)
			if n := inBoth(shapes[i].parts[j].names, known); n > best {
				best, named[i] = n, j
			}
		}
	}
	return named, unsure
}

// cutNames finds known names at the beginning of the words of a part that has one value.
func (p *part) cutNames(known []string) {
	if p.varies() {
		return
	}
	v := p.values[0]
	for _, name := range known {
		if i := strings.Index(v, name); i >= 0 && !strings.ContainsAny(v[:i], opened) {
			p.names, p.prefix, p.suffix = []string{name}, v[:i], v[i+len(name):]
			return
		}
	}
}

// inBoth returns how many names are in both lists.
func inBoth(a, b []string) int {
	n := 0
	for _, name := range distinct(a) {
		if slices.Contains(b, name) {
			n++
		}
	}
	return n
}

// chooseIn returns the index of the part of one shape that names behaviours, or -1. It is the
// part whose folder is called so, the part on which the columns depend, or the last part. If the
// columns depend on no part, byColumn names the behaviours. unsure is the reason why the choice is a guess.
func (g *guessed) chooseIn(shape int, byColumn *candidate) (at int, unsure string) {
	parts := g.arranged.shapes[shape].parts
	var may []int
	for i := range parts {
		if parts[i].mayName() {
			may = append(may, i)
		}
	}
	for _, i := range may {
		if parts[i].isKind() {
			return i, ""
		}
	}
	if len(may) == 0 {
		return -1, ""
	}
	decided := -1
	for _, i := range may {
		if g.decides(shape, i) {
			decided = i
		}
	}
	last := may[len(may)-1]
	switch {
	case byColumn != nil && (decided < 0 && !g.differ() || g.mixes(shape, last, byColumn)):
		return -1, ""
	case byColumn != nil && decided < 0:
		return -1, fmt.Sprintf("a guess: the column %s; the paths may name the behaviours, too: %s", byColumn.column, wordsOf(distinct(parts[last].names)))
	case decided >= 0:
		last = decided
	default:
		unsure = fmt.Sprintf("{behaviour} stands for %s; if these are no behaviours, write * in its place", wordsOf(distinct(parts[last].names)))
	}
	return last, unsure
}

// mixes reports whether files of JSON with one name in a part have several texts in a column
// that is called an event or an action. Their columns then differ because of these texts.
func (g *guessed) mixes(shape, part int, c *candidate) bool {
	if g.format.syntax != record.JSONL || hint(c.column, kindWords) >= slices.Index(kindWords, "type") {
		return false
	}
	texts := map[string]map[string]bool{}
	for _, s := range g.samples {
		name := g.arranged.shapes[shape].parts[part].nameOf(s.parts[part])
		if s.shape != shape {
			continue
		}
		if texts[name] == nil {
			texts[name] = map[string]bool{}
		}
		sheet := jsonSheet([]*sample{s})
		if at := slices.Index(sheet.columns, c.column); at >= 0 {
			for text := range sheet.countTexts(at) {
				texts[name][text] = true
			}
		}
	}
	for _, t := range texts {
		if len(t) < 2 {
			return false
		}
	}
	return true
}

// differ reports whether some samples have other columns than others.
func (g *guessed) differ() bool {
	first := g.looksOf(g.samples[0])
	return slices.ContainsFunc(g.samples, func(s *sample) bool { return g.looksOf(s) != first })
}

// looksOf returns a text that describes a sample's columns: samples with equal columns have
// equal texts.
func (g *guessed) looksOf(s *sample) string {
	switch {
	case g.format.syntax == record.JSONL:
		sheet := jsonSheet([]*sample{s})
		return strings.Join(distinct(sheet.columns), "\x00")
	case len(s.rows) == 0:
		return ""
	case g.format.header:
		return strings.Join(s.rows[0], "\x00")
	}
	width, _ := usualWidth(s.rows)
	return fmt.Sprint(width)
}

// decides reports whether the columns depend on the name in a part. Names that share a set of columns are alike, as two shops are, also
// if each gets a column later. The part decides if there are names that are not alike.
func (g *guessed) decides(shape, part int) bool {
	looks := map[string][]string{}
	for _, s := range g.samples {
		if s.shape != shape {
			continue
		}
		name := g.arranged.shapes[shape].parts[part].nameOf(s.parts[part])
		if look := g.looksOf(s); look != "" {
			looks[name] = append(looks[name], look)
		}
	}
	var alike [][]string
	for _, of := range looks {
		var rest [][]string
		for _, group := range alike {
			if inBoth(group, of) > 0 {
				of = append(of, group...)
			} else {
				rest = append(rest, group)
			}
		}
		alike = append(rest, of)
	}
	return len(alike) > 1
}
