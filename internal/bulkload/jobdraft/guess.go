package jobdraft

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
)

// A guessed is the content of a draft.
type guessed struct {
	cfg      Config
	found    found
	arranged *arrangement
	looked   int       // number of files that were read
	samples  []*sample // of the files that the draft describes

	paths       []string // below the folder of the logs
	pathsUnsure []string
	format      format
	encoding    string
	encUnsure   string
	nulls       []string
	zone        string
	zoneUnsure  string
	slack       int    // 0 is the default
	maxBad      string // "" is the default
	whyBad      string // the reasons of bad records, if maxBad is not the default
	user        string // the answer to a question
	kindColumn  string
	kindUnsure  string
	texts       map[string]string // names of behaviours by text of the column, where they differ
	kinds       []kind
	others      []Other
	left        []Left
	notes       []string         // what else to know
	skipped     map[string]int64 // records of the sample that a load skips, by reason
}

// A kind is a behaviour of the draft.
type kind struct {
	name       string
	path       string // the text for it in a path or in its column
	userSource userSource
	timeSource timeSource
	fields     []field
	partly     []string // columns that not all files have
	twice      []string // columns that a header names more than once
	unnamed    []string // the numbers of columns that have no name in a header
	nameless   bool     // its columns have no names, and its fields' are made up
}

// A field is one of a behaviour's.
type field struct {
	name   string
	column string
	typ    behaviour.Type
	format string
	unsure string
}

// A Left is a set of files that are no logs, and so left out of a draft.
type Left struct {
	Files   int    `json:"files"`
	Example string `json:"example"` // the path of one of them
	Why     string `json:"why"`
}

// guess makes the content of a draft from paths and samples.
func guess(cfg Config, f found, a *arrangement, samples []*sample) (*guessed, error) {
	g := &guessed{cfg: cfg, found: f, arranged: a}
	var read []*sample
	for _, s := range samples {
		if s.bad != nil {
			g.notes = append(g.notes, "Could not be read: "+s.bad.Error())
			continue
		}
		read = append(read, s)
	}
	g.looked = len(read)
	g.chooseGroup(read)
	if err := g.readKinds(); err != nil {
		return nil, err
	}
	g.agreeUsers()
	g.agreeCase()
	g.agreeTypes()
	if err := g.guessZone(); err != nil {
		return nil, err
	}
	g.guessSlack()
	g.doubtLostDays()
	g.doubtDigits()
	return g, g.askRest()
}

// chooseGroup decodes the samples, and keeps those that one job can read and that are logs.
func (g *guessed) chooseGroup(samples []*sample) {
	guessEncodings(samples)
	for _, s := range samples {
		if err := s.decode(); err != nil {
			g.notes = append(g.notes, fmt.Sprintf("%s: %v", s.name, err))
		}
	}
	groups := groupsOf(samples)
	main := groups[0]
	g.others = others(groups[1:], g.arranged.files)
	gone := map[string]bool{}
	for _, o := range groups[1:] {
		for _, c := range o.classes {
			gone[c.key] = gone[c.key] || !c.strays
		}
	}
	for _, key := range g.registers(main) {
		gone[key] = true
	}
	g.format = main.format
	if g.encoding = main.encoding; g.encoding == "utf-8" {
		g.encoding = ""
	}
	for _, s := range main.samples() {
		if !gone[s.words()] {
			g.samples = append(g.samples, s)
		}
	}
	g.judgeEncoding()
	g.leave(gone)
}

// registers removes the classes of a group that are no logs, and returns their keys. If no
// class is a log, it removes none.
func (g *guessed) registers(main *group) []string {
	why := map[string]string{}
	logs := 0
	for _, c := range main.classes {
		sheet := main.format.sheetOf(c.samples)
		columns := sheet.allColumns()
		w := sheet.timeSourceOf(columns, &main.format)
		if reason := sheet.isRegister(columns, &w); reason != "" && len(sheet.rows) > 0 {
			why[c.key] = reason
		} else {
			logs++
		}
	}
	if logs == 0 {
		return nil
	}
	keys := slices.Sorted(maps.Keys(why))
	for _, key := range keys {
		l := Left{Why: why[key]}
		for i := range g.arranged.files {
			if f := &g.arranged.files[i]; f.words() == key {
				if l.Files++; l.Files == 1 {
					l.Example = f.rel
				}
			}
		}
		g.left = append(g.left, l)
	}
	return keys
}

// judgeEncoding sets the comment on the encoding.
func (g *guessed) judgeEncoding() {
	if g.encoding != "" {
		if !strings.HasPrefix(g.encoding, "utf") {
			g.encUnsure = "a guess: check the decoded texts"
		}
		return
	}
	lines, invalid := 0, 0
	for _, s := range g.samples {
		for line := range bytes.Lines(s.text) {
			if lines++; !utf8.Valid(line) {
				invalid++
			}
		}
	}
	if invalid > 0 && !fewWrong(invalid, lines) {
		g.encUnsure = "some lines are not in it"
	}
}

// leave arranges the paths again without the files whose words are gone.
func (g *guessed) leave(gone map[string]bool) {
	if len(gone) == 0 {
		return
	}
	var kept []file
	for i := range g.arranged.files {
		if f := &g.arranged.files[i]; !gone[f.words()] {
			kept = append(kept, f.file)
		}
	}
	g.arranged = arrange(kept)
	byRel := map[string]*placed{}
	for i := range g.arranged.files {
		byRel[g.arranged.files[i].rel] = &g.arranged.files[i]
	}
	for _, s := range g.samples {
		s.placed = byRel[s.rel]
	}
}

// readKinds finds the behaviours, and the user, time and fields of each.
func (g *guessed) readKinds() error {
	sheet := g.format.sheetOf(g.samples)
	columns := sheet.allColumns()
	timeSource := sheet.timeSourceOf(columns, &g.format)
	choice, err := g.chooseKinds(sheet.kindsOf(columns, timeSource.taken))
	switch {
	case err != nil:
		return err
	case choice.named != nil:
		return g.byPath(choice.named)
	case choice.column >= 0:
		return g.byColumn(sheet, columns, timeSource, choice.column)
	}
	return g.alone(sheet, columns, timeSource)
}

// byPath makes the kinds that paths name.
func (g *guessed) byPath(named []int) error {
	samples := map[string][]*sample{}
	for _, s := range g.samples {
		if at := named[s.shape]; at >= 0 {
			name := g.arranged.shapes[s.shape].nameIn(at, s.parts[at])
			samples[name] = append(samples[name], s)
		}
	}
	g.setPaths(named)
	texts := map[string]bool{}
	for i := range g.arranged.shapes {
		s := &g.arranged.shapes[i]
		if named[i] < 0 {
			g.notes = append(g.notes, fmt.Sprintf("Left out, because their paths name no behaviour: %s such as %s", english.Plural(s.files, "file", ""), g.example(i)))
			continue
		}
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
	var finer []string
	for i, text := range all {
		k := kind{name: names[i], path: text}
		if len(samples[text]) > 0 {
			sheet := g.format.sheetOf(samples[text])
			columns := sheet.allColumns()
			w := sheet.timeSourceOf(columns, &g.format)
			if c, ok := sheet.finerKinds(columns, w.taken); ok {
				finer = append(finer, g.doubtKind(&c, samples[text]))
			}
			if err := k.read(g, sheet, columns, w); err != nil {
				return err
			}
		} else {
			g.notes = append(g.notes, fmt.Sprintf("%s: all of its files are empty, so that nothing is known of its columns", text))
		}
		g.kinds = append(g.kinds, k)
	}
	if len(finer) > 1 {
		finer[0] += fmt.Sprintf(" (and so in %s)", english.Plural(len(finer)-1, "other behaviour", ""))
	}
	if len(finer) > 0 {
		g.pathsUnsure = append(g.pathsUnsure, finer[0])
	}
	return nil
}

// doubtKind returns the comment that a column may name the behaviours of the files of samples, and not their paths.
func (g *guessed) doubtKind(c *candidate, samples []*sample) string {
	keys := map[string]bool{}
	for _, s := range samples {
		keys[s.words()] = true
	}
	var only []string
	for _, pattern := range selecting(keys, g.arranged.files) {
		only = append(only, "--only '"+pattern+"'")
	}
	return fmt.Sprintf("the paths name the behaviours; in files such as %s the column %s may name them (%s): init with %s drafts a job of such files", samples[0].rel, c.column, c.figures(), strings.Join(only, " "))
}

// nameIn returns the name in a part's value.
func (s *shape) nameIn(at int, value string) string {
	p := &s.parts[at]
	if !p.varies() && len(p.names) > 0 {
		return p.names[0]
	}
	return p.nameOf(value)
}

// example returns a file of a shape.
func (g *guessed) example(shape int) string {
	for i := range g.arranged.files {
		if f := &g.arranged.files[i]; f.shape == shape {
			return f.rel
		}
	}
	return ""
}

// byColumn makes the kinds that a column names. They have one user and one time, and a kind
// has the fields that are filled in some of its rows.
func (g *guessed) byColumn(s *sheet, columns []column, w timeSource, at int) error {
	g.setPaths(nil)
	g.kindColumn = s.columns[at]
	texts := slices.Sorted(maps.Keys(s.countTexts(at)))
	g.texts = map[string]string{}
	user, err := g.chooseUser(s, columns, append(slices.Clone(w.taken), at), "the records")
	if err != nil {
		return err
	}
	for i, name := range kindNames(texts) {
		k := kind{name: name, path: texts[i], userSource: user, timeSource: w}
		if name != texts[i] {
			g.texts[texts[i]] = name
		}
		k.readFields(g, s, columns, append(slices.Clone(w.taken), at, user.taken), s.filledWhere(at, texts[i]))
		k.partly, k.twice, k.unnamed = nil, nil, nil
		g.kinds = append(g.kinds, k)
	}
	if len(s.partly) > 0 {
		g.notes = append(g.notes, "Columns that not all files have, and so left out: "+wordsOf(s.partly))
	}
	if len(s.twice) > 0 {
		g.notes = append(g.notes, "Columns that a header names twice, and so left out: "+wordsOf(s.twice))
	}
	if len(s.unnamed) > 0 {
		g.notes = append(g.notes, "Columns without a name in the header, and so left out: "+wordsOf(s.unnamed))
	}
	g.notes = append(g.notes, fmt.Sprintf("The behaviours are those that %s names in the sample; records of others are skipped", g.kindColumn))
	return nil
}

// alone makes the only kind.
func (g *guessed) alone(s *sheet, columns []column, w timeSource) error {
	g.setPaths(nil)
	k := kind{name: g.onlyName()}
	if err := k.read(g, s, columns, w); err != nil {
		return err
	}
	g.kinds = []kind{k}
	if g.format.syntax == record.JSONL {
		g.kindUnsure = cmp.Or(g.kindUnsure, s.doubtMembers())
	}
	return nil
}

// setPaths sets the paths of the job. named is, for each shape, the index of the part that names behaviours, or -1 for a shape
// that the job does not read; nil if paths name none.
func (g *guessed) setPaths(named []int) {
	folder := g.rootFolder(named)
	for i := range g.arranged.shapes {
		s := &g.arranged.shapes[i]
		switch {
		case named == nil:
			g.paths = append(g.paths, s.paths(-1, folder != "")...)
		case named[i] >= 0:
			g.paths = append(g.paths, s.paths(named[i], folder != "")...)
		}
	}
	if folder != "" {
		g.notes = append(g.notes, fmt.Sprintf("%s in the path is the folder %s: so the table has it in the names of the files, and files of two jobs have different names", asWildcard(folder), folder))
	}
}

// rootFolder returns the folder that would be in the root of the job, but must not, "" if there is none. If other jobs read
// other files of the logs, the root of each job is the folder of the logs: a table knows a file by its path below the root, and
// files of two jobs must differ.
func (g *guessed) rootFolder(named []int) string {
	if len(g.others) == 0 && len(g.cfg.Only) == 0 {
		return ""
	}
	var folders []string
	for i := range g.arranged.shapes {
		if named == nil || named[i] >= 0 {
			folders = append(folders, g.arranged.shapes[i].topFolder())
		}
	}
	if folders = distinct(folders); len(folders) == 1 {
		return folders[0]
	}
	return ""
}

// generic are words that do not describe the content of a file.
var generic = []string{"part", "data", "log", "logs", "events", "event", "export", "csv", "tsv", "txt", "json", "jsonl", "ndjson", "dat", "out", "all", "file", "records", "dump"}

// onlyName returns a name for the only behaviour: a word of its files' names, or
// of the folders above. A note says so if the files' names differ in the number of this word.
func (g *guessed) onlyName() string {
	for _, p := range slices.Backward(g.arranged.shapes[0].parts) {
		if name := describing(p.common()); name != "" {
			if p.numbered() {
				g.notes = append(g.notes, fmt.Sprintf("%s are one behaviour, because the names differ only in numbers; if they are behaviours, write {behaviour} in place of * in the path", wordsOf(distinct(p.names))))
			}
			return name
		}
	}
	if !g.found.single {
		if name := describing(dfs.Base(g.cfg.Logs)); name != "" {
			return name
		}
	}
	return "event"
}

// describing returns the first word of a part of a path that describes the content of files, as a name of a behaviour. It
// returns "" if there is none.
func describing(part string) string {
	part = strings.TrimSuffix(part, path.Ext(part))
	for _, w := range cutWords(part) {
		if letter.MatchString(w) && !strings.ContainsAny(w, opened+wild) && !slices.Contains(generic, strings.ToLower(w)) && !isDayWord(w) && !strings.Contains(w, "=") {
			return kindNames([]string{w})[0]
		}
	}
	return ""
}

// kindNames returns names of behaviours for texts, each of them once.
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

// unlike returns name, with a number after it if it is seen already.
func unlike(name string, seen map[string]bool) string {
	out := name
	for n := 2; seen[behaviour.Fold(out)]; n++ {
		out = fmt.Sprintf("%s_%d", name, n)
	}
	seen[behaviour.Fold(out)] = true
	return out
}

// read finds the user and the fields among a sheet's columns. w is the source of the time.
func (k *kind) read(g *guessed, s *sheet, columns []column, w timeSource) error {
	var err error
	k.timeSource = w
	if k.userSource, err = g.chooseUser(s, columns, w.taken, k.name); err != nil {
		return err
	}
	k.readFields(g, s, columns, append(slices.Clone(w.taken), k.userSource.taken), nil)
	return nil
}

// readFields makes fields of the columns that are not used yet. If filled is not nil, it makes
// fields only of those that filled lists.
func (k *kind) readFields(g *guessed, s *sheet, columns []column, taken []int, filled map[int]bool) {
	k.partly, k.twice, k.unnamed, k.nameless = s.partly, s.twice, s.unnamed, s.numbers
	g.addNulls(k.userSource.nulls)
	names := map[string]bool{}
	for i, c := range columns {
		if slices.Contains(taken, i) || filled != nil && !filled[i] {
			if k.userSource.taken == i {
				g.addNulls(c.nulls)
			}
			continue
		}
		name := c.field
		if s.numbers && filled == nil {
			name = k.name + "_" + strings.TrimPrefix(c.name, "$")
		}
		f := field{name: unlike(name, names), column: c.name, typ: c.typ, unsure: c.unsure}
		if f.typ == behaviour.Timestamp || f.typ == behaviour.Day {
			f.format = c.times[0].format
			if !record.FormatHasYear(f.format) {
				f.typ, f.format = behaviour.String, ""
			} else if other := turnedField(c.times); other != "" {
				f.unsure = otherWayRound(other)
			}
		}
		k.fields = append(k.fields, f)
		g.addNulls(c.nulls)
	}
}

// addNulls adds texts that mean null.
func (g *guessed) addNulls(nulls []string) {
	for _, n := range nulls {
		if !slices.Contains(g.nulls, n) {
			g.nulls = append(g.nulls, n)
		}
	}
}
