package metamorphic_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A model holds the expected state: the delivered files, and the content of each table. It
// consists of plain slices and loops. It shares no code with the programs.
type model struct {
	*Sequence
	job    Job
	files  map[string]*delivered
	tables map[string]*table
	saved  map[string][]badLine // copies of quarantine files, by the delivered file's path
	outs   map[string]bool      // existing results of extracts
	grown  map[string]*growing  // results to which extracts were appended

	half    *table          // the table as it would be if the killed load by puts had been complete; nil if no such load was killed
	halfJob Job             // of that load
	mixed   bool            // loads by other jobs were killed before that load, and it may have put nothing
	marks   map[string]bool // markers that exist
	grows   map[string]bool // files that changed while the current load was stopped
	leftOut map[string]bool // files that the current load refuses: a killed load put their records by another job
}

// delivered is a file of the logs.
type delivered struct {
	columns []string
	records []Record
	bytes   string // on disk
	cut     bool   // it is truncated
}

// A table is the content of a table.
type table struct {
	there        bool // the table exists; otherwise there are at most quarantine files
	layout, zone string
	kinds        []Kind
	dropped      string // the first date that was not dropped
	undo         *undo  // of the last drop; nil if its files were removed
	loads        int
	entries      []entry
	events       []event
	bad          map[string][]badLine // quarantine files, by the delivered file's path
	kept         []string             // corrected texts that loads moved out of quarantine files
}

// An undo holds the days that an undo of the last drop restores.
type undo struct {
	dropped string // the date before that drop
	events  []event
	merged  bool // a compact may have merged the files of the drop
}

// An entry is a loaded part of a delivered file, or replayed records of it.
type entry struct {
	load  int // number of the load in the table, from 1
	path  string
	bytes string
	part  *part
	same  string       // an earlier loaded file with the same bytes
	copy  bool         // earlier loaded files with the same bytes had everything that was requested
	lines map[int]bool // replayed lines; nil for a load
	texts map[int]string
	bad   map[int]bool // indexes of the bad records; nil for replayed records
	job   Job          // of the load

	reread map[string][]string // fields that a reread read, by behaviour; it has no replayed lines
	missed bool                // the reread did not read some records

	read, loaded int             // number of records; another file may replace one without records
	older        int             // records of days that were dropped before
	outside      map[string]bool // dates of the good records outside part
}

// A part is the part of a file that a load reads. A nil part is the whole file.
type part struct {
	from, until string // empty is every date
	kinds       []string
	job         *Job // by whose texts a column names the behaviours; nil if the path names them
}

// An event is a record in a table.
type event struct {
	load       int    // the load that added it
	from       string // path of the file; "" for a replayed record
	index      int    // in the file
	user, date string
	micros     int64
	kind       string
	values     map[string]string
}

// A badLine is a line of a quarantine file.
type badLine struct {
	path  string
	index int    // of its record in the delivered file
	raw   string // its current text
	wrote string // the text that the load wrote
	rec   Record // the meaning of raw
	bytes string // of the delivered file
}

// counts are the counts of a command's last line.
type counts struct {
	read, loaded, bad, left int // left are the skipped records and the duplicates
	older                   int // the records of left that belong to dropped days
}

// An outcome is the expected outcome of a command.
type outcome struct {
	statuses []int
	refusals []int    // other allowed statuses; with them the command must not have changed anything
	counts   *counts  // nil is unknown
	next     *table   // nil: the table does not change
	unsure   []string // quarantine files that may exist or not
	idle     bool     // every record is bad again or skipped, so a replay may write nothing
	stays    []string // corrected texts that a replay must leave in the quarantine file: the table has the records with other texts
}

func newModel(q *Sequence) *model {
	return &model{Sequence: q, files: map[string]*delivered{}, tables: map[string]*table{}, saved: map[string][]badLine{}, outs: map[string]bool{}, grown: map[string]*growing{}, marks: map[string]bool{}}
}

// table returns a table, nil if it does not exist.
func (m *model) table(name string) *table {
	if t := m.tables[name]; t != nil && t.there {
		return t
	}
	return nil
}

// ground returns a copy of a table. If the table does not exist, it returns a table with the
// quarantine files that exist.
func (m *model) ground(name string) *table {
	if t := m.tables[name]; t != nil {
		return t.clone()
	}
	return &table{bad: map[string][]badLine{}}
}

// clone returns a copy that may be changed. Slices and maps inside entries, events and lines
// are never changed.
func (t *table) clone() *table {
	c := *t
	c.kinds, c.entries, c.events = slices.Clone(t.kinds), slices.Clone(t.entries), slices.Clone(t.events)
	c.bad = maps.Clone(t.bad)
	return &c
}

// has reports whether a record belongs to p. text is the text in the column of the behaviour, or the
// behaviour in the path.
func (p *part) has(date, text string) bool {
	return p.asks(date) && p.takes(text)
}

// takes reports whether a load with the part p requested records with a text.
func (p *part) takes(text string) bool { return p == nil || slices.Contains(p.kinds, p.named(text)) }

func (p *part) named(text string) string {
	if p.job == nil {
		return text
	}
	return p.job.named(text)
}

// texts returns the texts of the records that belong to p.
func (p *part) texts() []string {
	return slices.DeleteFunc(slices.Clone(allTexts), func(text string) bool { return !p.takes(text) })
}

// covers reports whether all of o belongs to p. The file has no record with a text in absent.
func (p *part) covers(o *part, absent ...string) bool {
	switch {
	case p == nil:
		return true
	case o == nil, p.from != "" && (o.from == "" || o.from < p.from || o.until > p.until):
		return false
	}
	has := func(kind string) bool { return slices.Contains(p.kinds, kind) }
	return !slices.ContainsFunc(o.kinds, func(k string) bool { return !has(k) }) &&
		!slices.ContainsFunc(o.texts(), func(text string) bool { return !has(p.named(text)) && !slices.Contains(absent, text) })
}

// coveredBy reports whether the loads of a file f together have all that p has.
func (p *part) coveredBy(loads []entry, f *delivered) bool {
	if p == nil {
		return slices.ContainsFunc(loads, func(e entry) bool { return e.part == nil })
	}
	for _, text := range p.texts() {
		for _, day := range days {
			if p.has(day, text) && !slices.ContainsFunc(loads, func(e entry) bool {
				return e.part.has(day, text) || e.emptyOn(day) && e.part.takes(text) && e.namesAs(p, e.lacking(f))
			}) {
				return false
			}
		}
	}
	return true
}

// bad reports whether a job must quarantine a record of a file.
func (j *Job) bad(r *Record, path string) bool {
	switch r.Bad {
	case badUser, badTime:
		return true
	case badType:
		if k := j.kind(j.named(r.Kind)); k != nil && k.takes("n1") {
			return true
		}
	}
	d := dateOf(path)
	return d != "" && apart(r.date(j.Zone), d) > 1
}

// tooBad reports whether a file has more bad records than the job allows.
func (j *Job) tooBad(read, bad int) bool {
	if share, ok := strings.CutSuffix(j.MaxBad, "%"); ok {
		return bad*100 > read*atoi(share)
	}
	return bad > atoi(j.MaxBad)
}

func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err) // made up here
	}
	return n
}

// event returns the event that a job makes from a good record.
func (j *Job) event(r *Record) event {
	e := event{user: r.user(j), date: r.date(j.Zone), micros: r.Micros, kind: j.named(r.Kind), values: map[string]string{}}
	for _, f := range j.kind(e.kind).Fields {
		if v := r.value(f); v != "" {
			e.values[f] = v
		}
	}
	return e
}

// String returns an event in the form of extracted.
func (e *event) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %s %d %s", e.user, e.date, e.micros, e.kind)
	for _, f := range slices.Sorted(maps.Keys(e.values)) {
		fmt.Fprintf(&b, " %s=%s", f, short(e.values[f]))
	}
	return b.String()
}

// merge adds the new behaviours and fields of a job to kinds.
func (t *table) merge(j *Job) {
	for _, k := range j.Kinds {
		i := slices.IndexFunc(t.kinds, func(o Kind) bool { return o.Name == k.Name })
		if i < 0 {
			t.kinds = append(t.kinds, k)
			continue
		}
		all := slices.Clone(t.kinds[i].Fields)
		for _, f := range k.Fields {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
		t.kinds[i].Fields = all
	}
}

// names returns the table's behaviours.
func (t *table) names() []string {
	var out []string
	for _, k := range t.kinds {
		out = append(out, k.Name)
	}
	return out
}

// found returns the files that a load of dates and types finds, in the order in which it
// reads them.
func (m *model) found(s *Step) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(m.files)) {
		if d := dateOf(path); d != "" && (d < s.From || d > s.Until) || m.leftOut[path] {
			continue
		}
		if m.Logs == daily && !slices.Contains(m.types(s), kindOf(path)) {
			continue
		}
		out = append(out, path)
	}
	return out
}

// types returns the requested behaviours of a load.
func (m *model) types(s *Step) []string {
	if len(s.Types) > 0 {
		return s.Types
	}
	return m.job.names()
}

// partOf returns the part of a file that a load reads.
func (m *model) partOf(s *Step, path string) *part {
	if m.Logs == daily {
		return nil
	}
	job := m.job
	p := &part{kinds: m.types(s), job: &job}
	if m.Logs == export {
		p.from, p.until = s.From, s.Until
	}
	return p
}

// unfit returns status 64 if a job does not fit a table, or nothing.
func (m *model) unfit(t *table, layout string) []int {
	if t != nil && (t.zone != m.job.Zone || t.layout != layout) {
		return []int{64}
	}
	return nil
}

// load returns the outcome of a load.
func (m *model) load(s *Step) outcome {
	layout := m.layoutFor(s)
	if bad := m.unfit(m.table(s.Table), layout); bad != nil {
		return outcome{statuses: bad}
	}
	next := m.ground(s.Table)
	next.layout, next.zone = layout, m.job.Zone
	return m.loadOf(next, s, m.choose(next, s))
}

// loadOf returns the outcome of a load of chosen files.
func (m *model) loadOf(next *table, s *Step, c chosen) outcome {
	switch {
	case len(c.todo) == 0 && c.growing:
		return outcome{statuses: []int{75}}
	case len(c.todo) == 0 && c.changed:
		return outcome{statuses: []int{1}}
	case len(c.todo) == 0 && next.dropped != "":
		return outcome{statuses: []int{64, 99}} // 64 if all of them were skipped for the drop
	case len(c.todo) == 0:
		return outcome{statuses: []int{99}}
	}
	out := m.take(next, s, c.todo)
	if c.changed {
		out.statuses[0] = max(out.statuses[0], 1)
	}
	if c.growing && out.statuses[0] != 65 {
		out.statuses = []int{75}
	}
	return out
}

// chosen are the files of a load.
type chosen struct {
	todo    []string // to read
	changed bool     // a file has changed since it was loaded; it is left out
	growing bool     // a file may still be written; it is left out
}

// layoutFor returns the layout in the job file of a step.
func (m *model) layoutFor(s *Step) string {
	if s.Layout != "" {
		return s.Layout
	}
	if t := m.table(s.Table); t != nil && s.Table != firstTable {
		return t.layout
	}
	return m.job.Layout
}

// choose returns the files of a load.
func (m *model) choose(t *table, s *Step) (c chosen) {
	for _, path := range m.found(s) {
		want, whole, other := t.undropped(m.partOf(s, path), path), false, false
		for _, e := range t.entries {
			if e.path != path || e.lines != nil || e.replaced(m.files[path]) {
				continue
			}
			other = other || e.bytes != m.files[path].bytes
			absent := e.lacking(m.files[path])
			whole = whole || e.part.covers(want, absent...) ||
				e.elsewhere(want, absent) && e.part.covers(&part{e.part.from, e.part.until, want.kinds, want.job}, absent...)
		}
		c.changed = c.changed || other
		switch {
		case whole || other:
		case m.grows[path] || m.unmarked(s, path):
			c.growing = true
		default:
			c.todo = append(c.todo, path)
		}
	}
	return c
}

// replaced reports whether f took the place of a file without records.
func (e *entry) replaced(f *delivered) bool { return e.read == 0 && e.bytes != f.bytes }

// elsewhere reports whether a load has shown that the file has no good record of the dates of p that the load did not request.
func (e *entry) elsewhere(p *part, absent []string) bool {
	return dateOf(e.path) == "" && p.from <= p.until && e.namesAs(p, absent) && !slices.ContainsFunc(days, func(day string) bool {
		return p.from <= day && day <= p.until && !e.part.asks(day) && !e.emptyOn(day)
	})
}

// asks reports whether a load with the part p requested records of a day.
func (p *part) asks(day string) bool {
	return p == nil || p.from == "" || p.from <= day && day <= p.until
}

// emptyOn reports whether a load has shown that the file has no good record of a day that the load did not request.
func (e *entry) emptyOn(day string) bool {
	if dateOf(e.path) != "" || e.part == nil || e.lines != nil || e.copy || e.older > 0 && day < e.part.from {
		return false
	}
	return !e.outside[day]
}

// namesAs reports whether each text names the same behaviour for the jobs of a load and of p, or none for p. The file has no record with a
// text in absent.
func (e *entry) namesAs(p *part, absent []string) bool {
	return e.part != nil && !slices.ContainsFunc(allTexts, func(text string) bool {
		return cmp.Or(e.part.named(text), text) != cmp.Or(p.named(text), text) && !slices.Contains(absent, text)
	})
}

// lacking returns the texts that the job of a load did not know and that no record of the file f has. The
// ledger lists the other texts that the job did not know.
func (e *entry) lacking(f *delivered) []string {
	if e.part == nil || e.part.job == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(allTexts), func(text string) bool {
		return e.part.job.named(text) != "" || slices.ContainsFunc(f.records, func(r Record) bool { return r.Kind == text })
	})
}

// undropped returns a part of a file without the dropped days. If the drop is undone, the
// same load adds these days.
func (t *table) undropped(p *part, path string) *part {
	if t.dropped == "" {
		return p
	}
	out := part{until: "9999-12-31", kinds: []string{kindOf(path)}}
	if p != nil && p.from != "" {
		out.from, out.until = p.from, p.until
	}
	if p != nil {
		out.kinds, out.job = p.kinds, p.job
	}
	out.from = max(out.from, t.dropped)
	return &out
}

// take adds the records of files to a table.
func (m *model) take(next *table, s *Step, todo []string) outcome {
	var failed []int
	var sum counts
	loaded := false
	next.loads++
	for _, path := range todo {
		f := m.files[path]
		if f.cut {
			failed = append(failed, 1)
			continue
		}
		c, lines := m.count(path)
		if m.job.tooBad(c.read, c.bad) {
			failed = append(failed, 65)
			next.replaceBad(path, next.withKept(path, m.files[path].bytes, lines))
			continue
		}
		loaded = true
		sum.add(m.takeFile(next, s, path, lines))
	}
	out := outcome{statuses: []int{0}, counts: &sum, next: next}
	if len(failed) > 0 {
		out.statuses = []int{slices.Max(failed)}
	} else if sum.older > 0 && sum.older+sum.bad == sum.read {
		out.statuses = []int{0, 64} // 0 if it finished another load as well
	}
	if !loaded {
		next.loads-- // there is no ledger
	}
	if loaded {
		next.there = true
		next.merge(&m.job)
	}
	return out
}

func (c *counts) add(o counts) {
	c.read += o.read
	c.loaded += o.loaded
	c.bad += o.bad
	c.left += o.left
	c.older += o.older
}

// count counts a file's records and returns the lines for its quarantine.
func (m *model) count(path string) (counts, []badLine) {
	f := m.files[path]
	c := counts{read: len(f.records)}
	var lines []badLine
	for i := range f.records {
		r := &f.records[i]
		if m.unknown(r) || !m.job.bad(r, path) {
			continue
		}
		c.bad++
		raw := m.line(f.columns, r)
		lines = append(lines, badLine{path, i, raw, raw, *r, f.bytes})
	}
	return c, lines
}

// unknown reports whether a column of a record names a behaviour that the job does not have.
func (m *model) unknown(r *Record) bool { return m.Logs != daily && m.job.named(r.Kind) == "" }

// takeFile adds a file's records to a table.
func (m *model) takeFile(t *table, s *Step, path string, bad []badLine) counts {
	f := m.files[path]
	c := counts{read: len(f.records), bad: len(bad)}
	want := m.partOf(s, path)
	covered := t.covered(path, f.bytes)
	var copies []entry
	e := entry{load: t.loads, path: path, bytes: f.bytes, part: want, bad: map[int]bool{}, job: m.job, outside: map[string]bool{}, read: c.read}
	for _, o := range t.entries {
		if o.path != path && o.lines == nil && !o.copy && o.bytes == f.bytes && kindOf(o.path) == kindOf(path) {
			copies = append(copies, o)
			if e.same == "" {
				e.same = o.path
			}
		}
	}
	if e.copy = want.coveredBy(copies, f); m.Logs == export {
		e.copy = len(copies) > 0 && t.undropped(want, path).coveredBy(copies, f)
	}
	for _, b := range bad {
		e.bad[b.index] = true
	}
	for i := range f.records {
		r := &f.records[i]
		if e.bad[i] {
			continue
		}
		if m.unknown(r) || !m.wanted(t, r, want, covered) {
			c.left++
			switch date := r.date(m.job.Zone); {
			case m.unknown(r):
			case date < t.dropped:
				c.older++
			case want != nil && want.from != "" && (date < want.from || date > want.until):
				e.outside[date] = true
			}
			continue
		}
		c.loaded++
		added := m.job.event(r)
		added.from, added.index = path, i
		t.add(added)
	}
	known := slices.ContainsFunc(t.entries, func(o entry) bool { return o.path == path && o.bytes == f.bytes })
	e.loaded, e.older = c.loaded, c.older
	if c.older > 0 {
		e.part = t.undropped(want, path)
	}
	bad = t.withKept(path, f.bytes, bad)
	t.entries = append(t.entries, e)
	switch {
	case c.bad > 0:
		t.replaceBad(path, bad)
	case !known: // otherwise an earlier load found bad records in the same bytes
		t.replaceBad(path, nil)
	}
	return c
}

// covered returns the parts of a file that loads have read, perhaps under other names.
func (t *table) covered(path, bytes string) []*part {
	var out []*part
	for _, o := range t.entries {
		if o.lines == nil && o.bytes == bytes && kindOf(o.path) == kindOf(path) {
			out = append(out, o.part)
		}
	}
	return out
}

// add adds an event of the newest load.
func (t *table) add(e event) {
	e.load = t.loads
	t.events = append(t.events, e)
}

// withKept adds lines to the bad records of a file: the lines that its quarantine file keeps from
// an earlier load of the same bytes. These are corrected lines, and all lines if an earlier load
// has loaded records of the file.
func (t *table) withKept(path, bytes string, bad []badLine) []badLine {
	covered := slices.ContainsFunc(t.entries, func(o entry) bool { return o.path == path && o.lines == nil })
	var old, out []badLine
	for _, b := range t.bad[path] {
		if b.bytes == bytes {
			old = append(old, b)
		}
	}
	for _, b := range bad {
		for ; len(old) > 0 && old[0].index <= b.index; old = old[1:] {
			if old[0].index == b.index && old[0].raw != b.raw || covered && old[0].index < b.index {
				out = append(out, old[0])
			}
		}
		out = append(out, b)
	}
	if covered {
		out = append(out, old...)
	}
	return out
}

// replaceBad replaces a quarantine file. Corrected lines that do not stay are kept in another file.
func (t *table) replaceBad(path string, lines []badLine) {
	for _, old := range t.bad[path] {
		if old.raw != old.wrote && !slices.ContainsFunc(lines, func(l badLine) bool { return l.bytes == old.bytes && l.index == old.index && l.raw == old.raw }) {
			t.kept = append(slices.Clip(t.kept), old.raw)
		}
	}
	if t.bad[path] = lines; len(lines) == 0 {
		delete(t.bad, path)
	}
}

func (m *model) wanted(t *table, r *Record, want *part, covered []*part) bool {
	d := r.date(m.job.Zone)
	if d < t.dropped || !want.has(d, r.Kind) {
		return false
	}
	return !slices.ContainsFunc(covered, func(p *part) bool { return p.has(d, r.Kind) })
}

// replay returns the outcome of a replay of a quarantine file, or of its copy.
func (m *model) replay(s *Step) outcome {
	t := m.table(s.Table)
	lines := m.quarantined(s)
	switch {
	case lines == nil, t == nil:
		return outcome{statuses: []int{64, 66}}
	case m.unfit(t, m.layoutFor(s)) != nil:
		return outcome{statuses: []int{64}}
	case m.Logs == daily && m.job.kind(kindOf(lines[0].path)) == nil: // the job has no such file
		return outcome{statuses: []int{64}}
	}
	i := slices.IndexFunc(t.entries, func(e entry) bool { return e.path == lines[0].path && e.bytes == lines[0].bytes })
	if i < 0 { // another version; the first may be a file without records that was replaced
		i = slices.IndexFunc(t.entries, func(e entry) bool { return e.path == lines[0].path })
	}
	if i < 0 {
		return outcome{statuses: []int{64}}
	}
	unsure := []string{lines[0].path + again}
	if t.entries[i].bytes != lines[0].bytes {
		// The table has another version of the file, so none of these records is new.
		return outcome{statuses: []int{0, 1, 64, 65}, unsure: unsure}
	}
	path := lines[0].path
	if same := t.entries[i].same; same != "" {
		path = same
	}
	out := m.replayLines(t.clone(), path, lines)
	if f := m.files[path]; m.Format == "csv" && (f == nil || f.bytes != lines[0].bytes) {
		out.refusals = []int{1, 66} // the header names the columns
	}
	if ambiguous(lines) {
		out.refusals = append(out.refusals, 64) // both may be good for this job
	}
	return out
}

// ambiguous reports whether two lines are of the same record and differ.
func ambiguous(lines []badLine) bool {
	raw := map[int]string{}
	for _, l := range lines {
		if was, ok := raw[l.index]; ok && was != l.raw {
			return true
		}
		raw[l.index] = l.raw
	}
	return false
}

func (m *model) quarantined(s *Step) []badLine {
	if s.Saved {
		return m.saved[s.File]
	}
	if t := m.tables[s.Table]; t != nil {
		return t.bad[s.File]
	}
	return nil
}

// brought reports whether a load has added the record of a line. The first load that requested
// a record decides. A line of an added record exists if the file was read again for other
// behaviours, by a job for which the record is bad.
func (t *table) brought(b *badLine, zone string) bool {
	for _, e := range t.entries {
		if e.lines == nil && e.bytes == b.bytes && kindOf(e.path) == kindOf(b.path) && e.part.has(b.rec.date(zone), b.rec.Kind) {
			return !e.bad[b.index]
		}
	}
	return false
}

// numbered reports whether all users are numbers of at most 6 digits, as the layout fixed
// needs.
func (t *table) numbered() bool {
	return !slices.ContainsFunc(t.events, func(e event) bool { return strings.Trim(e.user, "0123456789") != "" || len(e.user) > 6 })
}

func (m *model) replayLines(t *table, path string, lines []badLine) outcome {
	c := counts{read: len(lines)}
	t.loads++
	e := entry{load: t.loads, path: path, bytes: lines[0].bytes, lines: map[int]bool{}, texts: map[int]string{}, job: m.job}
	var still []badLine
	either := false        // a record belongs to a dropped day and not to a day of its file
	gone := map[int]bool{} // records of dropped days or of an earlier load; a good line settles a record
	brought := map[int]bool{}
	skipped := 0
	for _, b := range lines {
		either = either || b.rec.Bad == "" && b.rec.date(m.job.Zone) < t.dropped && m.job.bad(&b.rec, path)
		switch r := &b.rec; {
		case t.replayed(path, b.index) || e.lines[b.index] || gone[b.index]:
			c.left++
		case m.unknown(r):
			c.left++
			skipped++
		case m.job.bad(r, path):
			c.bad++
			b.path = path
			still = append(still, b)
		case r.date(m.job.Zone) < t.dropped:
			c.left++
			skipped++
			gone[b.index] = true
		case t.brought(&b, m.job.Zone):
			c.left++
			gone[b.index] = true
			brought[b.index] = true
		default:
			c.loaded++
			e.lines[b.index] = true
			e.texts[b.index] = b.raw
			t.add(m.job.event(r))
		}
	}
	e.loaded = c.loaded
	t.entries = append(t.entries, e)
	t.merge(&m.job)
	out := outcome{statuses: []int{0}, counts: &c, next: t, unsure: []string{path + again}, idle: len(still)+skipped == len(lines)}
	for _, b := range lines {
		text, known := t.replayedText(path, b.index)
		if b.raw != b.wrote && (brought[b.index] || known && text != b.raw && !e.lines[b.index]) {
			out.stays = append(out.stays, b.raw)
		}
	}
	if len(still) > 0 {
		t.bad[path+again] = still
	}
	if len(still)+skipped+len(out.stays) > 0 {
		out.statuses = []int{65}
	}
	if either {
		out.statuses, out.counts = []int{0, 65}, nil
	}
	return out
}

// replayedText returns the text with which a replay added a record.
func (t *table) replayedText(path string, index int) (string, bool) {
	for _, e := range t.entries {
		if text, ok := e.texts[index]; ok && e.path == path {
			return text, true
		}
	}
	return "", false
}

// replayed reports whether a record was replayed before.
func (t *table) replayed(path string, index int) bool {
	return slices.ContainsFunc(t.entries, func(e entry) bool { return e.path == path && e.lines[index] })
}

// loaded reports whether some records of a file are in a table.
func (m *model) loaded(path string) bool {
	for _, t := range m.tables {
		if t.there && slices.ContainsFunc(t.entries, func(e entry) bool { return e.path == path }) {
			return true
		}
	}
	return false
}

// changed reports whether a file has changed since it was loaded.
func (m *model) changed(path string) bool {
	for _, t := range m.tables {
		if slices.ContainsFunc(t.entries, func(e entry) bool {
			return e.path == path && e.lines == nil && e.bytes != m.files[path].bytes && e.read > 0
		}) {
			return true
		}
	}
	return false
}

// drop returns the outcome of a drop.
func (m *model) drop(s *Step) outcome {
	t := m.table(s.Table)
	switch {
	case t == nil:
		return outcome{statuses: []int{66}}
	case s.From <= t.dropped:
		return outcome{statuses: []int{99}}
	}
	next := t.clone()
	next.dropped, next.undo = s.From, nil
	if !slices.Contains(s.Flags, "0s") { // by default, the files are kept
		next.undo = &undo{dropped: t.dropped, events: slices.DeleteFunc(slices.Clone(t.events), func(e event) bool { return e.date >= s.From })}
	}
	next.events = slices.DeleteFunc(next.events, func(e event) bool { return e.date < s.From })
	return outcome{statuses: []int{0, 99}, next: next}
}

// undrop returns the outcome of undoing the last drop.
func (m *model) undrop(s *Step) outcome {
	t := m.table(s.Table)
	switch {
	case t == nil:
		return outcome{statuses: []int{66}}
	case t.dropped == "":
		return outcome{statuses: []int{99}}
	case t.undo == nil:
		return outcome{statuses: []int{64}}
	}
	next := t.clone()
	next.dropped, next.undo = t.undo.dropped, nil
	next.events = append(next.events, t.undo.events...)
	out := outcome{statuses: []int{0}, next: next}
	if t.undo.merged {
		out.refusals = []int{64}
	}
	return out
}

// A result is the expected result of an extract.
type result struct {
	users, found, active, kept int
	count                      int     // number of events in the result
	events                     []event // the result may have only the latest of them
}

// extract returns the expected result of an extract.
func (t *table) extract(s *Step) result {
	asked, listed := t.asked(s)
	r := result{users: len(asked)}
	for _, user := range asked {
		own := t.inSpan(s, user)
		if !slices.ContainsFunc(own, func(e event) bool { return slices.Contains(s.Types, e.kind) }) {
			continue
		}
		r.found++
		active, out := s.result(own, t.zone)
		if active {
			r.active++
		}
		if len(out) > 0 {
			r.kept++
			r.events = append(r.events, out...)
			if n := s.latest(); n > 0 {
				out = out[:min(n, len(out))]
			}
			r.count += len(out)
		}
	}
	if !listed {
		r.users = r.found
	}
	return r
}

// needed returns the number of different behaviours that make a user active.
func needed(s *Step) int {
	switch s.Active {
	case "all":
		return len(s.Types)
	case "any":
		return 1
	}
	return atoi(strings.TrimPrefix(s.Active, "min:"))
}
