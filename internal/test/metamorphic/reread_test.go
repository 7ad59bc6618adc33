package metamorphic_test

import (
	"maps"
	"slices"

	"usertrail/internal/run/breakpoint"
)

// reread reads loaded files again.
func (x *run) reread(s *Step) error {
	if x.inHBase(s.Table) && (x.half != nil || s.Stop != "") {
		return nil // the values that a killed reread leaves are not certain
	}
	if err := x.jobFile(s); err != nil {
		return err
	}
	o := x.model.reread(s)
	if x.held[s.Table] {
		o = outcome{statuses: []int{66, 75}}
	}
	defer x.holding(s.Table, o, s, breakpoint.Loaded)()
	got, err := x.command(s, "bulkload", "", slices.Concat([]string{"--reread"}, dates(s), quiet, x.tableFlags(s.Table), s.Flags)...)
	if err != nil {
		return err
	}
	return x.apply(s, o, got, breakpoint.Loaded)
}

// reread returns the outcome of a reread.
func (m *model) reread(s *Step) outcome {
	t := m.table(s.Table)
	switch {
	case t == nil:
		return outcome{statuses: []int{66}}
	case m.unfit(t, m.layoutFor(s)) != nil:
		return outcome{statuses: []int{64}}
	}
	next := t.clone()
	next.events = slices.Clone(t.events)
	next.loads++
	var sum counts
	var failed []int
	doubtful := 0 // failed files that the product may not refuse
	var files []*rereadFile
	found := m.found(s)
	for _, path := range found {
		fields := m.unread(t, s, path)
		if len(fields) == 0 {
			continue
		}
		f, status := m.readAgain(next, s, path, fields)
		if status != 0 {
			failed = append(failed, status)
			continue
		}
		files = append(files, f)
	}
	done, valued := false, valuedOf(next, files)
	for _, f := range files {
		switch gives, status := f.join(next, valued); {
		case status != 0:
			failed = append(failed, status)
			if f.knows(next) {
				doubtful++
			}
		case gives:
			done = true
			sum.read += f.records
			sum.left += f.records
			next.entries = append(next.entries, f.entry)
		}
	}
	switch {
	case len(files) == 0 && len(failed) == 0:
		return outcome{statuses: m.nothingToRead(t, s, found)}
	case !done && len(failed) == doubtful:
		return outcome{statuses: append(failed, 99)}
	case !done:
		return outcome{statuses: failed}
	}
	if len(failed) == doubtful {
		failed = append(failed, 0)
	}
	next.merge(&m.job)
	if next.undo != nil {
		next.undo = &undo{next.undo.dropped, next.undo.events, true}
	}
	return outcome{statuses: failed, counts: &sum, next: next}
}

// nothingToRead returns the possible statuses of a reread without a file to read. They depend on logs that were renamed after a load
// without a field of the job.
func (m *model) nothingToRead(t *table, s *Step, found []string) []int {
	out := []int{99}
	for _, e := range t.entries {
		d := dateOf(e.path)
		if slices.Contains(found, e.path) || d != "" && (d < s.From || d > s.Until) || len(m.unread(t, s, e.path)) == 0 {
			continue
		}
		if d != "" || slices.ContainsFunc(t.events, func(v event) bool { return v.from == e.path && s.From <= v.date && v.date <= s.Until }) {
			return []int{66}
		}
		out = []int{66, 99} // the ledger has the dates of all its good records
	}
	return out
}

// A lack has the fields that records of a file lack, by behaviour and date.
type lack map[string]map[string][]string

// add adds a field of a behaviour on a date.
func (l lack) add(kind, date, field string) {
	if l[kind] == nil {
		l[kind] = map[string][]string{}
	}
	if !slices.Contains(l[kind][date], field) {
		l[kind][date] = append(l[kind][date], field)
	}
}

// fields returns the fields that are absent on some date, by behaviour.
func (l lack) fields() map[string][]string {
	out := map[string][]string{}
	for kind, dates := range l {
		for _, names := range dates {
			out[kind] = append(out[kind], names...)
		}
		slices.Sort(out[kind])
		out[kind] = slices.Compact(out[kind])
	}
	return out
}

// unread returns the fields of the job that loads of a file did not read and no later reread gave.
func (m *model) unread(t *table, s *Step, path string) lack {
	out := lack{}
	if d := dateOf(path); d != "" && d < t.dropped && apart(d, t.dropped) > 1 {
		return out
	}
	for i, e := range t.entries {
		if e.path != path || e.loaded == 0 || e.lines != nil { // records that a replay added get no values
			continue
		}
		for _, name := range m.types(s) {
			had := e.job.kind(name)
			if had == nil || !e.asked(name) {
				continue
			}
			for _, f := range m.job.kind(name).Fields {
				if had.takes(f) {
					continue
				}
				for _, date := range m.lacking(t, s, &e, t.entries[i+1:], name, f) {
					out.add(name, date, f)
				}
			}
		}
	}
	return out
}

// asked reports whether the load of e requested a behaviour.
func (e *entry) asked(kind string) bool {
	if k := kindOf(e.path); k != "" {
		return k == kind
	}
	return e.part == nil || slices.Contains(e.part.kinds, kind)
}

// lacking returns the dates of records of a behaviour that the load of e added, that e may have, and of which no later reread of the file
// gave a field.
func (m *model) lacking(t *table, s *Step, e *entry, later []entry, kind, field string) (out []string) {
	for i := range t.events {
		v := &t.events[i]
		if v.load != e.load || v.kind != kind {
			continue
		}
		d := dateOf(e.path)
		if d == "" && (v.date < s.From || v.date > s.Until) || d != "" && apart(v.date, d) > 1 {
			continue
		}
		if !slices.ContainsFunc(later, func(r entry) bool {
			return r.path == e.path && !r.missed && slices.Contains(r.reread[kind], field) && (r.part == nil || r.part.from <= v.date && v.date <= r.part.until && slices.Contains(r.part.kinds, kind) || r.part.from == "" && slices.Contains(r.part.kinds, kind))
		}) {
			out = append(out, v.date)
		}
	}
	return out
}

// A rereadFile is a file that is read again.
type rereadFile struct {
	entry
	records int
	wanted  *part
	fields  lack                 // that it is read for
	now     map[int]event        // its good records, with their values of these fields, by index
	other   map[int]event        // its other good records
	skip    func(index int) bool // records that a replay added
}

// readAgain reads a file, and returns its status.
func (m *model) readAgain(t *table, s *Step, path string, fields lack) (*rereadFile, int) {
	f := m.files[path]
	for _, e := range t.entries {
		if e.path == path && e.lines == nil && e.read > 0 && e.bytes != f.bytes {
			return nil, 1
		}
	}
	want := m.partOf(s, path)
	out := &rereadFile{
		entry:  entry{load: t.loads, path: path, bytes: f.bytes, part: t.undropped(want, path), lines: map[int]bool{}, job: m.job},
		wanted: want, records: len(f.records), fields: fields, now: map[int]event{}, other: map[int]event{}, skip: func(i int) bool { return t.replayedAs(path, f.bytes, i) },
	}
	bad, unknown := 0, 0
	for i := range f.records {
		r := &f.records[i]
		switch {
		case m.unknown(r):
			unknown++
			continue
		case m.job.bad(r, path):
			bad++
			continue
		case !want.has(r.date(m.job.Zone), r.Kind) || r.date(m.job.Zone) < t.dropped || out.skip(i):
			continue
		}
		now := m.job.event(r)
		names := fields[now.kind][now.date]
		if names == nil {
			out.other[i] = now
			continue
		}
		maps.DeleteFunc(now.values, func(f, _ string) bool { return !slices.Contains(names, f) })
		out.now[i] = now
	}
	switch {
	case m.job.tooBad(len(f.records), bad):
		return nil, 65
	case len(f.records) > 0 && bad+unknown == len(f.records):
		return nil, 64
	}
	return out, 0
}

// valuedOf returns a function that reports whether a record of t has a value of a field of a behaviour in one of the files.
func valuedOf(t *table, files []*rereadFile) func(kind, field string) bool {
	type fieldOf struct{ kind, field string }
	valued := map[fieldOf]bool{}
	for _, f := range files {
		for j := range t.events {
			if now, ok := f.of(&t.events[j]); ok {
				for field := range now.values {
					valued[fieldOf{now.kind, field}] = true
				}
			}
		}
	}
	return func(kind, field string) bool { return valued[fieldOf{kind, field}] }
}

// of returns the record of f that is an event of the table.
func (f *rereadFile) of(e *event) (event, bool) {
	now, ok := f.now[e.index]
	return now, ok && f.is(e, now)
}

// is reports whether a record of f is an event of the table.
func (f *rereadFile) is(e *event, now event) bool {
	return e.from == f.path && e.user == now.user && e.date == now.date && e.kind == now.kind && e.micros == now.micros
}

// knows reports whether the job reads records of f as t has them, on days of which f is not read. The product may
// read these days, too, and see that the job reads the file right.
func (f *rereadFile) knows(t *table) bool {
	return slices.ContainsFunc(t.events, func(e event) bool {
		now, ok := f.other[e.index]
		return ok && f.is(&e, now)
	})
}

// join adds the values of f to its events in t. It reports whether f gives values, or has none to give. valued reports whether some
// file has a value of a field.
func (f *rereadFile) join(t *table, valued func(kind, field string) bool) (gives bool, status int) {
	met, missed, gained := 0, 0, 0
	for j := range t.events {
		e := &t.events[j]
		if e.from != f.path {
			continue
		}
		now, ok := f.of(e)
		if !ok {
			if f.wanted.has(e.date, e.kind) && !f.skip(e.index) && f.lacks(e) {
				missed++
			}
			continue
		}
		met++
		before := len(e.values)
		e.values = maps.Clone(e.values)
		maps.Copy(e.values, now.values)
		if len(e.values) > before {
			gained++
		}
	}
	if met == 0 && missed > 0 {
		return false, 64
	}
	f.reread, f.missed = map[string][]string{}, missed > 0
	for kind, names := range f.fields.fields() {
		if names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return met > 0 && !valued(kind, n) }); len(names) > 0 {
			f.reread[kind] = names
		}
	}
	return len(f.reread) > 0 && (gained > 0 || missed == 0), 0
}

// lacks reports whether an event has no value of a field for which f is read.
func (f *rereadFile) lacks(e *event) bool {
	return slices.ContainsFunc(f.fields[e.kind][e.date], func(name string) bool { _, ok := e.values[name]; return !ok })
}

// replayedAs reports whether a replay added a record of a file, or of a copy of it.
func (t *table) replayedAs(path, bytes string, index int) bool {
	return slices.ContainsFunc(t.entries, func(e entry) bool {
		return e.bytes == bytes && (kindOf(e.path) == kindOf(path) || kindOf(e.path) == "" || kindOf(path) == "") && e.lines[index]
	})
}

// reread generates a reread. If it has nothing to do, it mostly generates a later job.
func (d *drawer) reread() Step {
	s := Step{Do: "reread", Table: d.table()}
	d.span(&s)
	if d.r.IntN(3) == 0 {
		s.Types = some(d.r, d.m.job.names(), 1+d.r.IntN(2))
	}
	if d.m.reread(&s).next == nil && d.r.IntN(4) > 0 {
		return d.grow()
	}
	if d.m.Store != inHBase {
		d.interrupt(&s, loadSteps)
	}
	return s
}
