package jobdraft

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
)

// A guessed is all that a draft says.
type guessed struct {
	found    found
	arranged *arrangement
	samples  []*sample // that could be read

	paths       []string // below the folder of the logs
	pathsUnsure []string
	format      format
	encoding    string
	encUnsure   bool
	nulls       []string
	zone        string
	zoneUnsure  string
	slack       int // 0 is the default
	kindColumn  string
	texts       map[string]string // names of behaviours by text of the column, where they differ
	kinds       []kind
	notes       []string // what else to know
}

// A kind is a behaviour of the draft.
type kind struct {
	name     string
	path     string // the text for it in a path or in its column
	who      who
	when     when
	fields   []field
	partly   []string // columns that not all files have
	twice    []string // columns that a header names more than once
	nameless bool     // its columns have no names, and its fields' are made up
}

// A field is one of a behaviour's.
type field struct {
	name   string
	column string
	typ    behaviour.Type
	format string
	unsure string
}

// guess makes of paths and samples all that a draft says.
func guess(cfg Config, f found, a *arrangement, samples []*sample) *guessed {
	g := &guessed{found: f, arranged: a}
	for _, s := range samples {
		if s.bad != nil {
			g.notes = append(g.notes, "Could not be read: "+s.bad.Error())
			continue
		}
		g.samples = append(g.samples, s)
	}
	g.encoding, g.encUnsure = guessEncoding(g.samples)
	for _, s := range g.samples {
		if err := s.decode(g.encoding); err != nil {
			g.notes = append(g.notes, fmt.Sprintf("%s: %v", s.name, err))
		}
	}
	g.format = guessFormat(g.samples, cfg.Records)
	named := g.chooseNames()
	if named == nil {
		g.byColumnOrAlone(cfg)
	} else {
		g.byPath(cfg, named)
	}
	g.agreeCase()
	g.agreeTypes()
	g.guessZone(cfg)
	g.guessSlack()
	return g
}

// chooseNames finds, for each shape, which part of its paths names behaviours, or -1;
// nil if the paths do not.
func (g *guessed) chooseNames() []int {
	shapes := g.arranged.shapes
	main := 0
	for i := range shapes {
		if shapes[i].files > shapes[main].files {
			main = i
		}
	}
	at := g.chooseIn(main)
	if at < 0 {
		return nil
	}
	known := distinct(shapes[main].parts[at].names)
	named := make([]int, len(shapes))
	for i := range shapes {
		named[i] = -1
		if i == main {
			named[i] = at
			continue
		}
		best := 0
		for j := range shapes[i].parts {
			shapes[i].parts[j].take(known)
			if n := common2(shapes[i].parts[j].names, known); n > best {
				best, named[i] = n, j
			}
		}
	}
	return named
}

// take finds known names at the beginning of the words of a part that has one value.
func (p *part) take(known []string) {
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

// common2 is how many of two lists' names are the same.
func common2(a, b []string) int {
	n := 0
	for _, name := range distinct(a) {
		if slices.Contains(b, name) {
			n++
		}
	}
	return n
}

// chooseIn finds the part of one shape that names behaviours, or -1: the one that
// says so, the one on which the columns depend, or the last.
func (g *guessed) chooseIn(shape int) int {
	parts := g.arranged.shapes[shape].parts
	var may []int
	for i := range parts {
		if parts[i].mayName() {
			may = append(may, i)
		}
	}
	for _, i := range may {
		if parts[i].says() {
			return i
		}
	}
	if len(may) == 0 {
		return -1
	}
	looks, decided := map[string]bool{}, -1
	for _, s := range g.samples {
		looks[g.looksOf(s)] = true
	}
	for _, i := range may {
		if len(looks) > 1 && g.decides(shape, i) {
			decided = i
		}
	}
	last := may[len(may)-1]
	switch {
	case decided >= 0:
		last = decided
	case len(looks) == 1 && g.wholeSheet().kindColumn() >= 0:
		return -1
	case len(may) > 1 || len(looks) == 1:
		g.pathsUnsure = append(g.pathsUnsure, fmt.Sprintf("{behaviour} stands for %s; if these are no behaviours, write * in its place", wordsOf(distinct(parts[last].names))))
	}
	return last
}

// looksOf returns a text that describes a sample's columns: samples with equal columns have
// equal texts.
func (g *guessed) looksOf(s *sample) string {
	switch {
	case g.format.syntax == record.JSONL:
		sheet := jsonSheet([]*sample{s}, 1)
		return strings.Join(distinct(sheet.columns), "\x00")
	case len(s.rows) == 0:
		return ""
	case g.format.header:
		return strings.Join(s.rows[0], "\x00")
	}
	width, _ := usualWidth(s.rows)
	return fmt.Sprint(width)
}

// decides reports whether files with one name in a part all have the same columns.
func (g *guessed) decides(shape, part int) bool {
	looks := map[string]string{}
	for _, s := range g.samples {
		if s.shape != shape {
			continue
		}
		name := g.arranged.shapes[shape].parts[part].nameOf(s.parts[part])
		look := g.looksOf(s)
		if was, ok := looks[name]; ok && was != look {
			return false
		}
		looks[name] = look
	}
	return true
}

func (g *guessed) wholeSheet() *sheet { return g.format.sheetOf(g.samples, len(g.samples)*1<<20) }

// byPath makes the kinds that paths name.
func (g *guessed) byPath(cfg Config, named []int) {
	samples := map[string][]*sample{}
	for _, s := range g.samples {
		if at := named[s.shape]; at >= 0 {
			name := g.arranged.shapes[s.shape].nameIn(at, s.parts[at])
			samples[name] = append(samples[name], s)
		}
	}
	texts := map[string]bool{}
	for i := range g.arranged.shapes {
		s := &g.arranged.shapes[i]
		if named[i] < 0 {
			g.notes = append(g.notes, fmt.Sprintf("Left out, because their paths name no behaviour: %s such as %s", english.Plural(s.files, "file", ""), g.example(i)))
			continue
		}
		g.paths = append(g.paths, s.paths(named[i])...)
		for _, n := range s.parts[named[i]].names {
			texts[n] = true
		}
	}
	all := slices.Sorted(maps.Keys(texts))
	if len(all) > behaviour.MaxKinds {
		g.notes = append(g.notes, fmt.Sprintf("A table holds %d behaviours at most, and the paths name %d: %s are left out", behaviour.MaxKinds, len(all), wordsOf(all[behaviour.MaxKinds:])))
		all = all[:behaviour.MaxKinds]
	}
	names := kindNames(all)
	for i, text := range all {
		k := kind{name: names[i], path: text}
		if len(samples[text]) > 0 {
			k.read(g, g.format.sheetOf(samples[text], cfg.Records), -1)
		} else {
			g.notes = append(g.notes, fmt.Sprintf("%s: all of its files are empty, so that nothing is known of its columns", text))
		}
		g.kinds = append(g.kinds, k)
	}
}

// nameIn is the name in a part's value.
func (s *shape) nameIn(at int, value string) string {
	p := &s.parts[at]
	if !p.varies() && len(p.names) > 0 {
		return p.names[0]
	}
	return p.nameOf(value)
}

// example is a file of a shape.
func (g *guessed) example(shape int) string {
	for i := range g.arranged.files {
		if f := &g.arranged.files[i]; f.shape == shape {
			return f.rel
		}
	}
	return ""
}

// byColumnOrAlone makes the kinds that a column names, or the only one.
func (g *guessed) byColumnOrAlone(cfg Config) {
	for i := range g.arranged.shapes {
		g.paths = append(g.paths, g.arranged.shapes[i].paths(-1)...)
	}
	s := g.format.sheetOf(g.samples, cfg.Records)
	at := s.kindColumn()
	if at < 0 {
		k := kind{name: g.onlyName(cfg)}
		k.read(g, s, -1)
		g.kinds = []kind{k}
		return
	}
	g.kindColumn = s.columns[at]
	var texts []string
	for _, t := range s.texts(at) {
		texts = append(texts, t.text)
	}
	texts = distinct(texts)
	g.texts = map[string]string{}
	for i, name := range kindNames(texts) {
		k := kind{name: name, path: texts[i]}
		if name != texts[i] {
			g.texts[texts[i]] = name
		}
		k.read(g, s.where(at, texts[i]), at)
		g.kinds = append(g.kinds, k)
	}
	g.notes = append(g.notes, fmt.Sprintf("The behaviours are those that %s names in the sample; records of others are skipped", g.kindColumn))
}

// generic are words that do not describe the content of a file.
var generic = []string{"part", "data", "log", "logs", "events", "event", "export", "csv", "tsv", "txt", "json", "jsonl", "ndjson", "dat", "out", "all", "file", "records", "dump"}

// onlyName returns a name for the only behaviour: a word of its files' names, or
// of the folders above.
func (g *guessed) onlyName(cfg Config) string {
	var parts []string
	for _, p := range g.arranged.shapes[0].parts {
		parts = append(parts, p.values[0])
	}
	if !g.found.single {
		parts = append([]string{dfs.Base(cfg.Logs)}, parts...)
	}
	for _, p := range slices.Backward(parts) {
		p = strings.TrimSuffix(p, path.Ext(p))
		for _, w := range words.FindAllString(p, -1) {
			if letter.MatchString(w) && !strings.ContainsAny(w, opened+wild) && !slices.Contains(generic, strings.ToLower(w)) && !strings.Contains(w, "=") {
				return kindNames([]string{w})[0]
			}
		}
	}
	return "event"
}

// kindNames are names of behaviours for texts, each of them once.
func kindNames(texts []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, t := range texts {
		name := strings.Trim(fieldName.ReplaceAllString(t, "_"), "_")
		if name == "" {
			name = "behaviour"
		}
		if !letter.MatchString(string([]rune(name)[:1])) {
			name = "b_" + name
		}
		out = append(out, unlike(name, seen))
	}
	return out
}

// unlike is name, with a number where it is seen already.
func unlike(name string, seen map[string]bool) string {
	out := name
	for n := 2; seen[behaviour.Fold(out)]; n++ {
		out = fmt.Sprintf("%s_%d", name, n)
	}
	seen[behaviour.Fold(out)] = true
	return out
}

// read finds the user, the time and the fields among a sheet's columns. kindAt is the column
// that names the behaviour, or -1.
func (k *kind) read(g *guessed, s *sheet, kindAt int) {
	var columns []column
	for i := range s.columns {
		columns = append(columns, s.columnOf(i))
	}
	k.partly, k.twice, k.nameless = s.partly, s.twice, s.numbers
	k.when = s.whenOf(columns, &g.format)
	if k.when.column != "" && !record.FormatHasYear(k.when.format) {
		k.when.noYear = slices.Contains(s.days, nil)
	}
	taken := slices.Clone(k.when.taken)
	if kindAt >= 0 {
		taken = append(taken, kindAt)
	}
	k.who = s.whoOf(columns, taken)
	if k.who.taken >= 0 {
		taken = append(taken, k.who.taken)
	}
	names := map[string]bool{}
	for i, c := range columns {
		if slices.Contains(taken, i) || c.filled == 0 && kindAt >= 0 {
			continue
		}
		name := c.field
		if s.numbers {
			name = k.name + "_" + strings.TrimPrefix(c.name, "$")
		}
		f := field{name: unlike(name, names), column: c.name, typ: c.typ, unsure: c.unsure}
		if f.typ == behaviour.Timestamp || f.typ == behaviour.Day {
			f.format = c.times[0].format
			if !record.FormatHasYear(f.format) {
				f.typ, f.format = behaviour.String, ""
			}
		}
		k.fields = append(k.fields, f)
		for _, n := range c.nulls {
			if !slices.Contains(g.nulls, n) {
				g.nulls = append(g.nulls, n)
			}
		}
	}
	if g.format.syntax == record.JSONL {
		g.nulls = nil
	}
}

// agreeCase gives one name to fields of several behaviours whose names differ only in case:
// the name of the first.
func (g *guessed) agreeCase() {
	names := map[string]string{}
	for i := range g.kinds {
		for j := range g.kinds[i].fields {
			f := &g.kinds[i].fields[j]
			fold := behaviour.Fold(f.name)
			if _, ok := names[fold]; !ok {
				names[fold] = f.name
			}
			f.name = names[fold]
		}
	}
}

// agreeTypes gives a field that several behaviours have one type.
func (g *guessed) agreeTypes() {
	types := map[string]field{}
	for _, k := range g.kinds {
		for _, f := range k.fields {
			was, ok := types[f.name]
			switch {
			case !ok, was.unsure != "" && f.unsure == "":
				types[f.name] = f
			case f.unsure != "" || was.typ == f.typ && was.format == f.format:
			default:
				was.typ, was.format = wider(was, f), ""
				was.unsure = "behaviours differ in it"
				types[f.name] = was
			}
		}
	}
	for i := range g.kinds {
		for j := range g.kinds[i].fields {
			f := &g.kinds[i].fields[j]
			t := types[f.name]
			f.typ = t.typ
			if t.typ == behaviour.Timestamp || t.typ == behaviour.Day {
				f.format = t.format
			} else {
				f.format = ""
			}
			if t.unsure != "" {
				f.unsure = t.unsure
			}
		}
	}
}

// wider is a type that holds the values of both fields.
func wider(a, b field) behaviour.Type {
	number := func(t behaviour.Type) bool { return t == behaviour.Int64 || t == behaviour.Double }
	if number(a.typ) && number(b.typ) {
		return behaviour.Double
	}
	return behaviour.String
}

// guessZone guesses the zone of times and dates.
func (g *guessed) guessZone(cfg Config) {
	if g.zone = cfg.Zone; g.zone != "" {
		return
	}
	g.zone = "UTC"
	zoned, clock, days := true, false, 0
	hours, offsets := map[int]int{}, map[int64]int{}
	for _, k := range g.kinds {
		if k.when.column == "" {
			continue
		}
		zoned, clock = zoned && k.when.zoned, clock || k.when.clock
		for h, n := range k.when.hours {
			hours[h] += n
		}
		for o, n := range k.when.offsets {
			offsets[o] += n
		}
		days += k.when.read
	}
	if !zoned || days == 0 {
		if g.zoneUnsure = "the times name no zone: say whose clocks they are of, such as Asia/Shanghai; the zone of a table never changes"; !clock && days > 0 {
			g.zoneUnsure = "the times are days: say of which zone; the zone of a table never changes"
		}
		return
	}
	best := 0
	for h := -12; h <= 14; h++ {
		if hours[h] > hours[best]+days/100 {
			best = h
		}
	}
	switch {
	case len(hours) > 0:
		if g.zone = zoneAt(best); best == 0 {
			g.zoneUnsure = "by UTC the times are of the days of their paths; say whose days these are"
		} else {
			g.zoneUnsure = fmt.Sprintf("%+d hours from UTC the times are of the days of their paths; say whose days these are", best)
		}
	case len(offsets) == 1:
		for o := range offsets {
			g.zone = zoneAt(int(o / 3600))
		}
		g.zoneUnsure = "by this zone the table's dates are told"
	default:
		g.zoneUnsure = "by this zone the table's dates are told"
	}
}

// maxSlack is up to how many days off a path's day is taken for late records; beyond
// it, the path tells something else.
const maxSlack = 31

// guessSlack judges records that are not of the days of their paths.
func (g *guessed) guessSlack() {
	furthest, outside := 0, 0
	for _, k := range g.kinds {
		if k.when.outside*100 > k.when.read {
			furthest, outside = max(furthest, k.when.furthest), outside+k.when.outside
		}
	}
	switch {
	case outside == 0:
	case furthest <= maxSlack:
		g.slack = furthest
		g.pathsUnsure = append(g.pathsUnsure, fmt.Sprintf("records are up to %d days off the day of their path, which slack allows", furthest))
	default:
		for i, p := range g.paths {
			g.paths[i] = dayless(p)
		}
		g.pathsUnsure = append(g.pathsUnsure, fmt.Sprintf("%s in a path is not the day of its records, which are up to %d days off: * stands for it, and every load reads all files", g.arranged.dayText, furthest))
		for i := range g.kinds {
			w := &g.kinds[i].when
			w.noYear = w.column != "" && !record.FormatHasYear(w.format)
		}
	}
	g.paths = slices.Compact(slices.Sorted(slices.Values(g.paths)))
	if g.arranged.daysUnsure && slices.ContainsFunc(g.paths, func(p string) bool { return strings.Contains(p, "{date") }) && outside == 0 {
		if !g.near() {
			g.pathsUnsure = append(g.pathsUnsure, fmt.Sprintf("%s may be written another way round", g.arranged.dayText))
		}
	}
}

// near reports whether times are near the days of the paths, so that they tell the days.
func (g *guessed) near() bool {
	return slices.ContainsFunc(g.kinds, func(k kind) bool { return k.when.near() && k.when.column != "" })
}

// usual is the value that most have, the first of those where it is a tie.
func usual[T any, K cmp.Ordered](all []T, key func(T) K) (first T) {
	count := map[K]int{}
	for _, v := range all {
		count[key(v)]++
	}
	best := 0
	for _, v := range all {
		if n := count[key(v)]; n > best {
			best, first = n, v
		}
	}
	return first
}
