package metamorphic_test

import (
	"maps"
	"reflect"
	"slices"

	"usertrail/internal/run/breakpoint"
)

// importTable imports the second table, which is in files, into the first, which is in HBase.
func (x *run) importTable(s *Step) error {
	if !x.inHBase(firstTable) || x.half != nil {
		return nil // the sequence was shrunk
	}
	first := *s
	first.Table = firstTable
	if err := x.jobFile(&first); err != nil {
		return err
	}
	o, before := x.model.imported(), x.ids[firstTable]
	if o.next != nil {
		x.expectIDs()
	}
	got, err := x.command(s, "bulkload", "", slices.Concat([]string{"import", "--from", secondTable}, quiet)...)
	if err != nil {
		return err
	}
	if got.Status == killed { // a load by another job may add the records from other files
		x.ids[firstTable] = before
	}
	return x.apply(&first, o, got, breakpoint.Loaded)
}

// expectIDs records that events keep their column IDs in an import.
func (x *run) expectIDs() {
	all := maps.Clone(x.ids[firstTable])
	if all == nil {
		all = map[string]ids{}
	}
	for key, ids := range x.ids[secondTable] {
		all[key] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(all[key], ids))))
	}
	x.ids[firstTable] = all
}

// imported returns the outcome of an import of the second table into the first.
func (m *model) imported() outcome {
	from, next := m.table(secondTable), m.ground(firstTable)
	if from == nil {
		return outcome{statuses: []int{66}}
	}
	if next.there && next.zone != from.zone {
		return outcome{statuses: []int{64}}
	}
	next.merge(&Job{Kinds: from.kinds})
	if !next.begins(from) {
		return outcome{statuses: []int{64}}
	}
	todo, fits := next.lacks(from)
	switch {
	case !fits, from.splits(todo):
		return outcome{statuses: []int{64}}
	case len(todo) == 0:
		return outcome{statuses: []int{99}}
	}
	next.there, next.layout, next.zone = true, from.layout, from.zone
	next.loads++
	for _, e := range from.entries {
		if todo[e.load] {
			e.load = next.loads
			next.entries = append(next.entries, e)
		}
	}
	for _, e := range from.events {
		if todo[e.load] {
			next.add(e)
		}
	}
	return outcome{statuses: []int{0}, next: next}
}

// splits reports whether a load of todo is a reread of records of a load that is not in todo.
func (t *table) splits(todo map[int]bool) bool {
	return slices.ContainsFunc(t.entries, func(e entry) bool {
		return e.reread != nil && todo[e.load] && slices.ContainsFunc(t.entries, func(f entry) bool {
			return f.path == e.path && f.loaded > 0 && f.load < e.load && !todo[f.load]
		})
	})
}

// begins reports whether the fields of each behaviour of t begin with the fields of o, in order.
func (t *table) begins(o *table) bool {
	all := Job{Kinds: t.kinds}
	return !slices.ContainsFunc(o.kinds, func(k Kind) bool {
		fields := all.kind(k.Name).Fields
		return !slices.Equal(fields[:len(k.Fields)], k.Fields)
	})
}

// lacks returns the numbers of the loads of o that are not in t. fits is false if t has a
// part of such a load.
func (t *table) lacks(o *table) (todo map[int]bool, fits bool) {
	others := slices.DeleteFunc(slices.Clone(t.entries), func(e entry) bool {
		return slices.ContainsFunc(o.entries, func(f entry) bool { return e.equal(f) && e.loaded == f.loaded })
	})
	todo = map[int]bool{}
	have := map[int]bool{}
	for _, e := range o.entries {
		switch {
		case slices.ContainsFunc(t.entries, e.equal):
			have[e.load] = true
		case slices.ContainsFunc(others, e.clashes):
			return nil, false
		default:
			todo[e.load] = true
		}
	}
	for load := range todo {
		if have[load] {
			return nil, false
		}
	}
	return todo, true
}

// equal reports whether two entries have the same records of one file.
func (e *entry) equal(o entry) bool {
	return e.path == o.path && e.bytes == o.bytes && e.part.same(o.part) && reflect.DeepEqual(e.lines, o.lines) && reflect.DeepEqual(e.reread, o.reread)
}

// same reports whether p and o have the same records, under the same behaviours.
func (p *part) same(o *part) bool {
	return p.covers(o) && o.covers(p) &&
		(p == nil || !slices.ContainsFunc(p.texts(), func(text string) bool { return p.named(text) != o.named(text) }))
}

// clashes reports whether two different entries may have some of the same records, or are
// from two versions of a file.
func (e *entry) clashes(o entry) bool {
	switch {
	case e.bytes != o.bytes:
		return e.path == o.path
	case e.copy || o.copy || kindOf(e.path) != kindOf(o.path):
		return false
	}
	return e.lines == nil && o.lines == nil && e.part.overlaps(o.part)
}

// overlaps reports whether a record may belong to both parts.
func (p *part) overlaps(o *part) bool {
	if p == nil || o == nil {
		return true
	}
	days := p.from == "" || o.from == "" || p.from <= o.until && o.from <= p.until
	return days && slices.ContainsFunc(p.texts(), func(text string) bool { return slices.Contains(o.texts(), text) })
}
