package jobdraft

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
	"usertrail/internal/run/visible"
	"usertrail/internal/store/dfs"
)

// A writer writes a draft, and collects the comments on unsure parts.
type writer struct {
	strings.Builder
	asked  bool // the user has answered: a comment is a plain one
	unsure []remark
	fillIn []string
	common []field // fields that all behaviours have
}

// A remark is a comment on a key. Later keys of the file can have the same comment.
type remark struct {
	key, text string
	more      int // number of other keys
}

// line writes a line, with a comment if it is unsure. key is its name in the list of these
// comments. A comment that has been written already is not repeated.
func (w *writer) line(key, unsure, text string) {
	w.WriteString(text)
	if unsure = visible.Text(unsure); unsure != "" && w.isNew(key, unsure) {
		if !w.asked {
			unsure = "unsure: " + unsure
		}
		w.WriteString(" # " + unsure)
	}
	w.WriteString("\n")
}

// isNew notes a comment, and reports whether it has not been written before.
func (w *writer) isNew(key, unsure string) bool {
	i := slices.IndexFunc(w.unsure, func(r remark) bool { return r.text == unsure })
	if i >= 0 {
		w.unsure[i].more++
		return false
	}
	w.unsure = append(w.unsure, remark{key: key, text: unsure})
	return true
}

// notes returns the list of unsure parts.
func (w *writer) notes() []string {
	var out []string
	for _, r := range w.unsure {
		switch {
		case w.asked:
		case r.more > 0:
			out = append(out, fmt.Sprintf("%s and %s: %s", r.key, english.Plural(r.more, "other", ""), r.text))
		default:
			out = append(out, r.key+": "+r.text)
		}
	}
	return out
}

// fill writes a key whose value the user has to fill in.
func (w *writer) fill(key, indent, name, with string) {
	fmt.Fprintf(w, "%s%s: # fill in: %s\n", indent, name, with)
	w.fillIn = append(w.fillIn, key)
}

// body returns the draft without its head.
func (g *guessed) body(cfg Config) *writer {
	w := &writer{asked: cfg.Ask != nil}
	w.logs(g, cfg)
	table := "trails"
	if cfg.Table != "" {
		table = relative(cfg.Name, cfg.Table)
	}
	w.WriteString("\n")
	fmt.Fprintf(w, "table: %s\n", job.Quote(table))
	user, time := w.shared(g)
	w.sharedFields(g)
	w.WriteString("\n")
	w.line("behaviours", g.kindUnsureAlone(), "behaviours:")
	for i, k := range g.kinds {
		w.kind(g, i, k, user, time)
	}
	return w
}

// logs writes the paths and the format of the logs.
func (w *writer) logs(g *guessed, cfg Config) {
	w.WriteString("logs:\n")
	base := escape(baseOf(cfg, g.found.single))
	unsure := strings.Join(g.pathsUnsure, "; ")
	if len(g.paths) == 1 {
		w.line("logs.path", unsure, "  path: "+quotePath(join(base, g.paths[0])))
	} else {
		w.line("logs.path", unsure, "  path:")
		for _, p := range g.paths {
			fmt.Fprintf(w, "    - %s\n", quotePath(join(base, p)))
		}
	}
	f := &g.format
	w.line("logs.format", f.unsure, "  format: "+string(f.syntax))
	if usual := map[record.Syntax]string{record.CSV: ",", record.TSV: "\t"}[f.syntax]; f.delimiter != usual {
		fmt.Fprintf(w, "  delimiter: %s\n", job.Quote(f.delimiter))
	}
	if f.header != (f.syntax == record.CSV || f.syntax == record.TSV) && f.syntax != record.JSONL {
		fmt.Fprintf(w, "  header: %t\n", f.header)
	}
	if width := f.evenWidth(g.samples); width > 1 {
		var names []string
		for i := range width {
			names = append(names, fmt.Sprintf("c%d", i+1))
		}
		fmt.Fprintf(w, "  names: [%s] # so that a line with another number of columns is bad\n", strings.Join(names, ", "))
	}
	if g.encoding != "" || g.encUnsure != "" {
		w.line("logs.encoding", g.encUnsure, "  encoding: "+job.Quote(cmp.Or(g.encoding, "utf-8")))
	}
	w.line("logs.zone", g.zoneUnsure, "  zone: "+job.Quote(g.zone))
	if g.slack > 1 {
		fmt.Fprintf(w, "  slack: %d\n", g.slack)
	}
	if len(g.nulls) > 0 {
		var quoted []string
		for _, n := range distinct(g.nulls) {
			quoted = append(quoted, job.Quote(n))
		}
		w.line("logs.nulls", "these texts mean null in every column", "  nulls: ["+strings.Join(quoted, ", ")+"]")
	}
	if g.maxBad != "" {
		fmt.Fprintf(w, "  max_bad: %s # bad records of the sample: %s\n", g.maxBad, visible.Text(g.whyBad))
	}
	w.kindColumn(g)
}

// kindUnsureAlone returns the comment on behaviours that no column names.
func (g *guessed) kindUnsureAlone() string {
	if g.kindColumn != "" {
		return ""
	}
	return g.kindUnsure
}

func (w *writer) kindColumn(g *guessed) {
	switch {
	case g.kindColumn == "":
	case len(g.texts) == 0:
		w.line("logs.behaviour", g.kindUnsure, "  behaviour: "+job.Quote(g.kindColumn))
	default:
		w.line("logs.behaviour", g.kindUnsure, "  behaviour:")
		fmt.Fprintf(w, "    column: %s\n    texts:\n", job.Quote(g.kindColumn))
		for _, text := range slices.Sorted(maps.Keys(g.texts)) {
			fmt.Fprintf(w, "      %s: %s\n", job.Quote(text), job.Quote(g.texts[text]))
		}
	}
}

// shared writes the user and the time that most behaviours have, and returns them.
func (w *writer) shared(g *guessed) (user userSource, time timeSource) {
	user = usual(g.kinds, func(k kind) string { return k.userSource.key() }).userSource
	time = usual(g.kinds, func(k kind) string { return k.timeSource.key() }).timeSource
	w.WriteString("\n")
	w.user("user", "", user)
	w.time("time", "", time)
	return user, time
}

// sharedFields writes the fields that all behaviours have.
func (w *writer) sharedFields(g *guessed) {
	if w.common = g.commonFields(); len(w.common) == 0 {
		return
	}
	w.WriteString("\n")
	w.line("fields", namelessNote(g.kinds[0]), "fields:")
	for _, f := range w.common {
		w.field("fields."+f.name, "  ", f)
	}
}

// commonFields returns the fields that all behaviours have, if there are several behaviours.
func (g *guessed) commonFields() []field {
	if len(g.kinds) < 2 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(g.kinds[0].fields), func(f field) bool {
		return slices.ContainsFunc(g.kinds, func(k kind) bool { return !slices.Contains(k.fields, f) })
	})
}

// namelessNote returns the comment on fields of a behaviour whose files name no columns.
func namelessNote(k kind) string {
	if k.nameless {
		return "the files name no columns, so these names are made up"
	}
	return ""
}

// key returns a text that is equal for times with equal settings in a job.
func (t *timeSource) key() string {
	return strings.Join([]string{t.column, t.pattern, t.format}, "\x00")
}

func (w *writer) user(key, indent string, u userSource) {
	if u.column == "" {
		with := "the column of the user, such as user_id; $1 is the first column"
		if u.unsure != "" {
			with += "; " + visible.Text(u.unsure)
		}
		w.fill(key, indent, "user", with)
		return
	}
	text := job.Quote(u.column)
	if u.pattern != "" || u.skip {
		keys := []string{"column: " + text}
		if u.pattern != "" {
			keys = append(keys, "pattern: "+job.Quote(u.pattern))
		}
		if u.skip {
			keys = append(keys, "empty: skip")
		}
		text = "{" + strings.Join(keys, ", ") + "}"
	}
	w.line(key, u.unsure, indent+"user: "+text)
}

func (w *writer) time(key, indent string, t timeSource) {
	if t.column == "" {
		w.fill(key, indent, "time", "the column of the time, or {column: NAME, format: FORMAT}")
		return
	}
	unsure := strings.Join(t.unsure, "; ")
	var keys []string
	for _, k := range [][2]string{{"column", t.column}, {"pattern", t.pattern}, {"format", t.format}} {
		if k[1] != "" {
			keys = append(keys, k[0]+": "+job.Quote(k[1]))
		}
	}
	if t.year > 0 {
		keys = append(keys, fmt.Sprintf("year: %d", t.year))
	}
	text := "{" + strings.Join(keys, ", ") + "}"
	if len(keys) == 1 {
		text = job.Quote(t.column)
	}
	if t.noYear {
		w.fillIn = append(w.fillIn, key+".year")
		fmt.Fprintf(w, "%stime: %s # fill in: the year that the times do not name, as in year: 2014\n", indent, text)
		return
	}
	w.line(key, unsure, indent+"time: "+text)
}

// kind writes a behaviour. user and time are the job's defaults, which it need not repeat.
func (w *writer) kind(g *guessed, i int, k kind, user userSource, time timeSource) {
	key := "behaviours." + k.name
	own := slices.DeleteFunc(slices.Clone(k.fields), func(f field) bool { return slices.Contains(w.common, f) })
	named := k.path != "" && k.path != k.name && g.kindColumn == ""
	otherUser, otherTime := k.userSource.key() != user.key(), k.timeSource.key() != time.key()
	if !named && !otherUser && !otherTime && len(k.partly)+len(k.twice)+len(k.unnamed)+len(own) == 0 {
		fmt.Fprintf(w, "  %s: {id: %d}\n", k.name, g.cfg.FirstID+i)
		return
	}
	fmt.Fprintf(w, "  %s:\n    id: %d\n", k.name, g.cfg.FirstID+i)
	if named {
		fmt.Fprintf(w, "    path: %s\n", job.Quote(k.path))
	}
	if otherUser {
		w.user(key+".user", "    ", k.userSource)
	}
	if otherTime {
		w.time(key+".time", "    ", k.timeSource)
	}
	if len(k.partly) > 0 {
		fmt.Fprintf(w, "    # not in every file, and so left out: %s\n", wordsOf(k.partly))
	}
	if len(k.twice) > 0 {
		fmt.Fprintf(w, "    # named twice by a header, and so left out; $5 would be the fifth column: %s\n", wordsOf(k.twice))
	}
	if len(k.unnamed) > 0 {
		fmt.Fprintf(w, "    # without a name in the header, and so left out: %s\n", wordsOf(k.unnamed))
	}
	if len(own) == 0 {
		return
	}
	w.line(key+".fields", namelessNote(k), "    fields:")
	for _, f := range own {
		w.field(key+".fields."+f.name, "      ", f)
	}
}

func (w *writer) field(key, indent string, f field) {
	text := string(f.typ)
	if f.column != f.name || f.format != "" {
		keys := []string{"type: " + text}
		if f.column != f.name {
			keys = append(keys, "column: "+job.Quote(f.column))
		}
		if f.format != "" && (f.typ == behaviour.Timestamp || f.typ == behaviour.Day) {
			keys = append(keys, "format: "+job.Quote(f.format))
		}
		text = "{" + strings.Join(keys, ", ") + "}"
	}
	w.line(key, f.unsure, fmt.Sprintf("%s%s: %s", indent, f.name, text))
}

// baseOf returns the folder of the logs in the notation of the job file, "" if it is the job
// file's own.
func baseOf(cfg Config, single bool) string {
	logs := strings.TrimRight(cfg.Logs, "/")
	if single {
		logs = dfs.Dir(cfg.Logs)
	}
	if logs == "" {
		return "/"
	}
	if logs = relative(cfg.Name, logs); logs == "." {
		return ""
	}
	return logs
}

// relative returns the name of a place in a job file. name is its name in the folder where
// the command was started.
func relative(job, name string) string {
	folder := dfs.Dir(job)
	switch {
	case dfs.Scheme(name) != "" || path.IsAbs(name):
		return name
	case dfs.Scheme(folder) != "" || path.IsAbs(folder):
		if abs, err := filepath.Abs(name); err == nil {
			name = abs
		}
	default:
		if rel, err := filepath.Rel(folder, name); err == nil {
			name = rel
		}
	}
	return filepath.ToSlash(name)
}

func join(base, below string) string {
	if base == "" {
		return below
	}
	return strings.TrimSuffix(base, "/") + "/" + below
}

// plainPath matches a path that YAML reads unchanged outside of brackets.
var plainPath = regexp.MustCompile(`^[\p{L}\p{N}_/.][\p{L}\p{N}_/.{}*?=:-]*$`)

func quotePath(p string) string {
	if plainPath.MatchString(p) && letter.MatchString(p) && !strings.HasSuffix(p, ":") {
		return p
	}
	return job.Quote(p)
}
