package jobdraft

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"usertrail/internal/format/record"
)

// A class is a set of files that are written alike: their paths have the same words, and their
// samples the same format and encoding.
type class struct {
	key      string // placed.words of its files
	samples  []*sample
	format   format
	encoding string // empty if all samples are ASCII
	strays   bool   // most files of the key are in another class
}

// A group is a set of classes of one format and encoding. One job can load it.
type group struct {
	format   format
	encoding string
	classes  []*class
}

// code returns the encoding of a sample, empty if every encoding reads it alike.
func (s *sample) code() string {
	if s.ascii {
		return ""
	}
	return cmp.Or(s.encoding, "utf-8")
}

// groupsOf puts samples into groups, the group that a draft describes first: its files have
// times, or else there are more of them.
func groupsOf(samples []*sample) []*group {
	var groups []*group
	for _, c := range classesOf(samples) {
		i := slices.IndexFunc(groups, func(g *group) bool { return g.accepts(c) })
		if i < 0 {
			groups = append(groups, &group{format: c.format, encoding: c.encoding})
			i = len(groups) - 1
		}
		groups[i].add(c)
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Or(-cmp.Compare(min(1, a.format.times), min(1, b.format.times)), -cmp.Compare(a.weight(), b.weight()))
	})
	return groups
}

// weight returns the size of the samples of a group.
func (g *group) weight() int {
	n := 0
	for _, c := range g.classes {
		for _, s := range c.samples {
			n += len(s.text)
		}
	}
	return n
}

// classesOf puts samples into classes, those with the clearest formats first.
func classesOf(samples []*sample) []*class {
	byKey := map[string][]*sample{}
	for _, s := range samples {
		byKey[s.words()] = append(byKey[s.words()], s)
	}
	var out []*class
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		for i, alike := range byEncoding(byKey[key]) {
			for j, c := range split(key, alike) {
				c.strays = i+j > 0
				out = append(out, c)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *class) int {
		return cmp.Or(-cmp.Compare(a.format.times, b.format.times), -cmp.Compare(a.rows(), b.rows()))
	})
	return out
}

// rows returns the number of rows, or of lines, of a class's samples.
func (c *class) rows() int {
	n := 0
	for _, s := range c.samples {
		n += max(len(s.rows), strings.Count(string(s.text), "\n"))
	}
	return n
}

// byEncoding separates samples of different encodings, the encoding of most of them first.
func byEncoding(samples []*sample) [][]*sample {
	byCode := map[string][]*sample{}
	for _, s := range samples {
		byCode[s.code()] = append(byCode[s.code()], s)
	}
	codes := slices.SortedStableFunc(maps.Keys(byCode), func(a, b string) int {
		return cmp.Or(-cmp.Compare(len(byCode[a]), len(byCode[b])), cmp.Compare(a, b))
	})
	if i := slices.Index(codes, ""); i >= 0 && len(codes) > 1 {
		codes = slices.Delete(codes, i, i+1)
		byCode[codes[0]] = append(byCode[codes[0]], byCode[""]...)
	}
	var out [][]*sample
	for _, code := range codes {
		out = append(out, byCode[code])
	}
	return out
}

// split finds the format of samples with one key and encoding. Samples that it does not fit
// are a class of their own.
func split(key string, samples []*sample) []*class {
	c := &class{key: key, samples: samples, format: guessFormat(samples)}
	for _, s := range samples {
		c.encoding = cmp.Or(c.encoding, s.code())
	}
	fit := slices.DeleteFunc(slices.Clone(samples), func(s *sample) bool { return !c.format.fits(s) })
	if len(fit) == len(samples) || len(fit) == 0 {
		return []*class{c}
	}
	rest := slices.DeleteFunc(slices.Clone(samples), c.format.fits)
	return append(split(key, fit), split(key, rest)...)
}

// fits reports whether a format cuts a sample's lines into as many columns each, at least two.
func (f *format) fits(s *sample) bool {
	if f.syntax == record.JSONL {
		return isJSON(s)
	}
	rows, bad := f.rows(s, firstRows)
	width, n := usualWidth(rows)
	return width > 1 && float64(n) >= even*float64(len(rows)+bad) || len(rows)+bad == 0
}

// accepts reports whether a job for the group also reads a class.
func (g *group) accepts(c *class) bool {
	if g.encoding != "" && c.encoding != "" && g.encoding != c.encoding {
		return false
	}
	a, b := &g.format, &c.format
	if a.syntax != b.syntax || a.delimiter != b.delimiter {
		// A few lines fit many formats.
		if b.times > 0 && c.rows() > 1 || a.syntax == record.JSONL || slices.ContainsFunc(c.samples, func(s *sample) bool { return !a.fits(s) }) {
			return false
		}
	}
	return a.header == b.header || !b.told || !a.told
}

// add adds a class that the group accepts.
func (g *group) add(c *class) {
	g.classes = append(g.classes, c)
	g.encoding = cmp.Or(g.encoding, c.encoding)
	if !g.format.told && c.format.told {
		g.format.header, g.format.told, g.format.unsure = c.format.header, true, c.format.unsure
	}
	cut := c.samples
	if w := g.width(); w != g.format.width {
		g.format.readFirst(w)
		cut = g.samples()
	}
	for _, s := range cut {
		s.cut(&g.format)
	}
}

// width returns the number of columns that all classes have if a class has uneven lines, else 0.
func (g *group) width() int {
	if !slices.ContainsFunc(g.classes, func(c *class) bool { return c.format.width > 0 }) {
		return 0
	}
	least := math.MaxInt
	for _, c := range g.classes {
		least = min(least, c.width())
	}
	return least
}

// width returns the number of columns of a class.
func (c *class) width() int {
	var all [][]string
	for _, s := range c.samples {
		rows, _ := c.format.rows(s, firstRows)
		all = append(all, rows...)
	}
	n, _ := usualWidth(all)
	return cmp.Or(c.format.width, n)
}

// samples returns the samples of all classes.
func (g *group) samples() []*sample {
	var out []*sample
	for _, c := range g.classes {
		out = append(out, c.samples...)
	}
	return out
}

// An Other is a set of files that another job has to load, because a job has one format and
// encoding.
type Other struct {
	Files   int      `json:"files"`
	Example string   `json:"example"`        // the path of one of them
	Format  string   `json:"format"`         // how they are written
	Only    []string `json:"only,omitempty"` // patterns for Config.Only that select them; none if paths do not
}

// others describes the groups that the draft does not describe. files are all files.
func others(groups []*group, files []placed) []Other {
	var out []Other
	for _, g := range groups {
		o := Other{Format: g.title(), Example: g.classes[0].samples[0].rel}
		keys := map[string]bool{}
		for _, c := range g.classes {
			if c.strays {
				o.Files += len(c.samples)
			} else {
				keys[c.key] = true
			}
		}
		for i := range files {
			if keys[files[i].words()] {
				o.Files++
			}
		}
		o.Only = selecting(keys, files)
		out = append(out, o)
	}
	return out
}

// title describes how the files of a group are written.
func (g *group) title() string {
	f := &g.format
	title := string(f.syntax)
	if f.syntax == record.CSV && f.delimiter != "," || f.syntax == record.TSV && f.delimiter != "\t" {
		title += fmt.Sprintf(" with delimiter %q", f.delimiter)
	}
	if f.syntax != record.JSONL && f.header != (f.syntax == record.CSV || f.syntax == record.TSV) {
		title += map[bool]string{true: " with a header", false: " without a header"}[f.header]
	}
	if g.encoding != "" && g.encoding != "utf-8" {
		title += " in " + g.encoding
	}
	return title
}

// selecting returns patterns that match the files whose paths have the given words, and no
// others: the ending of their names, if no other file has it, or the whole paths.
func selecting(keys map[string]bool, files []placed) []string {
	endings := map[string]int{} // 1 for endings of the files, 2 for endings of other files, 3 for both
	globs := map[string]bool{}
	for i := range files {
		f := &files[i]
		ending := path.Ext(strings.TrimSuffix(path.Base(f.rel), f.ending)) + f.ending
		if keys[f.words()] {
			endings[ending] |= 1
			globs[globOf(f.words())+globEscape.ReplaceAllString(f.ending, `\$0`)] = true
		} else {
			endings[ending] |= 2
		}
	}
	var byEnding []string
	for ending, whose := range endings {
		if whose == 1 && ending != "" {
			byEnding = append(byEnding, "*"+globEscape.ReplaceAllString(ending, `\$0`))
		}
		if whose == 3 || whose == 1 && ending == "" {
			return slices.Sorted(maps.Keys(globs))
		}
	}
	slices.Sort(byEnding)
	return byEnding
}

var (
	globEscape = regexp.MustCompile(`[*?\[\\]`)
	globMarks  = regexp.MustCompile(opened + `[^` + closed + `]*` + closed + `|` + wild)
)

// globOf returns a pattern for paths with the same words.
func globOf(words string) string {
	return globMarks.ReplaceAllString(globEscape.ReplaceAllString(words, `\$0`), "*")
}
