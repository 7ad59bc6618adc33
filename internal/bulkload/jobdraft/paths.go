package jobdraft

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"usertrail/internal/behaviour"
	"usertrail/internal/run/visible"
)

// In a marked path, placeholders are between opened and closed, and wild marks a place where
// paths vary by numbers that have no meaning for a job.
const (
	opened = "\x02"
	closed = "\x03"
	wild   = "\x04"
)

var marks = strings.NewReplacer("{", opened, "}", closed)

// mark returns text with its placeholders in the form of marked paths.
func mark(text string) string { return marks.Replace(text) }

// packed are the endings of compressed files.
var packed = []string{".gz", ".zst", ".bz2"}

// cutWords cuts a part of a marked path into placeholders, wildcards, words, and the
// characters between them. It is called several times for each of very many files.
func cutWords(part string) []string {
	const between = "-_.=@+ "
	var out []string
	for part != "" {
		n := 1
		switch {
		case part[0] == opened[0]:
			n = strings.Index(part, closed) + 1
		case part[0] != wild[0] && strings.IndexByte(between, part[0]) < 0:
			if n = strings.IndexAny(part, between+opened+wild); n < 0 {
				n = len(part)
			}
		}
		out = append(out, part[:max(1, n)])
		part = part[max(1, n):]
	}
	return out
}

// number matches a word that only numbers files: digits, a time of day, a digest.
var number = regexp.MustCompile(`^([0-9]+[Zz]?|[Tt][0-9]{2,6}[Zz]?|[Tt]?[0-9]{2}:[0-9]{2}(:[0-9]{2})?[Zz]?|[0-9]{1,2}[hH]([0-9]{2}([mM]([0-9]{2}[sS]?)?)?)?|[0-9]{1,2}[AaPp][Mm]|[0-9a-f]{8,}|[cr][0-9]{3,})$`)

// shortDigest matches a word that may be the beginning of a digest.
var shortDigest = regexp.MustCompile(`^[0-9a-f]{6,7}$`)

// isNumber reports whether a word only numbers files.
func isNumber(word string) bool {
	if !strings.ContainsAny(word, "0123456789") {
		return false
	}
	return number.MatchString(word) || shortDigest.MatchString(word) && len(digits.FindAllString(word, -1)) > 1
}

// A placed is a file with the information from its path.
type placed struct {
	file
	parts   []string        // of its marked path, without the ending of a compression
	ending  string          // of its compression
	day     *behaviour.Date // nil if the path has none
	dayText string          // of day, in the notation of a job
	lost    bool            // the path has a day in a form that a job does not read
	shape   int             // index in arrangement.shapes
}

// words returns the path with all its words, but without days and numbers.
func (p *placed) words() string { return strings.Join(p.parts, "/") }

// A shape is the common form of the paths of many files: the same number of folders, and
// days in the same places. It becomes one path of a job, or one for each compression.
type shape struct {
	parts   []part
	endings []string
	files   int
}

// A part is the part of a shape's paths between two slashes.
type part struct {
	values         []string // all values of the part, marked
	prefix, suffix string   // shared by all values
	names          []string // for each value the name in it, nil unless each has one
	rest           bool     // other characters follow the names
}

// varies reports whether the part has more than one value.
func (p *part) varies() bool { return len(p.values) > 1 }

// An arrangement holds the information from the paths of all files.
type arrangement struct {
	files      []placed
	shapes     []shape
	daysUnsure bool
	daysEqual  bool   // days in another order are the same days: 05-05-2014
	dayText    string // the first day in a path, in the notation of a job
}

// arrange finds the common forms of the paths of files.
func arrange(files []file) *arrangement {
	a := &arrangement{}
	var spelling *daySpelling
	spelling, a.daysUnsure, a.daysEqual = chooseDays(files)
	byKey := map[string]int{}
	values := [][]map[string]bool{}
	placed := make([]placed, len(files))
	for i, f := range files {
		placed[i] = place(f, spelling)
	}
	c := calendarOf(placed)
	for _, p := range placed {
		c.markIn(&p)
		if p.day != nil && a.dayText == "" {
			a.dayText = p.dayText
		}
		key := skeleton(p.parts)
		i, ok := byKey[key]
		if !ok {
			i = len(a.shapes)
			byKey[key] = i
			a.shapes = append(a.shapes, shape{parts: make([]part, len(p.parts))})
			values = append(values, make([]map[string]bool, len(p.parts)))
		}
		p.shape = i
		s := &a.shapes[i]
		s.files++
		if !slices.Contains(s.endings, p.ending) {
			s.endings = append(s.endings, p.ending)
		}
		for j, text := range p.parts {
			if values[i][j] == nil {
				values[i][j] = map[string]bool{}
			}
			values[i][j][text] = true
		}
		a.files = append(a.files, p)
	}
	for i := range a.shapes {
		slices.Sort(a.shapes[i].endings)
		for j := range a.shapes[i].parts {
			a.shapes[i].parts[j] = newPart(slices.Sorted(maps.Keys(values[i][j])))
		}
	}
	return a
}

// place marks the parts of a file's path that vary.
func place(f file, spelling *daySpelling) placed {
	p := placed{file: f}
	rel := f.rel
	if e := path.Ext(rel); slices.Contains(packed, strings.ToLower(e)) {
		p.ending, rel = e, strings.TrimSuffix(rel, e)
	}
	if marked, ok := markSpan(rel); ok {
		rel, p.lost = marked, true
	} else if spelling != nil {
		marked, day, ok := spelling.markDays(rel)
		if rel = marked; ok {
			d := behaviour.DateOf(day.day.Date())
			p.day, p.dayText = &d, day.text
		}
	}
	if p.day == nil && !p.lost {
		rel, p.lost = markLostDay(rel)
	}
	for text := range strings.SplitSeq(rel, "/") {
		cut := cutWords(text)
		for i, w := range cut {
			if isNumber(w) {
				cut[i] = wild
			} else {
				cut[i] = markNumbers(w, p.day)
			}
		}
		p.parts = append(p.parts, strings.Join(cut, ""))
	}
	return p
}

// skeleton returns the places of days in a path, as a text.
func skeleton(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		for _, w := range cutWords(p) {
			if strings.HasPrefix(w, opened) {
				b.WriteString(w)
			}
		}
		b.WriteByte('/')
	}
	return b.String()
}

// newPart finds the common prefix and suffix of the values of a part, and the names in them.
func newPart(values []string) part {
	p := part{values: values}
	if len(values) < 2 {
		return p
	}
	cut := make([][]string, len(values))
	for i, v := range values {
		cut[i] = cutWords(v)
	}
	first := cut[0]
	before := len(first)
	for _, c := range cut[1:] {
		n := 0
		for n < before && n < len(c) && c[n] == first[n] {
			n++
		}
		before = n
	}
	if p.nameAfter(cut, before) {
		return p
	}
	// One name may be the beginning of all others: login and login-failed.
	if at := lastWord(first[:before]); at >= 0 && p.begins(cut, before) {
		if q := (part{values: values}); q.nameAfter(cut, at) {
			return q
		}
	}
	return p
}

// nameAfter finds the suffix and the names of values that are cut into words and share the first words. It reports whether each value
// has a name.
func (p *part) nameAfter(cut [][]string, before int) bool {
	first := cut[0]
	after := len(first) - before
	for _, c := range cut {
		n := 0
		for n < after && n < len(c)-before && c[len(c)-1-n] == first[len(first)-1-n] {
			n++
		}
		after = n
	}
	p.prefix, p.suffix = strings.Join(first[:before], ""), strings.Join(first[len(first)-after:], "")
	for _, c := range cut {
		name, rest := leadingName(c[before : len(c)-after])
		if name == "" {
			p.names = nil
			return false
		}
		p.names, p.rest = append(p.names, name), p.rest || rest
	}
	return true
}

// begins reports whether the shared words are one of the values, apart from the suffix, and all others continue them by a name.
func (p *part) begins(cut [][]string, before int) bool {
	whole := 0
	for _, c := range cut {
		rest := strings.TrimSuffix(strings.Join(c[before:], ""), p.suffix)
		switch name, _ := leadingName(cutWords(rest)); {
		case rest == "":
			whole++
		case name == "":
			return false
		}
	}
	return whole == 1
}

// lastWord returns the index of the last of words with a letter, -1 if there is none or if a placeholder or wildcard follows it.
func lastWord(words []string) int {
	for i := len(words) - 1; i >= 0; i-- {
		switch {
		case strings.ContainsAny(words[i], opened+wild):
			return -1
		case letter.MatchString(words[i]):
			return i
		}
	}
	return -1
}

var letter = regexp.MustCompile(`\p{L}`)

// leadingName returns the words up to the first placeholder or wildcard, and whether
// something follows them.
func leadingName(words []string) (name string, rest bool) {
	n := 0
	for n < len(words) && !strings.ContainsAny(words[n], opened+wild) {
		n++
	}
	name = strings.TrimRight(strings.Join(words[:n], ""), "-_.=@+ ")
	if !letter.MatchString(name) {
		return "", true
	}
	return name, strings.Join(words, "") != name
}

// nameOf returns the name in one of the part's values, or "".
func (p *part) nameOf(value string) string {
	if i := slices.Index(p.values, value); i >= 0 && p.names != nil {
		return p.names[i]
	}
	return ""
}

// mayName reports whether the part's names may be names of behaviours: there are few, and
// they differ in more than numbers.
func (p *part) mayName() bool {
	if !p.varies() || p.names == nil {
		return false
	}
	names := len(distinct(p.names))
	return names > 1 && names <= behaviour.MaxKinds && len(p.stems()) > 1
}

// stems returns the part's names without their numbers, each of them once.
func (p *part) stems() []string {
	var out []string
	for _, n := range p.names {
		out = append(out, digits.ReplaceAllString(n, ""))
	}
	return distinct(out)
}

// numbered reports whether the part's names differ only in numbers.
func (p *part) numbered() bool { return len(distinct(p.names)) > 1 && len(p.stems()) == 1 }

// common returns the text that all values of the part have. It has no numbers in which they differ.
func (p *part) common() string {
	switch {
	case !p.varies():
		return p.values[0]
	case p.numbered():
		return p.prefix + p.stems()[0] + p.suffix
	}
	return p.prefix + p.suffix
}

// isKind reports whether a folder's own name shows that its values are behaviours, as in
// event=play.
func (p *part) isKind() bool {
	key, _, ok := strings.Cut(strings.ToLower(p.prefix), "=")
	return ok && slices.Contains(kindWords, key)
}

// distinct returns texts without repetitions, in order.
func distinct(texts []string) []string {
	out := slices.Clone(texts)
	slices.Sort(out)
	return slices.Compact(out)
}

// escape returns a marked text as a piece of a job's path.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case strings.ContainsRune(`*?[{}\`, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case string(r) == opened:
			b.WriteByte('{')
		case string(r) == closed:
			b.WriteByte('}')
		case string(r) == wild:
			b.WriteByte('*')
		default:
			b.WriteRune(r)
		}
	}
	return stars.ReplaceAllString(b.String(), "*")
}

var stars = regexp.MustCompile(`\*\*+`)

// text returns the part for a job's path. named is set if its names are behaviours.
func (p *part) text(named bool) string {
	switch {
	case !p.varies():
		return escape(p.values[0])
	case named && p.rest:
		return stars.ReplaceAllString(escape(p.prefix)+"{behaviour}*"+escape(p.suffix), "*")
	case named:
		return escape(p.prefix) + "{behaviour}" + escape(p.suffix)
	}
	return stars.ReplaceAllString(escape(p.prefix)+"*"+escape(p.suffix), "*")
}

// paths returns the shape's paths below the folder of the logs. named is the index of the
// part that names behaviours, or -1. If rooted is set, the first part of a path has a wildcard, so that the root of a job is
// the folder of the logs.
func (s *shape) paths(named int, rooted bool) []string {
	var parts []string
	for i := range s.parts {
		parts = append(parts, s.parts[i].text(i == named))
	}
	if folder := s.topFolder(); rooted && folder != "" {
		parts[0] = asWildcard(folder)
	}
	var out []string
	for _, e := range s.endings {
		out = append(out, strings.Join(parts, "/")+escape(e))
	}
	return out
}

// topFolder returns the first folder of the shape's paths if it is the same one in all of them, "" otherwise.
func (s *shape) topFolder() string {
	if first := &s.parts[0]; len(s.parts) > 1 && !first.varies() && !strings.ContainsAny(first.values[0], opened+wild) {
		return first.values[0]
	}
	return ""
}

// asWildcard returns a piece of a job's path that matches one name only, but is a wildcard: [w]eb for web. A name without a
// letter or digit stays.
func asWildcard(name string) string {
	// A letter or digit has no meaning of its own in a set.
	at := strings.IndexFunc(name, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
	if at < 0 {
		return escape(name)
	}
	_, n := utf8.DecodeRuneInString(name[at:])
	return escape(name[:at]) + "[" + name[at:at+n] + "]" + escape(name[at+n:])
}

// dated reports whether a path of a job has a day.
func dated(path string) bool { return strings.Contains(path, "{date") }

// dayless returns a path without its days.
func dayless(path string) string {
	return stars.ReplaceAllString(regexp.MustCompile(`\{date[^}]*\}`).ReplaceAllString(path, "*"), "*")
}

// wordsOf returns the names of a part for a comment.
func wordsOf(names []string) string {
	const most = 6
	if len(names) > most {
		return fmt.Sprintf("%s and %d others", visible.List(names[:most]), len(names)-most)
	}
	return visible.List(names)
}
