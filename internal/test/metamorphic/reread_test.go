package metamorphic_test

import (
	"maps"
	"slices"

	"usertrail/internal/run/breakpoint"
)

// widening are the layouts whose records can get values of more fields.
var widening = []string{"reversed", "game", "fixed"}

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
	t, layout := m.table(s.Table), m.layoutFor(s)
	switch {
	case t == nil:
		return outcome{statuses: []int{66}}
	case m.unfit(t, layout) != nil, !slices.Contains(widening, layout):
		return outcome{statuses: []int{64}}
	}
	next := t.clone()
	next.events = slices.Clone(t.events)
	next.loads++
	var sum counts
	var failed []int
	done := false
	for _, path := range m.found(s) {
		fields := m.unread(t, s, path)
		if len(fields) == 0 {
			continue
		}
		switch status := m.rereadFile(next, s, path, fields, &sum); status {
		case 0:
			done = true
		default:
			failed = append(failed, status)
		}
	}
	switch {
	case !done && len(failed) == 0:
		return outcome{statuses: []int{99}}
	case !done:
		return outcome{statuses: failed}
	}
	next.merge(&m.job)
	if next.undo != nil {
		next.undo = &undo{next.undo.dropped, next.undo.events, true}
	}
	return outcome{statuses: append([]int{0}, failed...)[min(len(failed), 1):], counts: &sum, next: next}
}

// unread returns the fields of the job that loads of a file did not read and no later reread gave, by behaviour.
func (m *model) unread(t *table, s *Step, path string) map[string][]string {
	out := map[string][]string{}
	if d := dateOf(path); d != "" && d < t.dropped {
		return out
	}
	for i, e := range t.entries {
		if e.path != path || e.loaded == 0 {
			continue
		}
		for _, name := range m.types(s) {
			had := e.job.kind(name)
			if had == nil || !e.asked(name) {
				continue
			}
			for _, f := range m.job.kind(name).Fields {
				if !had.takes(f) && !slices.Contains(out[name], f) && m.lacking(t, s, &e, t.entries[i+1:], name, f) {
					out[name] = append(out[name], f)
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

// lacking reports whether the load of e has records of a behaviour on a day that e may have, and no later reread of the
// file gave their field.
func (m *model) lacking(t *table, s *Step, e *entry, later []entry, kind, field string) bool {
	return slices.ContainsFunc(t.events, func(v event) bool {
		if v.load != e.load || v.kind != kind {
			return false
		}
		d := dateOf(e.path)
		if d == "" || e.lines != nil {
			if v.date < s.From || v.date > s.Until {
				return false
			}
		} else if apart(v.date, d) > 1 {
			return false
		}
		return !slices.ContainsFunc(later, func(r entry) bool {
			return r.path == e.path && slices.Contains(r.reread[kind], field) && (r.part == nil || r.part.from <= v.date && v.date <= r.part.until && slices.Contains(r.part.kinds, kind) || r.part.from == "" && slices.Contains(r.part.kinds, kind))
		})
	})
}

// rereadFile adds the values of a file to its events, and returns the status of the file.
func (m *model) rereadFile(t *table, s *Step, path string, fields map[string][]string, sum *counts) int {
	f := m.files[path]
	for _, e := range t.entries {
		if e.path == path && e.lines == nil && e.read > 0 && e.bytes != f.bytes {
			return 1
		}
	}
	want := m.partOf(s, path)
	valued, found := 0, 0
	for i := range f.records {
		r := &f.records[i]
		if m.unknown(r) || m.job.bad(r, path) || !want.has(r.date(m.job.Zone), r.Kind) || r.date(m.job.Zone) < t.dropped || t.replayedAs(path, f.bytes, i) {
			continue
		}
		now := m.job.event(r)
		maps.DeleteFunc(now.values, func(f, _ string) bool { return !slices.Contains(fields[now.kind], f) })
		if len(now.values) == 0 {
			continue
		}
		valued++
		for j := range t.events {
			e := &t.events[j]
			if e.from != path || e.index != i || e.user != now.user || e.date != now.date || e.kind != now.kind || e.micros != now.micros {
				continue
			}
			found++
			e.values = maps.Clone(e.values)
			for f, v := range now.values {
				e.values[f] = v
			}
		}
	}
	if valued > 0 && found == 0 {
		return 64
	}
	for _, names := range fields {
		slices.Sort(names)
	}
	sum.read += len(f.records)
	sum.left += len(f.records)
	t.entries = append(t.entries, entry{load: t.loads, path: path, bytes: f.bytes, part: t.undropped(want, path), lines: map[int]bool{}, reread: fields, job: m.job})
	return 0
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
